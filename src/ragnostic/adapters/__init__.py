"""One file per third party; each implements a port."""
