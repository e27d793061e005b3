"""A configuration, or all its faults at once."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

import pytest
from pydantic import BaseModel, ConfigDict, model_validator

from ragnostic import config, plugins
from ragnostic.config.models import TABLES
from ragnostic.errors import ConfigError, UsageError
from ragnostic.plugins import nearest


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Bm25:
    needs_corpus: ClassVar[bool] = True

    class Options(_Strict):
        k1: float = 1.2
        language: Literal["zh", "en"] = "zh"


class _Http:
    class Nested(_Strict):
        ids: str = ""

    class Options(_Strict):
        url: str
        headers: dict[str, str] = {}
        timeout_s: float = 5.0
        nested: _Http.Nested | None = None


class _Dense(_Bm25):
    needs_embedder: ClassVar[bool] = True

    class Options(_Strict):
        pass


class _Reranker:
    needs_embedder: ClassVar[bool] = True

    class Options(_Strict):
        max_tokens: int = 7
        long: str = ""


class _Whole:
    class Options(_Strict):
        pass


class _Chunker:
    class Options(_Strict):
        max_tokens: int = 400
        overlap: int = 40

        @model_validator(mode="after")
        def _fits(self):
            if self.overlap >= self.max_tokens:
                raise ValueError("overlap must be smaller")
            return self


class _Embedder:
    class Options(_Strict):
        query_prefix: str = "query: "
        cache: bool | str = True


_PLUGINS = {
    "retrievers": {"bm25": _Bm25, "dense": _Dense, "http": _Http},
    "rerankers": {"embedding": _Reranker, "http": _Http},
    "chunkers": {"none": _Whole, "markdown": _Chunker},
    "embedders": {"e5-small": _Embedder},
}


def _find(kind: str, name: str):
    known = _PLUGINS[kind]
    if name not in known:
        raise UsageError(f"unknown {kind} {name!r}", hint=nearest(name, list(known)))
    return known[name]


def _check(name: str) -> None:
    if "@" not in name:
        raise UsageError(f"{name!r} is no metric", hint=f"did you mean {name}@10?")


def _load(folder: Path, text: str, *sets: str) -> config.Configuration:
    (folder / "eval.jsonl").touch()
    (folder / "docs").mkdir(exist_ok=True)
    file = folder / "eval.toml"
    file.write_text(text, encoding="utf-8")
    return config.load(file, find_plugin=_find, check_metric=_check, sets=sets)


def _faults(folder: Path, text: str, *sets: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        _load(folder, text, *sets)
    return [str(fault) for fault in caught.value.faults]


_SMALL = '[dataset]\npath = "eval.jsonl"\ncorpus = "docs"\n'


def test_the_smallest_file_gives_the_documented_defaults(tmp_path):
    """BM25 then the embedding reranker, top 20 and 5, a Chinese report."""
    found = _load(tmp_path, _SMALL)
    settings = found.settings
    assert settings.dataset.path == ("eval.jsonl",)
    assert (settings.retrieve.use, settings.retrieve.top_k) == ("bm25", 20)
    assert (settings.rerank.use, settings.rerank.top_n) == ("embedding", 5)
    assert settings.chunk.by == "none"
    assert settings.score.metrics == ("Success@1", "Success@5", "RR@5", "nDCG@5", "R@20")
    assert settings.report.language == "zh"
    assert (settings.run.retries, settings.run.max_failed, settings.run.bad_rows) == (3, 0.05, 0.01)
    assert found.path("docs") == tmp_path / "docs"
    assert set(found.choices) == {"chunk", "retrieve", "rerank", "embed"}


def test_all_faults_are_told_at_once_each_with_its_line(tmp_path):
    """Unknown keys, wrong types, rules between keys, metric names, files, plugin options."""
    text = """[dataset]
