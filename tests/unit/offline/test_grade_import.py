"""Graded sheets, as people and their spreadsheets save them."""

from __future__ import annotations

import csv
import io
import json
import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.strict_json import RowError
from ragnostic.errors import DataError, UsageError
from ragnostic.offline.answer_files import read_grades
from ragnostic.offline.grade_import import _unescaped, import_grades, parse_grade
from ragnostic.offline.grading_sheet import items_of
from ragnostic.offline.per_query import safe_cell

TOOLS = runpy.run_path(str(Path(__file__).parent / "answering.py"))
Echo, answer = TOOLS["Echo"], TOOLS["answer"]


@pytest.fixture
def folder(tmp_path) -> Path:
    """A run folder with four answers."""
    answer(tmp_path, Echo())
    return tmp_path


def names(folder: Path) -> list[str]:
    """The items in the order of the run."""
    return list(items_of(folder))


def save(folder: Path, name: str, lines: list[str], encoding: str = "utf-8") -> Path:
    """A sheet of these lines."""
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding=encoding)
    return path


def grades(folder: Path) -> list[tuple[str, str, int, str | None]]:
    """(item, grader, grade, comment) of grades.parquet."""
    rows = read_grades(folder).to_pylist()
    return [(row["item"], row["grader"], row["grade"], row["comment"]) for row in rows]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_sheet_may_be_saved_by_any_spreadsheet(folder, encoding, mark):
    """Encodings, delimiters, added empty cells, grades as they write them."""
    one, two, three, four = names(folder)
    lines = [
        mark.join(["item", "query", "expected_answer", "answer", "grade", "comment", ""]),
        mark.join([one, "年假？", "二十天", '"多\n行"', "3", "好", ""]),
        mark.join([two, "q", "", "a", " 2.0 ", "", ""]),
        mark.join([three, "q", "", "a", "１"]),
        "",
        mark.join([four, "q", "", "a", "'0", "'=why", "", ""]),
    ]
    sheet = save(folder, "anna.csv", lines, encoding)
    found = import_grades(folder, [sheet])
    assert sum(found.left_out.values()) == 0
    assert sorted(grades(folder)) == sorted(
        [
            *[(one, "anna", 3, "好"), (two, "anna", 2, None)],
            *[(three, "anna", 1, None), (four, "anna", 0, "=why")],
        ]
    )


def test_what_cannot_be_used_is_named_by_its_line(folder):
    """Unknown, empty, out of range, no number, too many cells, no item, twice in two ways."""
    one, two, three, four = names(folder)
    lines = [
        "item,grade,comment",
        f"{one},3,",
        "i000000000000000,3,",
        f"{two},,later",
        f"{two},4,",
        f"{two},good,",
        f"{two},1.5,",
        f"{three},2,a,b",
        ",2,",
        f"{four},1,",
        f"{four},2,",
        f"{one},3,",
    ]
    found = import_grades(folder, [save(folder, "anna.csv", lines)])
    assert grades(folder) == [(one, "anna", 3, None)]
    assert dict(found.left_out) == {"unknown": 2, "empty": 1, "bad": 5}
    told = "\n".join(found.warnings)
    for line in (
        "anna.csv:3: no answer of this run is called 'i000000000000000'",
        f"anna.csv:4: {two} has no grade",
        "anna.csv:5: the grade must be a whole number from 0 to 3, not '4'",
        "anna.csv:6: the grade must be a whole number from 0 to 3, not 'good'",
        "anna.csv:7: the grade must be a whole number from 0 to 3, not '1.5'",
        "anna.csv:8: has 4 cells, the header has 3",
        "anna.csv:9: no item",
        f"anna: {four} has the grades 1 and 2 by anna",
    ):
        assert line in told, line


def test_json_lines_are_read_too(folder):
    """A broken line and a wrong kind of grade are left out."""
    one, two, three, four = names(folder)
    lines = [
        json.dumps({"item": one, "grade": 2, "grader": "cem"}),
        "",
        json.dumps({"item": two, "grade": None}),
        json.dumps({"item": three, "grade": True}),
        '{"item": ',
        json.dumps({"item": four, "grade": 1.0}),
    ]
    found = import_grades(folder, [save(folder, "sheet.jsonl", lines)])
    assert sorted(grades(folder)) == sorted([(one, "cem", 2, None), (four, "sheet", 1, None)])
    assert dict(found.left_out) == {"empty": 1, "bad": 2}


