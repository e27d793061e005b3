"""When a figure looks healthy and when it is red: colours for pages, not alerts (METRICS 13)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ragnostic.config.models import Name, Table
from ragnostic.monitor.alerts.evaluation import TOLERANCE
from ragnostic.monitor.alerts.rules import Finite

Colour = Literal["green", "amber", "red", "grey"]


class Health(Table):
    """The limits of one figure. Green is healthy, red is not, amber is between; grey is no data."""

    metric: Name = Field(description="Figure, as in a rule.")
    healthy_above: Finite | None = Field(default=None, description="Healthy above this value.")
    healthy_below: Finite | None = Field(default=None, description="Healthy below this value.")
    red_below: Finite | None = Field(default=None, description="Red below this value.")
    red_above: Finite | None = Field(default=None, description="Red above this value.")
    red_rise: Finite | None = Field(
        default=None, gt=0.0, description="Red above the baseline by more than this share of it."
    )

    def colour(self, value: float | None, baseline: float | None = None) -> Colour:
        """The colour of a value; equality passes no limit.

        >>> mrr = Health(metric="RR@5", healthy_above=0.75)
        >>> mrr.colour(0.8), mrr.colour(0.75), mrr.colour(None)
        ('green', 'amber', 'grey')
        """
        if value is None:
            return "grey"
        highest = None
        if self.red_rise is not None and baseline is not None:
            highest = baseline + self.red_rise * abs(baseline)
        if any(
            (_under(value, self.red_below), _over(value, self.red_above), _over(value, highest))
        ):
            return "red"
        wanted = (self.healthy_above is None or _over(value, self.healthy_above)) and (
            self.healthy_below is None or _under(value, self.healthy_below)
        )
        return "green" if wanted else "amber"


def _under(value: float, limit: float | None) -> bool:
    return limit is not None and value < limit - TOLERANCE


def _over(value: float, limit: float | None) -> bool:
    return limit is not None and value > limit + TOLERANCE
