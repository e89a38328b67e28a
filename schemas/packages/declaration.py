"""What a package of rules brings to the outside, declared in one place. Its rules and its state are in pipeline/rules/<name>."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from schemas.field import Table


@dataclass(frozen=True)
class Declaration:
    """All of it is optional. Fields of events that several packages read may be declared by each; the first one gives the place.

    `slots`: event type → payload fields that the rules read. `computed`: of those, the ones that are no column of bronze → the columns
    that they are computed of. `questions`: event type → yes-or-no questions of events whose slots are all taken → the columns that answer
    them. How, is in the package's module by_columns: it needs Arrow, a declaration does not.
    `settings`: Pulsar's configuration keys, in `broker_start` and `setting` alike → "flag" or "integer".
    `start_settings`: slot of `broker_start` → the two keys that share it, which no `setting` event changes.
    `enumerations`: columns of the tables whose text travels as its position in the tuple; `table.column` where tables differ.
    `needs`: table → event types without which nobody can know its rows: where a broker's collector has no point for one of them, rows are
    not complete (schemas/completeness.py).
    `title`: the question that its views and tables answer, a heading of docs/reference/by-question.md.
    `invariants`, `views`: names of files in pipeline/upkeep/quality/invariants and pipeline/query/views, in the order in which they are registered.
    """

    name: str
    title: str
    tables: tuple[Table, ...] = ()
    slots: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    computed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    questions: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    start_settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    enumerations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    invariants: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
