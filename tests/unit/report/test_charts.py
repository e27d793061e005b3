"""Charts become accessible, self-contained SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from ragnostic.errors import RagnosticError
from ragnostic.report.catalogue import catalogue
from ragnostic.report.charts import accessible_svg
from ragnostic.report.drawings import bars_chart, colours, recall_chart
from ragnostic.report.figures import figures
from ragnostic.report.page import Bars, Curve


def test_a_chart_is_an_image_with_title_and_summary(page):
    """role="img", labelled by a title and a description, and well-formed."""
    for name, svg in figures(page, catalogue("zh")).items():
        root = ET.fromstring(svg)  # noqa: S314 - our own drawing
        assert root.get("role") == "img"
        assert root.get("aria-labelledby") == f"{name}-title {name}-summary"
        assert root[0].tag == "title"
        assert root[0].text
        assert root[1].text


def test_charts_take_colours_and_font_from_the_page(page):
    """No font of their own, and only variables for colours."""
    for svg in figures(page, catalogue("en")).values():
        assert "font-family" not in svg
        painted = re.findall(r'\s(?:fill|stroke)="([^"]*)"', svg)
        assert all(paint == "none" or paint.startswith("var(--") for paint in painted)


def test_ids_of_two_charts_do_not_meet():
    """Ids and the references to them get the key of the chart."""
    drawn = '<svg viewBox="0 0 4 2"><clipPath id="c0"/><g clip-path="url(#c0)"/></svg>'
    svg = accessible_svg(drawn, key="one", title="t<", summary="s")
    assert 'id="one-1"' in svg
    assert "url(#one-1)" in svg
    assert '<title id="one-title">t&lt;</title>' in svg


@pytest.mark.parametrize("address", ['href="https://x.test"', "url(data:x)", 'href="//x"'])
def test_an_address_in_a_drawing_is_an_error(address):
    """Nothing in a report points outside."""
    drawn = f'<svg viewBox="0 0 4 2"><a {address}/></svg>'
    with pytest.raises(RagnosticError, match="address"):
        accessible_svg(drawn, key="k", title="t", summary="s")


def test_a_drawing_of_another_shape_is_an_error():
    """No viewBox, no chart."""
    with pytest.raises(RagnosticError, match="came out"):
        accessible_svg("<p>", key="k", title="t", summary="s")


def test_a_curve_of_one_point_without_marks_is_drawn():
    """Depth 1, no half-life and no plateau."""
    curve = Curve("retrieve", (1,), (0.0,), None, None, None, None, None)
    drawing = recall_chart([curve], x="K", y="R", half="h", plateau="p").to_dict()
    assert len(drawing["layer"]) == 1


def test_a_deep_curve_has_few_ticks_and_captions_turn_inwards():
    """Marks in the right half are labelled to their left."""
    depth = tuple(range(1, 101))
    curve = Curve("retrieve", depth, tuple(at / 100 for at in depth), 50, 5, 90, 95, 0.0)
    layers = recall_chart([curve], x="K", y="R", half="h", plateau="p").to_dict()["layer"]
    assert layers[-1]["encoding"]["x"]["axis"]["values"] == [1, 5, 10, 20, 50, 100]
    aligned = [layer["mark"]["align"] for layer in layers if layer["mark"]["type"] == "text"]
    assert aligned == ["right", "left"]


def test_the_final_stage_has_the_accent():
    """All earlier stages are grey."""
    found = colours(["a", "b", "c"])
    assert found["a"] == found["b"] != found["c"]
    chart = bars_chart(Bars(("x",), (("a", (1,)), ("b", (2,)))), ["x"], x="x", y="y")
    assert chart.to_dict()["layer"]
