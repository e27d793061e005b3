"""Judges: records to judgments; gold labels are one of them."""