path = "evl.jsonl"
[chunk]
by = "markdwn"
overlap = 500
[retrieve]
top_k = "20"
[retrieve.bm52]
k1 = 1.2
[retrieve.bm25]
k1 = "much"
k11 = 1
[rerank]
top_n = 30
long = "cut"
[score]
metric = ["nDCG@10"]
metrics = [
  "nDCG@10",
  "nDCG",
]
[reporting]
language = "en"
"""
    expected = """\
eval.toml:1: dataset.corpus is missing: retriever bm25 searches the corpus
    hint: name the folder or file of the texts, or use retriever http or python
eval.toml:2: dataset.path: no such file or folder: evl.jsonl
    hint: did you mean eval.jsonl?
eval.toml:4: chunk.by: unknown chunkers 'markdwn'
    hint: did you mean markdown?
eval.toml:5: chunk.overlap (500) is not smaller than chunk.max_tokens (400)
    hint: a tenth of chunk.max_tokens is usual
eval.toml:7: retrieve.top_k must be a whole number, not "20"
eval.toml:8: retrieve.bm52: unknown retrievers 'bm52'
    hint: did you mean bm25?
eval.toml:11: retrieve.bm25.k1 must be a number, not "much"
eval.toml:12: unknown key retrieve.bm25.k11
    hint: did you mean retrieve.bm25.k1?
eval.toml:14: rerank.top_n (30) is larger than retrieve.top_k (20)
    hint: raise retrieve.top_k, or leave rerank.top_n out
eval.toml:15: rerank.long must be 'max_over_segments' or 'truncate', not "cut"
eval.toml:17: unknown key score.metric
    hint: did you mean score.metrics?
eval.toml:20: score.metrics: 'nDCG' is no metric
    hint: did you mean nDCG@10?
