"""One evaluation set, or several: which of the two a configuration names, and by which names."""

from __future__ import annotations

from collections.abc import Iterator

from ragnostic.config.models import DatasetSettings
from ragnostic.config.source import Source
from ragnostic.errors import ConfigFault

_BOTH_HINT = "leave dataset.path out: what it names can be a set of its own"


def dataset_faults(source: Source, dataset: DatasetSettings) -> Iterator[ConfigFault]:
    """What is wrong with ``dataset.path`` and ``[[dataset.set]]`` taken together.

    Exactly one of both must be given; names of sets are distinct and fit into a rule such as
    ``R@20{set=fresh} >= 0.8``. A key that is itself faulty
    counts as given, since its fault was told already.
    """
    written = source.tree.get("dataset", {})
    if not {"path", "set"} & written.keys():
        hint = str(DatasetSettings.model_fields["path"].description)
        yield ConfigFault(source.where(("dataset", "path")), "dataset.path is missing", hint)
    if dataset.path and dataset.set:
        where = source.where(("dataset", "path"))
        yield ConfigFault(where, "dataset.path and [[dataset.set]] are both given", _BOTH_HINT)
    if written.get("set") == []:
        yield ConfigFault(source.where(("dataset", "set")), "dataset.set must not be empty")
    names: dict[str, int] = {}
    for index, one in enumerate(dataset.set):
        if one.name != one.name.strip() or "}" in one.name or not one.name.isprintable():
            yield ConfigFault(
                source.where(("dataset", "set", index, "name")),
                f"dataset.set[{index}].name: {one.name!r} could not be named in a gate rule",
                "leave out braces, white space around the name, and what is not visible",
            )
        first = names.setdefault(one.name, index)
        if first != index:
            yield ConfigFault(
                source.where(("dataset", "set", index, "name")),
                f"dataset.set[{index}].name: {one.name!r} is the name of dataset.set[{first}] too",
                "gate rules and tables tell sets apart by their names",
            )
