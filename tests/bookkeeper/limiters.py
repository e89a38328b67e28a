"""One limiter's life and its rows of `limiter_windows` (docs/design/throttling.md, Limiters)."""

from dataclasses import dataclass, field
from typing import Any

from bookkeeper.limiter_models import ClassicWindow, LimiterModel, TokenBucket, clock_step_tolerance
from bookkeeper.longs import DIMENSIONS, LONG_MAX, saturated
from bookkeeper.walk import Walk

Row = dict[str, Any]


@dataclass
class Figures:
    """What happened to one dimension of a limiter in the open window. `rate` is the last one it had."""

    permits_start: int
    rate: int = 0
    applied: int = 0
    used: int = 0
    over_delivered: int = 0
    asks: int = 0
    asks_shrunk: int = 0
    asks_blocked: int = 0
    asks_binding: int = 0
    compared: int = 0
    exact: int = 0
    within_clock_step: int = 0
    different: int = 0
    largest_difference: int = 0
    asks_observed: int = 0

    @property
    def busy(self) -> bool:
        """Applied, asked (in the walk, or by a log that goes on after it stopped) or used in the window."""
        return self.applied > 0 or self.asks > 0 or self.compared > 0 or self.used > 0

    def compare(self, observed: int, answer: int, tolerance: int) -> None:
        """Put the broker's answer beside the model's."""
        difference = abs(observed - answer)
        self.compared += 1
        self.exact += difference == 0
        self.within_clock_step += 0 < difference <= tolerance
        self.different += difference > tolerance
        self.largest_difference = max(self.largest_difference, difference)

    @property
    def source(self) -> str:
        """Over the asks: observed, modelled, mixed or none."""
        if self.asks == 0:
            return "none"
        if self.asks_observed == self.asks:
            return "observed"
        return "mixed" if self.asks_observed else "modelled"


@dataclass
class Limiter:
    """A broker's, topic's or subscription's limiter.

    A dimension has a model while its rate is > 0, and figures while it has something to tell of the open window.
    """

    level: str
    topic: str | None
    subscription: str | None
    created_at: int
    complete: bool
    kind: str = ""
    period_s: int = 0
    relative: bool = False
    models: dict[str, LimiterModel | None] = field(default_factory=lambda: dict.fromkeys(DIMENSIONS))
    figures: dict[str, Figures | None] = field(default_factory=lambda: dict.fromkeys(DIMENSIONS))

    def apply(self, event: dict[str, Any], ns: int) -> None:
        """A `dispatch_rate`: both dimensions get their rate anew, or lose it."""
        rates = {"msg": event["msg_rate"], "bytes": event["byte_rate"]}
        for dimension in DIMENSIONS:
            if rates[dimension] <= 0:
                self.models[dimension] = None
        afresh = self.kind != event["limiter"]
        self.kind, self.period_s, self.relative = event["limiter"], event["period_s"], event["relative"]
        for dimension in DIMENSIONS:
            if rates[dimension] > 0:
                self._apply_rate(dimension, rates[dimension], ns, afresh)

    def _apply_rate(self, dimension: str, rate: int, ns: int, afresh: bool) -> None:
        model = self.models[dimension]
        if self.kind == "token_bucket":
            model = TokenBucket.made(rate, self.period_s, ns)
        elif isinstance(model, ClassicWindow) and not afresh:
            model.reapply(rate, self.period_s, ns)
        else:
            model = ClassicWindow.made(rate, self.period_s)
        self.models[dimension] = model
        figures = self.figures[dimension] or Figures(permits_start=model.balance(ns))
        figures.rate = rate
        figures.applied += 1
        self.figures[dimension] = figures

    def consume(self, permits: dict[str, int], ns: int) -> None:
        """A delivery is charged: `permits` per dimension."""
        for dimension, n in permits.items():
            model, figures = self.models[dimension], self.figures[dimension]
            if model is None or figures is None or n <= 0:
                continue
            over = max(0, n - max(0, model.balance(ns)))
            model.consume(n, ns)
            figures.used = saturated(figures.used + n)
            figures.over_delivered = saturated(figures.over_delivered + over)

    def limited(self) -> list[str]:
        """Dimensions that have a rate."""
        return [dimension for dimension in DIMENSIONS if self.models[dimension] is not None]

    def ask(self, now: int) -> tuple[int, int]:
        """The model's answer to a read; −1 where there is no rate."""
        msg, size = (model.ask(now) if model else -1 for model in (self.models["msg"], self.models["bytes"]))
        return msg, size

    def look(self, now: int) -> tuple[int, int]:
        """What the model would answer, without asking."""
        msg, size = (model.look(now) if model else -1 for model in (self.models["msg"], self.models["bytes"]))
        return msg, size

    def note_answer(self, observed: tuple[int, int] | None, modelled: tuple[int, int]) -> None:
        """A read asked this limiter; `observed` is the log's answer (−1 where absent), None without one."""
        for index, dimension in enumerate(DIMENSIONS):
            model, figures = self.models[dimension], self.figures[dimension]
            if model is not None and figures is not None and observed is not None and observed[index] >= 0 and not self.relative:
                figures.compare(observed[index], modelled[index], clock_step_tolerance(model))

    def note_ask(self, read: Walk, binding: dict[str, bool], is_observed: bool) -> None:
        """This limiter took part in the counting walk of a read."""
        for dimension in DIMENSIONS:
            model, figures = self.models[dimension], self.figures[dimension]
            if model is None or figures is None:
                continue
            figures.asks += 1
            figures.asks_observed += is_observed
            lowered_to = read.lowered_to(self.level, dimension)
            figures.asks_blocked += lowered_to == 0
            figures.asks_shrunk += lowered_to is not None and lowered_to > 0
            figures.asks_binding += lowered_to is not None and binding[dimension]

    def close_window(self, ns: int, closed_at: int | None = None) -> list[Row]:
        """The rows of the window that ends (or of the limiter's end, with `closed_at`), and fresh figures for the next one."""
        rows = []
        for dimension in DIMENSIONS:
            model, figures = self.models[dimension], self.figures[dimension]
            if figures is None:
                continue
            if figures.busy or closed_at is not None:
                rows.append({**self._row(dimension, figures, ns), "closed_at": closed_at})
            self.figures[dimension] = None if model is None else Figures(model.balance(ns), model.rate)
        return rows

    def _row(self, dimension: str, figures: Figures, ns: int) -> Row:
        model = self.models[dimension]
        permits_end = 0 if model is None else model.balance(ns)
        period_s = max(self.period_s, 1 if self.kind == "token_bucket" else 0)
        counted = ("applied", "used", "over_delivered", "asks", "asks_shrunk", "asks_blocked", "asks_binding")
        compared = ("compared", "exact", "within_clock_step", "different", "largest_difference")
        return {
            "level": self.level,
            "topic": self.topic,
            "subscription": self.subscription,
            "dimension": dimension,
            "created_at": self.created_at,
            "closed_at": None,
            "limiter": self.kind,
            "rate": figures.rate,
            "period_ms": saturated(period_s * 1000),
            "relative": self.relative,
            "permits_start": figures.permits_start,
            "permits_end": permits_end,
            "debt": min(LONG_MAX, max(0, -permits_end)),
            **{name: getattr(figures, name) for name in (*counted, *compared)},
            "complete": self.complete,
            "source": figures.source,
        }
