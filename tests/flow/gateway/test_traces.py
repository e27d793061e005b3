"""The receiver of traces that runs beside the proxy."""

from __future__ import annotations

import http.client
import json
import re

SPAN = {
    "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
    "spanId": "00f067aa0ba90202",
    "name": "retrieve",
    "startTimeUnixNano": "1767225600010000000",
    "endTimeUnixNano": "1767225600090000000",
    "attributes": [
        {"key": "openinference.span.kind", "value": {"stringValue": "RETRIEVER"}},
        {"key": "input.value", "value": {"stringValue": "年假几天，电话 13800138000"}},
        {"key": "retrieval.documents.0.document.id", "value": {"stringValue": "a"}},
    ],
}


def test_traces_become_records_beside_those_of_the_proxy(start, service):
    """Masked like everything else, and counted."""
    running = start('[otlp]\naddress = "127.0.0.1:0"\nsettle_s = 0.1\n')
    said = running.process.stdout.readline()  # the line about copies: traces have one before it
    port = int(re.search(r"http://127\.0\.0\.1:(\d+)/v1/traces", running.said[-1])[1])
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]})
    for _ in range(2):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("POST", "/v1/traces", body, {"Content-Type": "application/json"})
        assert connection.getresponse().status == 200
        connection.close()
    assert said == "copies go to store\n"
    assert running.counters()["spans_kept"] == 1
    assert running.stop()[0] == 0
    again = start('[otlp]\naddress = "127.0.0.1:0"\nsettle_s = 0.1\n', name="own")
    assert again.stop()[0] == 0
    (row,) = running.rows()
    assert row["stages"]["retrieve"]["ids"] == ["a"]
    assert "13800138000" not in json.dumps(row)
