"""Probes of a live system: the same queries asked again and again."""
