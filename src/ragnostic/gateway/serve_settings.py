"""``[serve]`` of a gateway's file: what ``ragnostic serve`` runs beside the gateway."""

from __future__ import annotations

from pydantic import Field

from ragnostic.config.models import LARGEST, Table
from ragnostic.gateway.addresses import Address


class ServeSettings(Table):
    """Worker, schedule and figures, in the store of ``[store] path``."""

    address: Address = Field(
        default="127.0.0.1:9464", description="Where /metrics, /healthz and /readyz are."
    )
    allow_remote: bool = Field(
        default=False, description="Permit an address that other machines can reach."
    )
    workers: int = Field(default=1, ge=1, le=16, description="Processes that judge and score.")
    check_minutes: float = Field(
        default=5.0, gt=0, le=1440, description="Minutes between two checks of the alerts."
    )
    sentinel: str = Field(
        default="",
        description="Configuration of `ragnostic eval` whose retriever and reranker the sentinel "
        "asks; without it there is none.",
    )
    hourly_queries: int = Field(
        default=100, ge=0, le=LARGEST, description="Queries that the sentinel asks every hour."
    )
    nightly_queries: int = Field(
        default=1000, ge=0, le=LARGEST, description="Queries that it asks at night."
    )
    night_hour: int = Field(
        default=2, ge=0, le=23, description="Hour of the night, in the zone of the store."
    )
    retrieval: bool = Field(
        default=True, description="Let the sentinel compare retrieval with the day before, too."
    )
    rate: float | None = Field(
        default=None,
        gt=0,
        le=LARGEST,
        description="Most calls of the sentinel a second.",
    )
    daily_hour: int = Field(
        default=8, ge=0, le=23, description="Hour of the daily report, in the zone of the store."
    )
    daily: str = Field(
        default="", description="Folder for daily reports; without it there are none."
    )
    daily_mail: bool = Field(default=False, description="Mail the daily report, too.")
    drain_s: float = Field(
        default=5.0, ge=1.0, le=300, description="Seconds from SIGTERM to the end of everything."
    )
