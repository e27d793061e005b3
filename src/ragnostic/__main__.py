"""``python -m ragnostic``."""

from ragnostic.cli import main

main()