def test_several_graders_and_a_second_opinion(folder):
    """Grades of others stay, one's own are replaced; --fresh forgets; another scale is refused."""
    one, two, *_ = names(folder)
    anna = save(folder, "anna.csv", ["item,grade", f"{one},3", f"{two},2"])
    bob = save(folder, "bob.csv", ["item;grade;grader", f"{one};1;", f"{two};0;eve"])
    import_grades(folder, [anna, bob])
    assert {(g, n) for _, g, n, _ in grades(folder)} == {
        *[("anna", 3), ("anna", 2)],
        *[("bob", 1), ("eve", 0)],
    }
    save(folder, "anna.csv", ["item,grade", f"{one},0"])
    assert import_grades(folder, [anna]).replaced == 1
    assert len(grades(folder)) == 4
    with pytest.raises(UsageError, match="go to 3, these to 5"):
        import_grades(folder, [anna], max_grade=5)
    import_grades(folder, [anna], max_grade=5, fresh=True)
    assert grades(folder) == [(one, "anna", 0, None)]


@pytest.mark.parametrize(
    ("name", "lines", "reason"),
    [
        ("a.csv", ["query,answer", "q,a"], "no columns item and grade"),
        ("a.csv", ["item,grade,grade", "i,1,2"], "two columns are called grade"),
        ("a.csv", ["item,grade", "x,1"], r"no grade in a\.csv can be used"),
        ("a.xlsx", ["PK"], "is a workbook"),
    ],
)
def test_a_file_that_is_no_graded_sheet_is_refused(folder, name, lines, reason):
    """Nothing is written."""
    with pytest.raises((DataError, UsageError), match=reason):
        import_grades(folder, [save(folder, name, lines)])
    assert read_grades(folder) is None


def test_two_sheets_of_one_name_are_refused(folder):
    """Their graders would be taken for one."""
    with pytest.raises(UsageError, match="two sheets have the name anna"):
        import_grades(folder, [folder / "anna.csv", folder / "b" / "anna.csv"])


def test_a_run_without_answers_has_no_grades(tmp_path):
    """The way to them is told."""
    with pytest.raises(UsageError, match="holds no answers"):
        import_grades(tmp_path, [tmp_path / "a.csv"])


def test_a_row_that_a_quote_swallows_is_counted(folder):
    """And the rows before it are used."""
    one, two, *_ = names(folder)
    sheet = save(folder, "anna.csv", ["item,grade,comment", f"{one},2,", f'{two},1,"open'])
    found = import_grades(folder, [sheet])
    assert found.left_out["bad"] == 1
    assert "a quote is never closed" in found.warnings[0]


def test_a_line_of_broken_bytes_is_counted(folder):
    """In JSON Lines the others are used."""
    one, *_ = names(folder)
    sheet = folder / "anna.jsonl"
    good = json.dumps({"item": one, "grade": 2, "comment": "年假年假年假"}, ensure_ascii=False)
    sheet.write_bytes(good.encode() + b'\n{"item": "\xff\xfe"}\n')
    found = import_grades(folder, [sheet])
    assert (len(found.grades), found.left_out["bad"]) == (1, 1)


@given(st.integers(0, 9), st.sampled_from(["{}", " {} ", "{}.0", "{},00", "'{}", "{}."]))
def test_a_grade_is_read_as_it_was_meant(grade, form):
    """Whatever a spreadsheet made of it."""
    assert parse_grade(form.format(grade), 9) == grade


@given(st.one_of(st.text(), st.floats(), st.integers(), st.booleans()))
def test_anything_else_is_refused_or_in_range(written):
    """Never a crash, never a grade out of range."""
    try:
        found = parse_grade(written, 3)
    except RowError:
        return
    assert found in {None, 0, 1, 2, 3}


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_a_comment_survives_the_formula_escape(comment):
    """Written as our sheets are, read as it was."""
    stream = io.StringIO()
    csv.writer(stream).writerow([safe_cell(comment)])
    (cell,) = next(csv.reader(io.StringIO(stream.getvalue())))
    unescaped = _unescaped(cell)
    assert unescaped == comment or comment.startswith("'")
