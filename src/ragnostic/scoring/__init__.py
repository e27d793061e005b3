"""Scoring: record batches → inputs of the metrics → values a query. Pure, no I/O."""

from ragnostic.scoring.batch import score_batch
from ragnostic.scoring.plan import ChunkTokens, Plan
from ragnostic.scoring.scored import Scored, score

__all__ = ["ChunkTokens", "Plan", "Scored", "score", "score_batch"]
