"""Channels: one file each, from notices to people and other programs."""
