"""The report of a day."""
