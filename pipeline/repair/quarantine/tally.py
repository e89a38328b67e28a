"""Judged lines counted: what a replay does, or would do."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.faults import BadConfig
from pipeline.ingest.event_ids import event_dates
from pipeline.repair.quarantine.judged_lines import EVENT, LINE_KEY, REJECTED, Key, keys_of

Document = dict[str, Any]
#: Of repaired lines that are still no events, so many are shown one by one.
MOST_SHOWN = 20
_PLACE = ("broker", "epoch", "seq")
_NEW_WORDS = (*LINE_KEY, "ingest_batch", "new_reason", "new_detail")


@dataclass
class Tally:
    """Lines by their state; those that stay by the reason that they have then; events by broker and date.

    `found`: repaired lines that are in quarantine. `still_rejected`: repaired texts that are no events. `told_anew`: rows that stay and
    of which the current parser says something else (LINE_KEY, ingest_batch, new_reason, new_detail), as far as it judged their own text.
    """

    states: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    dates: Counter[tuple[str, date]] = field(default_factory=Counter)
    found: set[Key] = field(default_factory=set)
    still_rejected: list[Document] = field(default_factory=list)
    told_anew: list[pa.RecordBatch] = field(default_factory=list)

    def add(self, lines: pa.RecordBatch) -> None:
        """Count a batch of judged lines. Raises BadConfig for a repaired text of another place than its rejected line."""
        state, is_repaired = lines["state"], pc.is_valid(lines["repaired_text"])
        self.states.update(state.to_pylist())
        is_event = pc.equal(state, EVENT)
        self._add_events(lines.filter(is_event))
        judged_as_it_was = pc.and_not(pc.equal(state, REJECTED), is_repaired)
        then = pc.if_else(judged_as_it_was, lines["new_reason"], lines["reason"])
        self.reasons.update(then.filter(pc.invert(is_event)).to_pylist())
        self._add_repaired(lines.filter(is_repaired))
        other = pc.or_(pc.not_equal(lines["reason"], lines["new_reason"]), pc.not_equal(lines["detail"], lines["new_detail"]))
        self.told_anew.append(lines.filter(pc.and_(judged_as_it_was, other)).select(_NEW_WORDS))

    def _add_events(self, lines: pa.RecordBatch) -> None:
        if not lines.num_rows:
            return
        events = events_of(lines)
        _refuse_other_places(lines, events)
        days = pa.array(event_dates(events), pa.int32()).cast(pa.date32())
        self.dates.update(zip(events["broker"].to_pylist(), days.to_pylist(), strict=True))

    def _add_repaired(self, lines: pa.RecordBatch) -> None:
        self.found.update(keys_of(lines))
        rejected = lines.filter(pc.equal(lines["state"], REJECTED))
        shown = rejected.select(["source_file", "source_line", "new_reason", "new_detail"])
        self.still_rejected += shown.rename_columns(["source_file", "source_line", "reason", "detail"]).to_pylist()

    def document(self) -> Document:
        """Its part of the document of a replay (docs/reference/json.md)."""
        most_first = sorted(self.reasons.items(), key=lambda item: (-item[1], item[0]))
        in_order = sorted(self.still_rejected, key=lambda line: (line["source_file"] or "", line["source_line"]))
        return {
            "reasons": dict(most_first),
            "still_rejected": in_order[:MOST_SHOWN],
            "dates": [{"broker": broker, "event_date": day, "events": count} for (broker, day), count in sorted(self.dates.items())],
        }


def events_of(lines: pa.RecordBatch) -> pa.RecordBatch:
    """The events (EVENT_TYPE) that lines of the state EVENT are."""
    events = lines["event"]
    return pa.RecordBatch.from_arrays(events.flatten(), names=[one.name for one in events.type])


def _refuse_other_places(lines: pa.RecordBatch, events: pa.RecordBatch) -> None:
    """A rejected line whose place could be read has it, and its lane has its tombstone. A text of another place repairs another line."""
    was, now = lines.select(_PLACE).to_pylist(), events.select(_PLACE).to_pylist()
    for number, (one, other) in enumerate(zip(was, now, strict=True)):
        if one["broker"] is not None and one != other:
            row = lines.slice(number, 1).to_pylist()[0]
            raise BadConfig(
                f"line {row['source_line']} of {row['source_file'] or 'a table'} is of broker {one['broker']}, epoch {one['epoch']}, "
                f"seq {one['seq']}; its text in --from is of broker {other['broker']}, epoch {other['epoch']}, seq {other['seq']}: "
                "nothing was changed"
            )
