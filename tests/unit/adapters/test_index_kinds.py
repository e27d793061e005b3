"""Kinds of indexes inside each library, and what their efforts do."""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from ragnostic import plugins
from ragnostic.corpus.index_recall import ask, exact, points, returned_ids
from ragnostic.errors import DataError, UsageError
from ragnostic.ports import Resources

VECTORS = np.random.default_rng(5).normal(size=(1500, 16)).astype(np.float32)
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)
QUERIES = VECTORS[:40] + 0.2 * np.random.default_rng(6).normal(size=(40, 16)).astype(np.float32)


def opened(library: str, folder: Path, **options):
    """The store."""
    found = plugins.load("vectorstores", library)
    return found.build(found.Options(**options), Resources(base_dir=folder))


def recalls(store, efforts) -> list[float]:
    """Recall of the exact top 10 at each effort."""
    rounds = ask(store, QUERIES, 10, efforts, clock=lambda: 0.0)
    truth = exact(store.scan(256), QUERIES, 10, store.space, returned_ids(rounds))
    return [point.recall for point in points(rounds, truth)]


def rows(folder: Path, keys=range(1500)) -> str:
    """The file that names them."""
    lines = (json.dumps({"key": int(key), "id": f"c{n}"}) for n, key in enumerate(keys))
    (folder / "rows.jsonl").write_text("\n".join(lines))
    return "rows.jsonl"


def test_all_vectors_come_back_from_each_kind_of_faiss(tmp_path):
    """Flat, IVF with ids of its own and without, behind IDMap, IDMap2 and a rotation."""
    faiss = pytest.importorskip("faiss")
    keys = np.arange(1500) * 3 + 7

    def ivf():
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(16), 16, 12, faiss.METRIC_INNER_PRODUCT)
        index.train(VECTORS)
        return index

    rotated = faiss.IndexPreTransform(faiss.RandomRotationMatrix(16, 16), ivf())
    rotated.train(VECTORS)
    kinds = {
        "flat": (faiss.IndexFlatL2(16), None, ""),
        "ivf": (ivf(), None, "nprobe"),
        "ivf with ids": (ivf(), keys, "nprobe"),
        "map of ivf": (faiss.IndexIDMap(ivf()), keys, "nprobe"),
        "map": (faiss.IndexIDMap2(faiss.IndexHNSWFlat(16, 8)), keys, "ef"),
        "rotated": (rotated, None, "nprobe"),
    }
    for name, (index, own, effort) in kinds.items():
        index.add(VECTORS) if own is None else index.add_with_ids(VECTORS, own)
        faiss.write_index(index, str(tmp_path / "docs.faiss"))
        named = rows(tmp_path, range(1500) if own is None else own)
        store = opened("faiss", tmp_path, path="docs.faiss", rows=named)
        assert (store.effort, store.count()) == (effort, 1500), name
        held = list(store.scan(400))
        assert np.allclose(np.concatenate([one.vectors for one in held]), VECTORS, atol=1e-5), name
        assert store.search(VECTORS[9], 1).ids == ("c9",), name
        efforts = store.efforts(10)
        found = recalls(store, [efforts[0], efforts[-1]] if efforts else [None])
        assert found[-1] > 0.97, name
        if effort == "nprobe":
            assert efforts[-1] == 12
            assert found[0] < 0.8, name


def test_a_binary_index_of_faiss_is_refused(tmp_path):
    """There is no embedder for it."""
    faiss = pytest.importorskip("faiss")
    index = faiss.IndexBinaryFlat(16)
    faiss.write_index_binary(index, str(tmp_path / "docs.faiss"))
    with pytest.raises((UsageError, DataError), match=r"docs\.faiss"):
        opened("faiss", tmp_path, path="docs.faiss", rows=rows(tmp_path))


def test_other_metrics_of_faiss_are_refused(tmp_path):
    """There is no exact search to hold them against."""
    faiss = pytest.importorskip("faiss")
    faiss.write_index(faiss.IndexFlat(16, faiss.METRIC_L1), str(tmp_path / "docs.faiss"))
    with pytest.raises(UsageError, match="neither inner product nor L2"):
        opened("faiss", tmp_path, path="docs.faiss", rows=rows(tmp_path))


def test_an_empty_index_of_faiss_holds_nothing(tmp_path):
    """Also one of lists."""
    faiss = pytest.importorskip("faiss")
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(16), 16, 300)
    faiss.write_index(index, str(tmp_path / "docs.faiss"))
    store = opened("faiss", tmp_path, path="docs.faiss", rows=rows(tmp_path, range(1)))
    assert [one.sizes for one in store.scan(10)] == [(0,)]
    assert store.efforts(10)[-1] == 256


@pytest.mark.parametrize("kind", ["f16", "i8"])
def test_usearch_gives_what_it_stores_and_more_effort_finds_more(tmp_path, kind):
    """In half precision and in bytes the direction is nearly the same."""
    usearch = pytest.importorskip("usearch.index")
    index = usearch.Index(ndim=16, metric="cos", dtype=kind, connectivity=3, expansion_add=4)
    index.add(np.arange(1500, dtype=np.uint64) + (1 << 63), VECTORS)
    index.save(str(tmp_path / "docs.usearch"))
    named = rows(tmp_path, [n + (1 << 63) for n in range(1500)])
    store = opened("usearch", tmp_path, path="docs.usearch", rows=named, ef=10)
    assert store.usual_effort == 10
    held = np.concatenate([one.vectors for one in store.scan(400)])
    cosines = (held * VECTORS).sum(axis=1) / np.linalg.norm(held, axis=1)
    assert cosines.min() > 0.98
    low, high = recalls(store, [10, 320])
    assert low < high
    assert store.efforts(10)[0] == 10
    store.close()


