"""Twice the limit that holds a subscription: the backlog with it, in a sentence, or the reason why nobody knows."""

from collections.abc import Mapping
from typing import Any

from pipeline.diagnosis.evidence import NoAnswer
from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.what_if.answer import what_if
from pipeline.what_if.changes import changes_of
from pipeline.what_if.words import answer_lines

#: Dimensions of `explain`, as `--set` names them.
_DIMENSIONS = {"msg": "messages", "bytes": "bytes"}


def doubled(look: ReadingRoom, explained: Mapping[str, Any]) -> list[str] | None:
    """Sentences about a document of `explain`, over its time; null: no limiter that is in force holds the subscription."""
    key, rate = _limit(explained)
    if key is None:
        return None
    change = f"{key}={2 * rate}"
    try:
        document = what_if(
            look, explained["topic"], explained["subscription"], changes_of([change]), explained["broker"],
            (explained["from"], explained["to"]),
        )  # fmt: skip
    except (NoAnswer, BadConfig) as why:
        return [f"With {change}: not known, because {why}."]
    if document["epoch"] != explained["epoch"]:
        return [f"With {change}: not known, because the broker has started anew since."]
    if not document["self_check"]["ok"]:
        reasons = "; ".join(document["self_check"]["reasons"])
        return [f"With {change}: not known, because a replay with the settings as they were is not the record: {reasons}."]
    first, *others = answer_lines(document, named_range="")
    last = next(one["predicted"]["samples"][-1] for one in document["subscriptions"] if one["changes"])
    return [f"With {change}: {first}", *others, f"At the end {last['low']:,} to {last['high']:,} entries would wait."]


def _limit(explained: Mapping[str, Any]) -> tuple[str | None, int]:
    if explained["cause"] != "throttled":
        return None, 0
    names = explained["level"], explained["dimension"]
    held = next((one for one in explained["limits"] if (one["level"], one["dimension"]) == names and one["rate"] > 0), None)
    return (None, 0) if held is None else (f"{names[0]}.dispatch_rate.{_DIMENSIONS[names[1]]}", int(held["rate"]))
