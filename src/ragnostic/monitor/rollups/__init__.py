"""Hourly and daily sums of scores: what every question about time is answered from."""