def test_other_metrics_of_usearch_are_refused(tmp_path):
    """And several vectors a key."""
    usearch = pytest.importorskip("usearch.index")
    for options in (
        {"metric": "haversine", "ndim": 2},
        {"metric": "cos", "ndim": 2, "multi": True},
    ):
        index = usearch.Index(dtype="f32", **options)
        index.add(1, np.ones(2, dtype=np.float32))
        index.save(str(tmp_path / "docs.usearch"))
        with pytest.raises(UsageError, match=r"docs\.usearch compares by"):
            opened("usearch", tmp_path, path="docs.usearch", rows=rows(tmp_path))


@pytest.fixture
def table(tmp_path):
    """A table of LanceDB under other names, with an index by cosine."""
    lancedb = pytest.importorskip("lancedb")
    import pyarrow as pa  # noqa: PLC0415 - beside the library that needs it
    from lancedb.index import IvfFlat  # noqa: PLC0415 - the same

    made = lancedb.connect(str(tmp_path / "lance")).create_table(
        "docs",
        pa.table(
            {
                "key": [f"c{n}" for n in range(1500)],
                "body": [f"text {n}" for n in range(1500)],
                "embedding": pa.FixedSizeListArray.from_arrays(pa.array(VECTORS.ravel()), 16),
                "lists": [[1.0]] * 1500,
            }
        ),
    )
    made.create_index("embedding", config=IvfFlat(distance_type="cosine", num_partitions=12))
    return tmp_path


def test_lancedb_finds_more_with_more_probes(table):
    """In the space of its index, with columns under other names."""
    names = {"id": "key", "vector": "embedding", "text": "body"}
    store = opened("lancedb", table, path="lance", table="docs", nprobes=3, **names)
    assert (store.space, store.effort, store.usual_effort) == ("cosine", "nprobe", 3)
    low, high = recalls(store, [1, store.efforts(10)[-1]])
    assert low < 0.8
    assert high > 0.99
    (first, *_) = store.scan(300)
    assert (first.ids[2], first.texts[2], first.doc_ids[2]) == ("c2", "text 2", None)


def test_rows_deleted_from_lancedb_are_not_there(table):
    """Every other row comes once, whatever the page."""
    import lancedb  # noqa: PLC0415 - the fixture skips where it is absent

    lancedb.connect(str(table / "lance")).open_table("docs").delete("key = 'c3' OR key = 'c700'")
    store = opened("lancedb", table, path="lance", table="docs", id="key", vector="embedding")
    ids = [id_ for batch in store.scan(100) for id_ in batch.ids]
    assert len(ids) == store.count() == 1498
    assert set(ids) == {f"c{n}" for n in range(1500)} - {"c3", "c700"}


def test_columns_that_lancedb_does_not_have_are_told(table):
    """By the setting, with those that there are; and a column that holds no vectors."""
    options = {"path": "lance", "table": "docs", "vector": "embedding"}
    with pytest.raises(UsageError, match=r"index\.lancedb\.id: .* no column 'id'") as caught:
        opened("lancedb", table, **options)
    assert "it has key, body, embedding" in caught.value.hint
    with pytest.raises(UsageError, match="no column 'words'"):
        opened("lancedb", table, **options, id="key", text="words")
    with pytest.raises(DataError, match="not vectors of one length"):
        opened("lancedb", table, **(options | {"id": "key", "vector": "lists"}))


def sums(folder: Path) -> dict[str, str]:
    """File → hash of its bytes."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_chroma_is_left_as_it_is_whatever_effort_is_tried(tmp_path):
    """More effort finds more, and no byte of the folder is changed."""
    chromadb = pytest.importorskip("chromadb")
    from chromadb.config import Settings  # noqa: PLC0415 - beside the library that needs it

    client = chromadb.PersistentClient(
        str(tmp_path / "chroma"), settings=Settings(anonymized_telemetry=False)
    )
    hnsw = {"space": "l2", "ef_search": 10, "ef_construction": 6, "max_neighbors": 3}
    made = client.create_collection("docs", configuration={"hnsw": hnsw}, embedding_function=None)
    made.add(ids=[f"c{n}" for n in range(1500)], embeddings=VECTORS)
    empty = client.create_collection("empty", embedding_function=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert empty.count() == 0
    client.close()
    before = sums(tmp_path / "chroma")
    store = opened("chroma", tmp_path, path="chroma", collection="docs")
    assert (store.space, store.usual_effort) == ("l2", 10)
    low, high, again = recalls(store, [10, 320, 10])
    assert low == again < high
    store.close()
    with pytest.raises(UsageError, match="no collection 'other'") as caught:
        opened("chroma", tmp_path, path="chroma", collection="other")
    assert "docs, empty" in caught.value.hint
    with pytest.raises(DataError, match="'empty' is empty"):
        opened("chroma", tmp_path, path="chroma", collection="empty")
    assert sums(tmp_path / "chroma") == before
