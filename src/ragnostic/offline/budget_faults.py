"""Rankings of which not even the first chunk fits into a token budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from ragnostic.errors import Fault, counted
from ragnostic.metrics import Metric
from ragnostic.offline.stages import Stages
from ragnostic.records import EvalQuery, Hits


def budget_faults(
    metrics: Sequence[Metric], stages: Stages, chunks: pa.Table, queries: Sequence[EvalQuery]
) -> Iterator[Fault]:
    """``over_budget`` for each stage and budget: such a query scores 0 whatever was found.

    ``chunks`` is the chunks table of the run (``id`` and ``tokens``).
    """
    budgets = sorted({budget for metric in metrics if (budget := _budget(metric))})
    if not budgets:
        return
    tokens = dict(zip(chunks["id"].to_pylist(), chunks["tokens"].to_pylist(), strict=True))
    for stage, rankings in stages.items():
        firsts = [_first_tokens(hits, tokens) for hits in rankings]
        for budget in budgets:
            over = [
                query.query_id
                for query, first in zip(queries, firsts, strict=True)
                if first > budget
            ]
            if over:
                message = (
                    f"stage {stage}: for {len(over)} of "
                    f"{counted(len(queries), 'query', 'queries')} the first chunk alone has more "
                    f"than {budget} tokens, so nothing fits into the budget and the score is 0"
                )
                yield Fault("over_budget", message, tuple(over), count=len(over))


def _budget(metric: Metric) -> int:
    return int(metric.param("budget")) if "budget" in metric.definition.params else 0


def _first_tokens(hits: Hits | None, tokens: Mapping[str, int | None]) -> int:
    first = hits.ids[0] if hits is not None and hits.ids else None
    return tokens.get(first or "") or 0
