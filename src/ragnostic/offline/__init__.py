"""The offline job: an evaluation set in, a run folder out."""