eval.toml:22: unknown key reporting
    hint: did you mean report?"""
    assert "\n".join(_faults(tmp_path, text)) == expected


def test_the_summary_line_counts_the_faults(tmp_path):
    """The last line of the message says that nothing was run."""
    with pytest.raises(ConfigError, match=r"1 fault; nothing was run\.$"):
        _load(tmp_path, _SMALL + "[x]\n")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "eval.toml: dataset.path is missing"),
        ("dataset = 1\n", "eval.toml:1: dataset must be a table: [dataset]"),
        (
            _SMALL + "[run]\nmax_failed = 2\n",
            "eval.toml:5: run.max_failed must be at most 1, not 2",
        ),
        (_SMALL + "[score]\noverlap = 0\n", "eval.toml:5: score.overlap must be greater than 0"),
        (_SMALL + "[run]\nretries = -1\n", "eval.toml:5: run.retries must be at least 0, not -1"),
        (_SMALL + "[score]\nmetrics = []\n", "eval.toml:5: score.metrics must not be empty"),
        (_SMALL + "[score]\nmetrics = [1]\n", "eval.toml:5: score.metrics must be a string or a"),
        (_SMALL + "[embed]\ncache = 3\n", "eval.toml:5: embed.cache must be true, false or a"),
        (_SMALL + "[embed]\nuse = 3\n", "eval.toml:5: embed.use must be a string, not 3"),
        (_SMALL + "[retrieve]\nzzzz = 3\n", "eval.toml:5: unknown key retrieve.zzzz"),
        (
            _SMALL + "[chunk]\nby = 'none'\n[chunk.none]\nx = 1\n",
            "eval.toml:7: unknown key chunk.n",
        ),
        (_SMALL + '[retrieve]\nuse = "http"\n', "eval.toml:4: retrieve.http.url is missing"),
        (
            _SMALL + "[retrieve.http]\nurl = 'u'\nnested.idz = ''\n",
            "eval.toml:6: unknown key retrieve.http.nested.idz",
        ),
        (
            _SMALL + "[retrieve.bm25]\nlanguage = 'fr'\n",
            "eval.toml:5: retrieve.bm25.language must be 'zh' or 'en', not \"fr\"",
        ),
        (
            _SMALL.replace('"docs"', '"dogs/x"'),
            "eval.toml:3: dataset.corpus: no such file or folder: dogs/x\n    hint: paths are",
        ),
        (
            '[dataset]\npath = ["eval.jsonl",\n"b.jsonl"]\ncorpus = "docs"\n',
            "eval.toml:3: dataset.path: no such file or folder: b.jsonl",
        ),
        (
            _SMALL + "[chunk]\nby = 'markdown'\nmax_tokens = 50\noverlap = 50\n",
            "eval.toml:7: chunk.overlap (50) is not smaller than chunk.max_tokens (50)",
        ),
        (
            _SMALL + "[embed.e5]\nx = 1\n",
            "eval.toml:4: embed.e5: unknown embedders 'e5'",
        ),
    ],
)
def test_one_fault_is_one_fault(tmp_path, text, fault):
    """Each kind of fault, alone, is told once and at its place."""
    found = _faults(tmp_path, text)
    assert len(found) == 1
    assert found[0].startswith(fault)


def test_a_fault_in_an_inherited_option_stands_where_it_was_written(tmp_path):
    """chunk.max_tokens is handed to the chunker; its fault is the table's, not the option's."""
    text = _SMALL + "[chunk]\nby = 'markdown'\n[chunk.markdown]\nmax_tokens = 9\noverlap = 9\n"
    assert _faults(tmp_path, text) == ["eval.toml:6: chunk.markdown: overlap must be smaller"]
    faults = _faults(tmp_path, _SMALL + "[rerank]\nuse = 'http'\n[run]\ntimeout_s = 'x'\n")
    assert [fault.split(":")[1] for fault in faults] == ["4", "7"]


def test_a_fault_of_an_override_names_the_override(tmp_path):
    """The file has no line for it."""
    assert _faults(tmp_path, _SMALL, "retrieve.top_k=many") == [
        '--set retrieve.top_k: retrieve.top_k must be a whole number, not "many"'
    ]


def test_defaults_never_contradict_what_was_given(tmp_path):
    """top_k below the default top_n, and chunks smaller than the default overlap, are fine."""
    text = _SMALL + "[retrieve]\ntop_k = 3\n[chunk]\nby = 'markdown'\nmax_tokens = 30\n"
    settings = _load(tmp_path, text).settings
    assert settings.rerank.top_n == 3
    assert settings.chunk.overlap == 3


def test_options_inherit_from_their_table_and_from_the_run(tmp_path):
    """An option table wins over what it inherits."""
    text = (
        _SMALL + "[run]\ntimeout_s = 9\n[retrieve]\nuse = 'http'\n[retrieve.http]\nurl = 'u'\n"
        "[rerank]\nuse = 'embedding'\nmax_tokens = 99\n[rerank.embedding]\nlong = 'x'\n"
    )
    choices = _load(tmp_path, text).choices
    assert choices["retrieve"].options.timeout_s == 9
    assert choices["rerank"].options == _Reranker.Options(max_tokens=99, long="x")
    assert choices["embed"].options.query_prefix == "query: "


def test_a_service_is_evaluated_as_it_is_unless_a_reranker_is_named(tmp_path):
    """Behind a retriever with its own index there is no default reranker."""
    service = _SMALL + "[retrieve]\nuse = 'http'\n[retrieve.http]\nurl = 'u'\n"
    assert _load(tmp_path, service).as_json()["rerank"] == {"use": "none"}
    assert "rerank" not in _load(tmp_path, service + "[rerank]\ntop_n = 3\n").choices
    assert "rerank" in _load(tmp_path, service, "rerank.use=embedding").choices
    assert "rerank" in _load(tmp_path, _SMALL).choices


def test_the_embedder_is_chosen_only_where_something_embeds(tmp_path):
    """Without it, embed is none in the settings of the run."""
    found = _load(tmp_path, _SMALL + "[rerank]\nuse = 'none'\n")
    assert "embed" not in found.choices
    assert found.as_json()["embed"] == {"use": "none"}
    assert found.as_json()["rerank"] == {"use": "none"}
    assert "embed" in _load(tmp_path, _SMALL, "rerank.use=none", "retrieve.use=dense").choices
    prefixed = _load(tmp_path, _SMALL, "embed.query_prefix=")
    assert prefixed.choices["embed"].options.query_prefix == ""


def test_a_retriever_with_its_own_index_needs_no_corpus(tmp_path):
    """And a BEIR folder brings its own."""
    text = '[dataset]\npath = "eval.jsonl"\n[retrieve]\nuse = "http"\nhttp.url = "u"\n'
    assert _load(tmp_path, text).settings.dataset.corpus is None
    (tmp_path / "beir").mkdir()
    (tmp_path / "beir/corpus.jsonl.gz").touch()
    assert _load(tmp_path, '[dataset]\npath = "beir"\n').settings.dataset.corpus is None


def test_the_settings_of_a_run_hold_no_secret_and_no_place(tmp_path):
    """Literal tokens are hidden; references to the environment say which variable it was."""
    text = (
        _SMALL + "[run]\nout = 'elsewhere'\n[retrieve]\nuse = 'http'\n[retrieve.http]\n"
        "url = 'https://me:pw@host/search'\n"
        "headers = {Authorization = 'Bearer abc', 'X-Api-Key' = '${KEY}'}\n"
    )
    shown = _load(tmp_path, text).as_json()
    assert shown["retrieve"]["http"]["url"] == "https://(hidden)@host/search"
    assert shown["retrieve"]["http"]["headers"] == {
        "Authorization": "(hidden)",
        "X-Api-Key": "${KEY}",
    }
    assert "out" not in shown["run"]
    assert shown["dataset"]["path"] == "eval.jsonl"


def test_metric_lists_may_be_one_text(tmp_path):
    """Commas inside parentheses belong to the name."""
    sets = "score.metrics=nDCG(gain=exp,rel=2)@10, RR@5"
    assert _load(tmp_path, _SMALL, sets).settings.score.metrics == (
        "nDCG(gain=exp,rel=2)@10",
        "RR@5",
    )


def test_every_setting_says_what_it_does():
    """The reference page is made from the descriptions."""
    for table in [*TABLES.values(), config.Settings]:
        for name, field in table.model_fields.items():
            assert field.description, f"{table.__name__}.{name}"


@pytest.mark.parametrize(
    ("assignment", "fault"),
    [
        ("retrieve.top_k=99999999999999999999999", "must be at most 100000"),
        ("retrieve.hybrid.depth=3000000000", "must be at most 100000"),
        ("dataset.corpus=", "dataset.corpus must not be empty"),
        ("dataset.path=", "dataset.path[0] must not be empty"),
        ("nosuch.x=3", "unknown key nosuch"),
        ("dataset.mapping.quary=x", "unknown key dataset.mapping.quary"),
        ("retrieve.http.url=me.example:80", 'must be an http or https address, not "me'),
        (
            "retrieve.python.target=my",
            'must be module:function, such as my_search:search, not "my"',
        ),
        ("retrieve.http={url='http://x',ids='a['}", "retrieve.http.ids: 'a[' is not a JMESPath"),
    ],
)
def test_a_fault_of_an_override_is_one_line_that_names_it(tmp_path, assignment, fault):
    """In plain words, once, and never at a line of the file."""
    (tmp_path / "eval.jsonl").touch()
    (tmp_path / "docs").mkdir()
    file = tmp_path / "eval.toml"
    file.write_text(_SMALL, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        config.load(file, find_plugin=plugins.load, check_metric=_check_any, sets=[assignment])
    (found,) = caught.value.faults
    assert found.where.startswith("--set ")
    assert fault in found.message


def _check_any(name: str) -> None:
    """Every metric is known."""
