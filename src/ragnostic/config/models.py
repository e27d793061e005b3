"""The settings of an evaluation as frozen models: one class a table of the TOML file.

Every field carries its description; the reference page of the settings is made from them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from ragnostic.records import QueryField

LARGEST = 100_000
"""No setting that counts something needs more; a slip of the hand has more."""

DEFAULT_METRICS = ("Success@1", "Success@5", "RR@5", "nDCG@5", "R@20")


class Table(BaseModel):
    """Base of all tables: frozen, unknown keys refused, types as TOML has them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _as_tuple(value: Any) -> Any:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise ValueError("must be a string or a list of strings")


def _list_as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _split_names(value: Any) -> Any:
    """A string is split at the commas that stand outside parentheses."""
    if not isinstance(value, str):
        return _as_tuple(value)
    names, depth = [""], 0
    for mark in value:
        depth += (mark == "(") - (mark == ")")
        if mark == "," and depth == 0:
            names.append("")
        else:
            names[-1] += mark
    return tuple(name.strip() for name in names if name.strip())


def _bool_or_text(value: Any) -> Any:
    if isinstance(value, bool | str) and value != "":
        return value
    raise ValueError("must be true, false or a folder")


def _asks_with_context(value: str) -> str:
    if "{query}" in value and "{context}" in value:
        return value
    raise ValueError("must hold {query} and {context}")


def _asks_without_context(value: str) -> str:
    if "{query}" in value and "{context}" not in value:
        return value
    raise ValueError("must hold {query}, and not {context}")


