"""What pulsar-admin of Pulsar 4.0.8 knows of the commands that `explain` prints, and whether a command is one that it takes.

tests/fixtures/pulsar_admin_4_0_8.json has it, made of the tool's own help; tests/broker holds it against the tool.
"""

import json
import re
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pipeline.diagnosis.advice import advice
from pipeline.diagnosis.by_cause import BY_CAUSE
from pipeline.diagnosis.topic_answer import advice as of_topic
from pipeline.what_if.quotas_due import quota_command
from schemas.events import CURSOR_KINDS, QUOTA_POLICIES, QUOTA_TYPES, UNACKED_CAPS
from schemas.packages.cause.causes import ACCOUNTS

KNOWN = Path(__file__).parents[1] / "fixtures" / "pulsar_admin_4_0_8.json"
#: `-md, --msg-dispatch-rate=<msgDispatchRate>` at the begin of a line; the value is not there for a flag.
_OPTION = re.compile(r"^\s+(-[\w-]+(?:, -[\w-]+)*)(=<\w+>)?(?:\s|$)")
#: A stretch in which nobody was connected: long enough to delete a subscription.
EPOCH, NOBODY_CAME = datetime(1970, 1, 1, tzinfo=UTC), timedelta(hours=1)
_ARGUMENT = re.compile(r"^\s+<(\w+)>\s", re.MULTILINE)


def known() -> Mapping[str, Any]:
    """`topics stats` and the other commands: their options, each with whether it takes a value, and how many arguments they take."""
    return dict(json.loads(KNOWN.read_text(encoding="utf-8")))


def of_help(text: str) -> dict[str, Any]:
    """The same of what `pulsar-admin … --help` prints."""
    options: dict[str, bool] = {}
    for line in text.splitlines():
        if found := _OPTION.match(line):
            options |= dict.fromkeys(found[1].split(", "), found[2] is not None)
    return {"options": dict(sorted(options.items())), "arguments": len(set(_ARGUMENT.findall(text)))}


def printed(topic: str, subscription: str) -> list[str]:
    """Every command that `explain` and `right-size` print about a subscription: for each cause, kind of cursor and cap, with limits of both
    dimensions, and a relative one.
    """
    limits = [
        {"level": level, "dimension": dimension, "rate": rate, "period_s": 1.0, "per_second": rate, "relative": level == "topic"}
        for level in ("broker", "topic", "subscription")
        for dimension, rate in (("msg", 50), ("bytes", 4_000_000_000))
    ]
    common: dict[str, Any] = {
        "behind": True, "status": "behind", "last_cause": None,
        "topic": topic, "subscription": subscription, "level": None, "dimension": None, "unknown_reason": None,
        "limits": limits, "shared_with": [], "uncovers": [], "needed": None, "sub_type": "Shared", "cursor_kind": "subscription",
        "backlog": 5, "catch_up": None, "log_version": None, "lost_entries": 0, "replicators": [], "missing": [],
        "from": EPOCH, "to": EPOCH + NOBODY_CAME, "causes": [{"cause": "no_consumer", "seconds": NOBODY_CAME.total_seconds()}],
        "dispatched_msgs": 0, "consumers_take_per_s": None, "came_back": 0, "longest_silence": None,
    }  # fmt: skip
    found: list[dict[str, Any]] = [{**common, "cause": cause} for cause in BY_CAUSE if cause not in ("throttled", "unknown")]
    found += [{**common, "cause": "unacked_limit", "cap": cap} for cap in UNACKED_CAPS]
    found += [{**common, "cause": "no_consumer", "cursor_kind": kind} for kind in CURSOR_KINDS]
    found += [
        {**common, "cause": cause, "level": level, "dimension": dimension, "unknown_reason": reason}
        for cause, level, dimension, reason, *_ in ACCOUNTS
        if cause in ("throttled", "unknown")
    ]
    steps = [step for document in found for step in advice(document)]
    for kind in CURSOR_KINDS:
        steps += of_topic({"exceeded": True, "topic": topic, "replicators": [],
                           "holders": [{"subscription": subscription, "cursor_kind": kind}]})  # fmt: skip
    quotas = [quota_command(topic, quota_type, 50, QUOTA_POLICIES[0]) for quota_type in QUOTA_TYPES]
    return list(dict.fromkeys(command for command in [*(step.command for step in steps), *quotas] if command is not None))


def refusal(command: str) -> str | None:
    """Why pulsar-admin would not take the command; None if it would."""
    tool, *words = shlex.split(command)
    name, rest = " ".join(words[:2]), words[2:]
    if tool != "pulsar-admin" or name not in known():
        return f"there is no command {tool} {name}"
    options, arguments = known()[name]["options"], 0
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            arguments += 1
        elif word not in options:
            return f"{name} has no option {word}"
        elif options[word]:
            if not rest:
                return f"{word} has no value"
            rest.pop(0)
    expected = known()[name]["arguments"]
    return None if arguments == expected else f"{name} takes {expected} arguments, not {arguments}"
