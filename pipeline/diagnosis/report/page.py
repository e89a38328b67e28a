"""The page of a story: one file, no script, no network. jinja2 escapes every name."""

from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from pipeline.diagnosis.instants import time_words
from pipeline.diagnosis.recovery import pace_line
from pipeline.diagnosis.report.drawing import HEIGHT, WIDTH, cause_bars, line
from pipeline.diagnosis.report.story import MOST_ROWS, Story
from pipeline.diagnosis.words import MISSING, cause_words, consumers_line, limit_line, precedence_lines, quota_line
from pipeline.visible import visible


def page(told: Story) -> str:
    """HTML. Names are escaped; what would steer a reader's screen is shown as its code."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_visible)
    environment.filters |= {"time": time_words, "cause": cause_words, "limit": limit_line, "quota": quota_line, "pace": pace_line}
    environment.filters |= {
        "consumers": consumers_line,
        "precedence": precedence_lines,
        "thousands": "{:,}".format,
        "missing": MISSING.__getitem__,
        "percent": _percent,
    }
    template = environment.from_string(files("pipeline.diagnosis.report").joinpath("page.html").read_text(encoding="utf-8"))
    charts = [_charts(told, one) for one in told.answers]
    return template.render(story=told, charts=charts, width=WIDTH, height=HEIGHT, most_rows=MOST_ROWS)


def _charts(told: Story, document: dict[str, Any]) -> dict[str, Any]:
    """Causes over time, and the topic's backlog against its quotas."""
    checks = [row for row in told.checks.get(document["topic"], []) if document["from"] <= row["check_time"] <= document["to"]]
    size_limit, age_limit = (checks[-1][name] if checks else None for name in ("backlog_quota_limit_size", "backlog_quota_limit_time"))
    stretch = (document["from"], document["to"])
    return {
        "bars": cause_bars(document["windows"], *stretch),
        "size": line([(row["check_time"], row["backlog_size"]) for row in checks], size_limit, *stretch),
        "age": line([(row["check_time"], row["age_s"]) for row in checks], age_limit, *stretch),
        "size_limit": size_limit,
        "age_limit": age_limit,
    }


def _visible(value: Any) -> Any:
    """Control characters and marks that turn text around, as their codes; markup of the template itself is none of this."""
    if not isinstance(value, str):
        return value
    return type(value)(visible(value, keep="\n"))


def _percent(share: float) -> str:
    """What is seen in the chart is not nothing."""
    return "less than 1%" if 0 < share < 0.005 else f"{share:.0%}"
