"""Real indexes of each library with faults planted in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragnostic import plugins
from ragnostic.corpus.index_builds import compare_builds
from ragnostic.corpus.index_check import IndexCheck, Wanted, check_index
from ragnostic.corpus.index_expected import Expected
from ragnostic.errors import DataError, PathError, UsageError
from ragnostic.ports import Progress, Resources, Role, Vectors, VectorStore, no_progress
from ragnostic.records import Chunk

LIBRARIES = ("chroma", "faiss", "lancedb", "usearch")
DIMENSION = 16


class Words:
    """An embedder that adds up a direction a word."""

    name = "words"

    def embed(self, texts: Sequence[str], role: Role, progress: Progress = no_progress) -> Vectors:
        """Unit vectors."""
        rows = np.stack([sum(map(direction, text.split()), np.zeros(DIMENSION)) for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def count_tokens(self, text: str) -> int:
        """Words."""
        return len(text.split())


def direction(word: str) -> Any:
    """Of one word, always the same."""
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "little")
    return np.random.default_rng(seed).normal(size=DIMENSION)


@dataclass(frozen=True)
class Planted:
    """One row of an index as it is built; ``vector`` None: it has none."""

    id: str
    text: str
    doc_id: str
    vector: Any
    version: str | None = None


def texts(count: int = 300) -> list[str]:
    """Different texts."""
    rng = np.random.default_rng(7)
    return [" ".join(f"w{n}" for n in rng.integers(0, 500, 8)) for _ in range(count)]


TEXTS = texts()
CHUNKS = {
    f"c{n}": Chunk(f"c{n}", f"d{n // 3}", 0, len(text), 8, text) for n, text in enumerate(TEXTS)
}
CLEAN = tuple(
    Planted(chunk.id, chunk.text, chunk.doc_id, vector)
    for chunk, vector in zip(CHUNKS.values(), Words().embed(TEXTS, "passage"), strict=True)
)
QUERIES = tuple(" ".join(text.split()[:4]) for text in TEXTS[:40])


def write_rows(folder: Path, rows: Sequence[Planted]) -> None:
    """The file beside an index that names its rows."""
    lines = [
        json.dumps(
            {"key": n, "chunk_id": one.id, "text": one.text, "doc_id": one.doc_id}
            | ({} if one.version is None else {"version": one.version})
        )
        for n, one in enumerate(rows)
    ]
    (folder / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")


def held(rows: Sequence[Planted]) -> tuple[Any, Any]:
    """(keys, vectors) of the rows that have one."""
    keys = np.array([n for n, one in enumerate(rows) if one.vector is not None], dtype=np.int64)
    return keys, np.stack([rows[n].vector for n in keys]).astype(np.float32)


def build_faiss(folder: Path, rows: Sequence[Planted], space: str) -> dict[str, Any]:
    """HNSW behind an IndexIDMap."""
    faiss = pytest.importorskip("faiss")
    metric = faiss.METRIC_L2 if space == "l2" else faiss.METRIC_INNER_PRODUCT
    keys, vectors = held(rows)
    index = faiss.IndexIDMap(faiss.IndexHNSWFlat(vectors.shape[1], 16, metric))
    index.add_with_ids(vectors, keys)
    faiss.write_index(index, str(folder / "docs.faiss"))
    write_rows(folder, rows)
    return {"path": "docs.faiss", "rows": "rows.jsonl"}


def build_usearch(folder: Path, rows: Sequence[Planted], space: str) -> dict[str, Any]:
    """HNSW in single precision."""
    index_module = pytest.importorskip("usearch.index")
    keys, vectors = held(rows)
    metric = {"cosine": "cos", "l2": "l2sq", "ip": "ip"}[space]
    index = index_module.Index(ndim=vectors.shape[1], metric=metric, dtype="f32")
    index.add(keys.astype(np.uint64), vectors)
    index.save(str(folder / "docs.usearch"))
    write_rows(folder, rows)
    return {"path": "docs.usearch", "rows": "rows.jsonl"}


def build_lancedb(folder: Path, rows: Sequence[Planted], space: str) -> dict[str, Any]:
    """A table without an index: its search is exact."""
    lancedb = pytest.importorskip("lancedb")
    import pyarrow as pa  # noqa: PLC0415 - beside the library that needs it

    width = next(len(one.vector) for one in rows if one.vector is not None)
    vectors = [None if one.vector is None else list(map(float, one.vector)) for one in rows]
    table = pa.table(
        {
            "id": [one.id for one in rows],
            "text": [one.text for one in rows],
            "doc_id": [one.doc_id for one in rows],
            "version": pa.array([one.version for one in rows], pa.string()),
            "vector": pa.array(vectors, pa.list_(pa.float32(), width)),
        }
    )
    lancedb.connect(str(folder / "lance")).create_table("docs", table, on_bad_vectors="null")
    return {"path": "lance", "table": "docs", "space": {"ip": "dot"}.get(space, space)}


def build_chroma(folder: Path, rows: Sequence[Planted], space: str) -> dict[str, Any]:
    """A persistent collection."""
    chromadb = pytest.importorskip("chromadb")
    from chromadb.config import Settings  # noqa: PLC0415 - beside the library that needs it

    client = chromadb.PersistentClient(
        str(folder / "chroma"), settings=Settings(anonymized_telemetry=False)
    )
    collection = client.create_collection(
        "docs", configuration={"hnsw": {"space": space}}, embedding_function=None
    )
    collection.add(
        ids=[one.id for one in rows],
        embeddings=np.stack([one.vector for one in rows]).astype(np.float32),
        documents=[one.text for one in rows],
        metadatas=[
            {"doc_id": one.doc_id} | ({"version": one.version} if one.version else {})
            for one in rows
        ],
    )
    client.close()
    return {"path": "chroma", "collection": "docs"}


BUILD: dict[str, Callable[[Path, Sequence[Planted], str], dict[str, Any]]] = {
    "chroma": build_chroma,
    "faiss": build_faiss,
    "lancedb": build_lancedb,
    "usearch": build_usearch,
}
Opened = Callable[..., VectorStore]


@pytest.fixture
def opened(tmp_path) -> Iterator[Opened]:
    """``opened(library, rows, space)``: an index built in a folder of its own, and opened."""
    stores: list[VectorStore] = []

    def make(library: str, rows: Sequence[Planted] = CLEAN, space: str = "cosine") -> VectorStore:
        options = BUILD[library](tmp_path, rows, space)
        found = plugins.load("vectorstores", library)
        store = found.build(found.Options(**options), Resources(base_dir=tmp_path))
        stores.append(store)
        return store

    yield make
    for store in stores:
        store.close()


def checked(store: VectorStore, **wanted: Any) -> IndexCheck:
    """The check against the corpus, everything embedded again."""
    asked = Wanted(expected=Expected(CHUNKS), queries=QUERIES, sample=0, efforts=(10, 80))
    return check_index(store, replace(asked, **wanted), Words())


def kinds(found: IndexCheck) -> dict[str, int]:
    """Kind → count."""
    return {one.kind: one.count for one in found.findings}


@pytest.mark.parametrize("space", ["cosine", "ip", "l2"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_nothing_is_found_in_a_clean_index(opened, library, space):
    """In every space, and every row is read and embedded again."""
    store = opened(library, space=space)
    found = checked(store)
    assert found.findings == ()
    assert (found.rows, found.compared, found.dimension) == (300, 300, DIMENSION)
    assert found.usual is not None
    assert found.usual.recall > 0.95
    assert store.space == ("ip" if library == "faiss" and space == "cosine" else space)


def changed(rows: Sequence[Planted], numbers: Sequence[int], **values: Any) -> list[Planted]:
    """The rows, some of them with other values."""
    return [replace(one, **values) if n in numbers else one for n, one in enumerate(rows)]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_vector_of_an_older_text_is_stale(opened, library):
    """The text was changed, the vector was not; also where its length is another."""
    rows = list(CLEAN)
    for n in (3, 50, 120):
        old = Words().embed([f"{TEXTS[n]} older"], "passage")[0]
        rows[n] = replace(rows[n], vector=old * (3.0 if n == 50 else 1.0))
    found = checked(opened(library, rows))
    assert kinds(found)["stale_vector"] == 3
    stale = next(one for one in found.findings if one.kind == "stale_vector")
    assert set(stale.examples) == {"c3", "c50", "c120"}
    assert kinds(found).keys() <= {"stale_vector", "not_unit"}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_text_that_is_older_than_the_corpus_is_stale(opened, library):
    """Text and vector alike."""
    rows = list(CLEAN)
    old = f"{TEXTS[9]} before"
    rows[9] = replace(rows[9], text=old, vector=Words().embed([old], "passage")[0])
    assert kinds(checked(opened(library, rows))) == {"stale_text": 1, "stale_vector": 1}


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_is_missing_and_what_is_left_over_is_named(opened, library):
    """By chunk id."""
    gone = Words().embed(["gone for good"], "passage")[0]
    rows = [*CLEAN[:-2], Planted("x1", "gone for good", "dx", gone)]
    found = checked(opened(library, rows))
    assert kinds(found) == {"missing": 2, "orphan": 1}
    assert [one.examples for one in found.findings] == [("c298", "c299"), ("x1",)]


@pytest.mark.parametrize("library", LIBRARIES)
def test_documents_are_compared_where_ids_are_the_index_own(opened, library):
    """An id that is nowhere in the corpus is no fault then; a document is."""
    rows = [replace(one, id=f"row-{n}") for n, one in enumerate(CLEAN[:-3])]
    rows[0] = replace(rows[0], doc_id="deleted")
    store = opened(library, rows)
    found = checked(store, expected=Expected(CHUNKS, "document"))
    assert kinds(found) == {"missing": 1, "orphan": 1}
    assert kinds(checked(store)).keys() == {"foreign_ids"}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_text_that_is_there_twice_is_found(opened, library):
    """Under another id, white space apart."""
    twice = replace(CLEAN[4], id="again", text=f"  {CLEAN[4].text} ")
    assert kinds(checked(opened(library, [*CLEAN, twice]))) == {"duplicate_text": 1, "orphan": 1}


@pytest.mark.parametrize("library", ["faiss", "lancedb", "usearch"])
def test_an_id_that_is_there_twice_is_found(opened, library):
    """Chroma refuses it by itself."""
    twice = replace(CLEAN[4], text=CLEAN[4].text)
    found = kinds(checked(opened(library, [*CLEAN, twice])))
    assert found == {"duplicate_id": 1, "duplicate_text": 1}


@pytest.mark.parametrize("newest", [True, False], ids=["newest", "oldest"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_of_several_versions_it_is_said_which_comes_first(opened, library, newest):
    """One query finds both versions of a document."""
    old, new = ("2025-11", "2026-02") if newest else ("2026-02", "2025-11")
    near = f"{TEXTS[0]} {TEXTS[0].split()[0]}"
    rows = [
        replace(CLEAN[0], version=new),
        replace(
            CLEAN[0], id="other", text=near, version=old, vector=Words().embed([near], "passage")[0]
        ),
        *CLEAN[1:],
    ]
    found = checked(opened(library, rows), queries=[TEXTS[0]])
    several = next(one for one in found.findings if one.kind == "several_versions")
    first = "newest_first" if newest else "oldest_first"
    assert several.examples == ("d0 (2025-11, 2026-02)",)
    assert several.facts["both_returned"] == several.facts[first] == 1
    assert several.facts["newest_first"] + several.facts["oldest_first"] == 1


def test_vectors_that_no_row_names_are_orphans(opened, tmp_path):
    """They come back under their number."""
    store = opened("faiss", CLEAN)
    write_rows(tmp_path, CLEAN[:-1])
    found = plugins.load("vectorstores", "faiss")
    again = found.build(
        found.Options(path="docs.faiss", rows="rows.jsonl"), Resources(base_dir=tmp_path)
    )
    told = checked(again)
    assert kinds(told) == {"missing": 1, "orphan": 1}
    assert told.findings[1].examples == ("#299",)
    assert store.count() == 300


@pytest.mark.parametrize("library", ["faiss", "lancedb", "usearch"])
def test_a_row_without_a_vector_is_found(opened, library):
    """Chroma cannot hold one."""
    assert kinds(checked(opened(library, changed(CLEAN, [5, 6], vector=None)))) == {"no_vector": 2}


@pytest.mark.parametrize("library", LIBRARIES)
def test_vectors_without_a_direction_are_found(opened, library):
    """Length 0."""
    rows = changed(CLEAN, [8], vector=np.zeros(DIMENSION))
    assert kinds(checked(opened(library, rows, "l2"), target=0.5)) == {"zero_vector": 1}


@pytest.mark.parametrize("library", ["faiss", "usearch"])
def test_a_vector_with_nan_is_found(opened, library):
    """LanceDB and Chroma drop or refuse it."""
    broken = CLEAN[8].vector.copy()
    broken[2] = np.nan
    assert (
        kinds(checked(opened(library, changed(CLEAN, [8], vector=broken), "l2")))["not_finite"] == 1
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_lengths_matter_where_the_index_does_not_divide_by_them(opened, library):
    """By inner product long vectors win; no vector is stale for its length."""
    rows = changed(CLEAN, [], vector=None)
    rows = [replace(one, vector=one.vector * (1 + n % 3)) for n, one in enumerate(rows)]
    found = checked(opened(library, rows, "ip"))
    assert kinds(found) == {"not_unit": 200}
    assert found.findings[0].facts == pytest.approx({"shortest": 1, "longest": 3}, abs=1e-3)


@pytest.mark.parametrize("library", ["chroma", "lancedb", "usearch"])
def test_lengths_do_not_matter_by_cosine(opened, library):
    """FAISS has no cosine of its own."""
    rows = [replace(one, vector=one.vector * (1 + n % 3)) for n, one in enumerate(CLEAN)]
    assert checked(opened(library, rows, "cosine")).findings == ()


@pytest.mark.parametrize("library", LIBRARIES)
def test_another_dimension_is_told_and_nothing_is_compared(opened, library):
    """The embedder of the settings is not that of the index."""
    rows = [replace(one, vector=one.vector[:12]) for one in CLEAN]
    found = checked(opened(library, rows))
    assert kinds(found)["dimension"] == 300
    assert found.compared == found.queries == 0
    assert {"stale_vector", "low_recall"} <= set(found.untested)


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_index_of_another_model_is_not_called_stale(opened, library):
    """All of it is, so it is something else."""
    rng = np.random.default_rng(3)
    drawn = rng.normal(size=(300, DIMENSION))
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    rows = [replace(one, vector=vector) for one, vector in zip(CLEAN, drawn, strict=True)]
    found = checked(opened(library, rows))
    assert kinds(found).keys() - {"low_recall"} in ({"other_model"}, {"direction"})


@pytest.mark.parametrize("library", LIBRARIES)
def test_vectors_that_point_away_are_told(opened, library):
    """The sign was turned somewhere."""
    rows = [replace(one, vector=-one.vector) for one in CLEAN]
    found = checked(opened(library, rows))
    assert "negated" in {one.facts.get("how") for one in found.findings}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_distance_that_is_taken_for_a_similarity_is_told(opened, library):
    """And the other way round; what fits is no fault."""
    store = opened(library)
    right, wrong = "distance", "similarity"
    if library == "faiss":  # by inner product
        right, wrong = wrong, right
    assert checked(store, taken=right).findings == ()
    found = checked(store, taken=wrong)
    assert [(one.kind, one.facts["how"]) for one in found.findings] == [("direction", "scores")]


@pytest.mark.parametrize("library", LIBRARIES)
def test_ids_that_count_move_between_two_builds(opened, library, tmp_path):
    """A chunk was put in at the front, and every id behind it is another text."""
    before = checked(opened(library), listing=True).listing
    counted = [replace(one, id=f"c{n}") for n, one in enumerate(reversed(CLEAN))]
    (tmp_path / "second").mkdir()
    options = BUILD[library](tmp_path / "second", counted, "cosine")
    found = plugins.load("vectorstores", library)
    store = found.build(found.Options(**options), Resources(base_dir=tmp_path / "second"))
    told = checked(store, before=before, expected=None)
    store.close()
    assert kinds(told) == {"unstable_ids": 300, "reused_ids": 300}
    assert compare_builds(before, before).moved == ()


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_is_no_index_is_told_in_a_sentence(library, tmp_path):
    """A path that is not there, and a file that is something else."""
    found = plugins.load("vectorstores", library)
    options = {
        "chroma": {"path": "there", "collection": "docs"},
        "lancedb": {"path": "there", "table": "docs"},
    }.get(library, {"path": "there", "rows": "rows.jsonl"})
    with pytest.raises(PathError, match="no such"):
        found.build(found.Options(**options), Resources(base_dir=tmp_path))
    if "rows" in options:
        (tmp_path / "there").write_bytes(b"something else entirely, and long enough to be read")
        (tmp_path / "rows.jsonl").write_text("")
    else:
        (tmp_path / "there").mkdir()
    with pytest.raises((DataError, UsageError)):
        found.build(found.Options(**options), Resources(base_dir=tmp_path))
