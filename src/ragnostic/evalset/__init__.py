"""Evaluation sets, qrels and runs: reading them, and what is wrong with them."""