Name = Annotated[str, Field(min_length=1)]
Texts = Annotated[tuple[Name, ...], BeforeValidator(_as_tuple), Field(min_length=1)]
MetricNames = Annotated[tuple[str, ...], BeforeValidator(_split_names), Field(min_length=1)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class SetSettings(Table):
    """One of several evaluation sets of a run."""

    name: Name = Field(description="Its name in tables, reports and gate rules.")
    path: Texts = Field(description="As dataset.path: a file, a list of files, or a BEIR folder.")
    split: Name | None = Field(
        default=None, description="Which qrels of a BEIR folder are read; dataset.split if absent."
    )


class DatasetSettings(Table):
    """What is asked, and of which texts. Either ``path`` or ``set`` says what is asked."""

    path: Texts = Field(
        default=(),
        description="The evaluation set: a JSONL or CSV file, a list of such files, or a BEIR "
        "folder. Relative to the configuration file.",
    )
    set: Annotated[tuple[SetSettings, ...], BeforeValidator(_list_as_tuple)] = Field(
        default=(),
        description="Several evaluation sets side by side, each a table [[dataset.set]] with "
        "name, path and, if need be, split. The first is the frozen one that the others are "
        "held against.",
    )
    corpus: Name | None = Field(
        default=None,
        description="The corpus: a folder of .md and .txt, a JSONL or a Parquet file. Not needed "
        "for a BEIR folder, nor for a retriever that has its own index.",
    )
    split: Name = Field(default="test", description="Which qrels of a BEIR folder are read.")
    name: str | None = Field(
        default=None, description="Name of the evaluation set in reports; its file name otherwise."
    )
    mapping: dict[QueryField, Name] | None = Field(
        default=None,
        description="Our field name → the name it has in the file, for files with other columns.",
    )
    graded: Literal["first-is-exact"] | None = Field(
        default=None,
        description="With first-is-exact, the first of gold_ids has grade 2, the others 1.",
    )

    @property
    def paths(self) -> tuple[str, ...]:
        """All files and folders of what is asked, as written, in order."""
        return self.path + tuple(path for one in self.set for path in one.path)


class ChunkSettings(Table):
    """How documents are cut."""

    by: str = Field(
        default="none", description="Chunker: none, fixed, recursive, markdown, sentence, …"
    )
    max_tokens: int = Field(
        default=400, ge=1, le=LARGEST, description="Largest chunk, counted without a model."
    )
    overlap: int = Field(
        default=40,
        ge=0,
        le=LARGEST,
        description="Tokens that a chunk repeats of the one before it.",
    )


class EmbedSettings(Table):
    """The model that turns texts into vectors; used by dense, hybrid and embedding only."""

    use: str = Field(default="e5-small", description="Embedder: e5-small, http, …")
    query_prefix: str | None = Field(
        default=None,
        description='What is put before a query; "" embeds queries as passages. The embedder '
        "has its own where this is left out.",
    )
    cache: Annotated[bool | str, BeforeValidator(_bool_or_text)] = Field(
        default=True,
        description="Keep passage vectors for the next run: true, false, or the folder for them.",
    )


class RetrieveSettings(Table):
    """The first stage."""

    use: str = Field(default="bm25", description="Retriever: bm25, dense, hybrid, http, python, …")
    top_k: int = Field(default=20, ge=1, le=LARGEST, description="How many chunks are asked for.")


class RerankSettings(Table):
    """The second stage."""

    use: str = Field(
        default="embedding",
        description="Reranker: embedding, http, python, …; none switches the stage off. After a "
        "retriever with its own index (http, python) there is none unless this key names one.",
    )
    top_n: int = Field(
        default=5,
        ge=1,
        le=LARGEST,
        description="How many chunks the generator gets. A mark only: all candidates stay in the "
        "ranking.",
    )
    max_tokens: int = Field(
        default=512,
        ge=16,
        le=LARGEST,
        description="Longest text that the reranker reads in one piece.",
    )
    long: Literal["max_over_segments", "truncate"] = Field(
        default="max_over_segments",
        description="Longer candidates: scored by their best segment, or cut.",
    )


class ScoreSettings(Table):
    """What is measured."""

    metrics: MetricNames = Field(
        default=DEFAULT_METRICS, description="Metric names, for example nDCG@10 or P(rel=2)@5."
    )
    overlap: float = Field(
        default=0.5,
        gt=0.0,
        le=1.0,
        description="Share of a gold span that a chunk must cover to match it.",
    )
    missing: Literal["zero", "skip"] = Field(
        default="zero",
        description="A judged query without a ranking scores 0, or is left out as trec_eval does.",
    )


class PromptSettings(Table):
    """What a generator is told in one language; the built-in text where a key is left out."""

    system: str | None = Field(default=None, description="The system message of both questions.")
    with_context: Annotated[str, AfterValidator(_asks_with_context)] | None = Field(
        default=None, description="The question with the retrieved chunks: {query}, {context}."
    )
    without_context: Annotated[str, AfterValidator(_asks_without_context)] | None = Field(
        default=None, description="The question alone: {query}."
    )


class PromptsSettings(Table):
    """Prompts by the language of the query."""

    zh: PromptSettings = Field(default=PromptSettings(), description="Of Chinese queries.")
    en: PromptSettings = Field(default=PromptSettings(), description="Of all other queries.")


class GateSettings(Table):
    """What a run must keep to. A run does not record it."""

    rules: Annotated[tuple[Name, ...], BeforeValidator(_as_tuple)] = Field(
        default=(),
        description='Gate rules, for example "nDCG@10 >= -0.02" (the change against the '
        'baseline) or "abs:R@20 >= 0.85" (the value itself).',
    )
    baseline: Name | None = Field(
        default=None,
        description="The run that changes are measured against: a run folder (relative to the "
        "configuration file), or the id or tag of a run in run.out.",
    )
    strict: bool = Field(
        default=False, description="Exit with 5 where the verdict is INCONCLUSIVE."
    )


class GenerateSettings(Table):
    """The generator that ``ragnostic answers generate`` asks; an evaluation does not use it, and
    a run does not record it.
    """

    use: str = Field(default="none", description="Generator: chat, python, …; none: no answers.")
    prompts: PromptsSettings = Field(
        default=PromptsSettings(),
        description="By language of the query: system, with_context and without_context; each "
        "has a built-in text.",
    )


class ReportSettings(Table):
    """The page."""

    language: Literal["zh", "en"] = Field(default="zh", description="Language of the report.")
    worst: int = Field(
        default=20,
        ge=0,
        le=LARGEST,
        description="How many of the worst queries are shown; at most 200 on the page.",
    )


class IndexSettings(Table):
    """The vector index that ``ragnostic index check`` looks into; an evaluation does not use it."""

    use: Name = Field(default="none", description="The library whose index it is; none has none.")
    chunks: Name | None = Field(
        default=None,
        description="What should be in the index, as a JSONL or Parquet file with a row a chunk: "
        "chunk_id, text and perhaps doc_id. Without it: the corpus, cut by [chunk].",
    )
    match: Literal["id", "document"] = Field(
        default="id",
        description="Rows are held against what should be there by chunk id, or, where the "
        "index has ids of its own, by document id.",
    )
    sample: int = Field(
        default=500, ge=0, le=LARGEST, description="Chunks that are embedded again; 0: all."
    )
    stale_below: float | None = Field(
        default=None,
        ge=-1.0,
        le=1.0,
        description="Cosine with its own text below which a vector is stale. Without it: what "
        "stands out from the others.",
    )
    queries: int = Field(
        default=200, ge=1, le=LARGEST, description="Queries that recall and time are measured by."
    )
    top_k: int = Field(default=10, ge=1, le=LARGEST, description="Results a query.")
    efforts: Annotated[
        tuple[Annotated[int, Field(ge=1, le=LARGEST)], ...], BeforeValidator(_list_as_tuple)
    ] = Field(
        default=(), description="Efforts (ef, nprobe) that are measured; those of the adapter else."
    )
    recall: Share = Field(
        default=0.95,
        description="Share of the exact neighbours that the index must find as it is set.",
    )
    scores: Literal["similarity", "distance"] | None = Field(
        default=None, description="What your program takes the scores for, where it reads them."
    )


class RunSettings(Table):
    """How the job runs and what it keeps."""

    name: str | None = Field(default=None, description="A name for the run, shown in lists.")
    retries: int = Field(
        default=3, ge=0, le=100, description="Further attempts after a time-out, a 429 or a 5xx."
    )
    timeout_s: float | None = Field(
        default=None,
        gt=0.0,
        le=LARGEST,
        description="Seconds that one call may take; each implementation has its own default.",
    )
    max_failed: Share = Field(
        default=0.05, description="Share of failed queries above which the run is given up."
    )
    out: Name | None = Field(
        default=None,
        description="Parent of the run folders, relative to the configuration file. Without it: "
        "runs in the current folder.",
    )
    store_text: bool = Field(
        default=True, description="Keep the text of retrieved chunks in the run folder."
    )
    bad_rows: Share = Field(
        default=0.01, description="Share of unreadable rows above which the run is given up."
    )


class Settings(Table):
    """The whole configuration of ``ragnostic eval``."""

    dataset: DatasetSettings = Field(description="The evaluation set and the corpus.")
    chunk: ChunkSettings = Field(default=ChunkSettings(), description="Cutting documents.")
    embed: EmbedSettings = Field(default=EmbedSettings(), description="The embedder.")
    retrieve: RetrieveSettings = Field(default=RetrieveSettings(), description="The retriever.")
    rerank: RerankSettings = Field(default=RerankSettings(), description="The reranker.")
    score: ScoreSettings = Field(default=ScoreSettings(), description="The metrics.")
    report: ReportSettings = Field(default=ReportSettings(), description="The report.")
    gate: GateSettings = Field(default=GateSettings(), description="The gate.")
    generate: GenerateSettings = Field(
        default=GenerateSettings(), description="The generator of the answer link."
    )
    index: IndexSettings = Field(default=IndexSettings(), description="The index to be checked.")
    run: RunSettings = Field(default=RunSettings(), description="The job itself.")


TABLES: dict[str, type[Table]] = {
    "dataset": DatasetSettings,
    "chunk": ChunkSettings,
    "embed": EmbedSettings,
    "retrieve": RetrieveSettings,
    "rerank": RerankSettings,
    "score": ScoreSettings,
    "report": ReportSettings,
    "gate": GateSettings,
    "generate": GenerateSettings,
    "index": IndexSettings,
    "run": RunSettings,
}
