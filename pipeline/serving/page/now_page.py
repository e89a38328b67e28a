"""The document of the page Now: what its heading answers, which rows the filter keeps, what happened."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pipeline.diagnosis.no_event import why_no_row
from pipeline.pages import numbers
from pipeline.query.room import ReadingRoom
from pipeline.serving.page.frame import Frame, frame_of, moment_of
from pipeline.serving.page.html import rendered
from pipeline.serving.page.now import MOST_ROWS, Line, lines
from pipeline.serving.page.now_rows import MOST_LINES, NowRows, now_rows
from pipeline.serving.page.partitions import units

#: Single ones of a repeat in its fold.
MOST_REPEATS = 60
#: Names in its query, besides those of time.
FILTERS = frozenset({"q", "namespace", "cause"})


class Heading(NamedTuple):
    """The answer: `words`, then `harm` in red; `icon` and `hue` where nothing is behind, or nothing is known."""

    words: str
    harm: str
    icon: str
    hue: str
    lead: str


def now_page(room: ReadingRoom, asked: Mapping[str, str]) -> str:
    """`/`. Raises BadConfig for a time that is none."""
    moment = moment_of(asked)
    frame = frame_of(room, moment)
    rows = now_rows(room, moment.at)
    all_lines = lines(rows)
    kept = [line for line in all_lines if _is_kept(line, asked)]
    behind = units([line for line in kept if not line.is_well or line.badge.hue == "harm"])
    reason = "" if all_lines else why_no_row(room, asked.get("at") or asked.get("to"))
    return rendered(
        "now.html",
        frame=frame,
        heading=heading(all_lines, rows, frame, reason),
        behind=behind[:MOST_ROWS],
        more=len(behind) - len(behind[:MOST_ROWS]),
        well=units([line for line in kept if line.is_well and line.badge.hue != "harm"]),
        total=len(all_lines),
        shown=len(kept),
        asked=asked,
        is_filtered=any(asked.get(name) for name in FILTERS),
        namespaces=sorted({line.namespace for line in all_lines}),
        causes=sorted({line.badge.word for line in all_lines} | {line.cause_badge.word for line in all_lines}),
        happened=_happened(rows),
    )


def _is_kept(line: Line, asked: Mapping[str, str]) -> bool:
    words = asked.get("q", "").lower().split()
    in_namespace = asked.get("namespace", "") in ("", line.namespace)
    of_cause = asked.get("cause", "") in ("", line.badge.word, line.cause_badge.word)
    return in_namespace and of_cause and all(word in line.found_by for word in words)


def heading(all_lines: list[Line], rows: NowRows, frame: Frame, reason: str) -> Heading:
    """Of all subscriptions, whatever the filter keeps."""
    total, unknown = len(all_lines), sum(line.is_unknown for line in all_lines)
    behind = sum(not line.is_well and not line.is_unknown for line in all_lines)
    losing, shut = (sum(line.badge.word == word for line in all_lines) for word in ("Losing entries", "Producers shut out"))
    harm = " ".join(
        words
        for words in (
            f"{losing} {'loses' if losing == 1 else 'lose'} entries." if losing else "",
            f"Producers of {shut} {'topic' if shut == 1 else 'topics'} are shut out." if shut else "",
        )
        if words
    )
    if total == 0:
        lead = f"{reason[:1].upper()}{reason[1:]}. This does not mean that nothing is behind."
        return Heading("No subscription is known.", "", "unk", "mute", lead)
    waits = sum(line.backlog for line in all_lines if not line.is_unknown)
    taken = sum(row["entries"] for row in rows.evictions)
    quotas = f" Quotas took {taken:,} in the last 10 minutes." if taken else ""
    not_known = f"{unknown} of {total} are not known." if unknown else ""
    if behind:
        words = f"{behind} of {total} subscriptions {'is' if behind == 1 else 'are'} behind."
        return Heading(words, harm, "", "", f"{numbers.count(waits)} entries wait.{quotas} {not_known}".strip())
    if unknown:
        words = f"Whether {unknown} of {total} subscriptions are behind is not known."
        counted = sum(line.backlog for line in all_lines if line.is_unknown)
        last = f"Their last checks counted {numbers.count(counted)} entries." if counted else ""
        return Heading(words, harm, "unk", "mute", f"{_reasons(all_lines)} {last}{quotas}".strip())
    believed = "no event of the log is lost" if frame.lost_events == 0 else f"but {frame.lost_events:,} events of the log are lost"
    words = f"Nothing is behind. {total} of {total} subscriptions are well."
    return Heading(
        words, harm, "ok", "ok", f"{numbers.count(waits)} entries are on their way; {believed}, and every backlog is known.{quotas}"
    )


def _reasons(all_lines: list[Line]) -> str:
    """Why they are not known, the commonest reason first."""
    reasons: dict[str, int] = {}
    for line in all_lines:
        if line.is_unknown:
            reasons[line.why.figure] = reasons.get(line.why.figure, 0) + 1
    first = max(reasons, key=lambda reason: reasons[reason])
    return f"Of {reasons[first]}: {first}."


def _happened(rows: NowRows) -> list[dict[str, Any]]:
    """Evictions and limiters, repeats folded, the newest first."""
    told = [
        {
            "first": row["first"],
            "last": row["last"],
            "icon": "loss",
            "hue": "harm",
            "head": _evictions(row),
            "name": f"{row['topic'].rpartition('/')[2]} / {row['subscription']}",
            "words": f"lost {row['entries']:,} entries.",
            "each": _each(row),
            "topic": row["topic"],
            "subscription": row["subscription"],
        }
        for row in rows.evictions
    ]
    seen: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows.limiters:
        key = tuple(row[name] for name in ("broker", "epoch", "level", "topic", "subscription", "dimension", "created_at"))
        if key not in seen:
            whose = [part for part in ((row["topic"] or "").rpartition("/")[2], row["subscription"]) if part]
            seen[key] = {
                "first": row["created_at"],
                "last": row["closed_at"],
                "icon": "held",
                "hue": "lim",
                "head": f"{row['level'].capitalize()} limit {numbers.limit(row['rate'], row['period_s'], row['dimension'])}",
                "name": " / ".join(whose) or row["broker"],
                "words": "was on." if row["closed_at"] else "is on.",
                "each": [],
                "topic": row["topic"],
                "subscription": row["subscription"],
            }
    told += seen.values()
    return sorted(told, key=lambda one: one["last"] or one["first"], reverse=True)[:MOST_LINES]


def _evictions(row: dict[str, Any]) -> str:
    """`17 size evictions in 80 s:`."""
    kind = "size" if row["quota_type"] == "size" else "age"
    if row["times"] == 1:
        return f"1 {kind} eviction:"
    return f"{row['times']:,} {kind} evictions in {numbers.span((row['last'] - row['first']).total_seconds())}:"


def _each(row: dict[str, Any]) -> list[tuple[datetime, str]]:
    """The single ones of a repeat, the newest first; of one alone its line has all."""
    each = sorted(((one["at"], f"{one['entries']:,} entries") for one in row["each"]), reverse=True)
    return each[:MOST_REPEATS] if len(each) > 1 else []
