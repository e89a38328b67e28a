"""Renders fold.py, the one pass over events, out of the packages' rules: `python -m generators` writes it.

Handing a package's stores to every rule at every event would cost more than the rules do (a reference count per array: 1.6 µs an event for
six calls with thirty arrays, measured). A loop that calls each rule with just what it asks for costs 14 ns, but somebody has to write it.
Bundles are made in the call: LLVM takes them apart again.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType

from pipeline.rules.package import Arena, Beside, Family, Package, Single, Store, asked_as
from pipeline.rules.packages import PACKAGES
from pipeline.rules.state import FEW, Layout
from schemas.events import CODES
from schemas.lane_columns import SLOT_FIELDS


@dataclass(frozen=True)
class Named:
    """A family of which an event may name a thing: its row's number, found by `column` and `owner` where `condition` holds, else made.

    `row` is the number as its rows are read by: never negative.
    """

    number: str
    row: str
    column: str
    condition: str
    owner: str
    made: str


#: Made on first sight.
FAMILIES = {
    "topics": Named("t", "at_t", "TOPIC_ID", "event[fields.TOPIC_ID] != 0", "0", "new_topic(broker, counts, event[fields.TOPIC_ID])"),
    "subscriptions": Named(
        "s",
        "at_s",
        "SUB_ID",
        "event[fields.SUB_ID] != 0",
        "event[fields.TOPIC_ID]",
        "new_subscription(broker, counts, t, event[fields.SUB_ID])",
    ),
    "connections": Named(
        "c", "at_c", "CONN", "traits & CONNECTED", "0", "new_connection(connections, connections_index, counts, event[fields.CONN])"
    ),
}
#: Events that name a connection.
CONNECTED = tuple(event for event, slots in SLOT_FIELDS.items() if "conn" in slots)
#: Events that a cursor must be there for: one that is not open is met, unless it is known to be gone.
MEETING = ("ack", "broker_ack", "mark_delete", "dispatch", "consumer_open", "consumer_close")
#: Of these, the ones that say nothing if it is gone.
OF_CURSOR = ("ack", "broker_ack", "mark_delete")
#: The most frequent events are asked for first.
FREQUENT = ("publish", "dispatch", "read", "ack", "mark_delete")
EVENTS = (*FREQUENT, *(name for name in CODES if name not in FREQUENT), "tombstone")


def _declared(name: str) -> set[str]:
    """Events that any package's rules have in this list."""
    return {event for package in PACKAGES for event in getattr(package.rules, name, ())}


#: Of which events each trait is: those that have a rule, that may end much or report something, and as above.
TRAITS: dict[str, Callable[[], Iterable[str]]] = {
    "RULED": lambda: (event for event in EVENTS if list(_rules_of(event))),
    "ENDING": lambda: _declared("ENDING"),
    "EMITTING": lambda: _declared("EMITTING"),
    "MEETING": lambda: MEETING,
    "OF_CURSOR": lambda: OF_CURSOR,
    "CONNECTED": lambda: CONNECTED,
}

_HEAD = '''"""The one pass: events of one broker in `seq` order, applied to its state. Rendered: do not edit (render.py).

Invariant: an event either is applied whole or not at all. Before each event the fold checks that the stores have room for whatever it could
add; if not it stops there, and its caller makes room and goes on from the same event.
"""
'''


def rendered() -> str:
    """The text of fold.py."""
    layout = Layout(PACKAGES)
    body = [*_fold(layout)]
    imports = [
        "from typing import Any",
        "",
        "from pipeline.rules import fields",
        "from pipeline.rules.array import Array",
        *_rule_imports("\n".join(body)),
        *_bundle_imports("\n".join(body)),
        "from pipeline.rules.broker.connections import new_connection",
        "from pipeline.rules.blocks import fits_one_more",
        "from pipeline.rules.broker.cursor_life import is_gone, meet_cursor",
        "from pipeline.rules.broker.topics import meet_topic, new_subscription, new_topic",
        "from pipeline.rules.compiled import compiled",
        "from pipeline.rules.index import EMPTY, find",
        "from pipeline.rules.records import Record",
        "from pipeline.rules.segments import has_spare",
        "from pipeline.rules.attributes import bits_by_code",
        "from schemas.events import CODES, TOMBSTONE_CODE",
    ]
    names = [f'{_constant(event)} = CODES["{event}"]' for event in EVENTS if event != "tombstone" and list(_rules_of(event))]
    constants = [
        *names,
        "TOMBSTONE = TOMBSTONE_CODE",
        f"{', '.join(TRAITS)} = {', '.join(str(1 << bit) for bit in range(len(TRAITS)))}",
        "#: What is so of an event of each code. Comparing the code with thirty others took up to a tenth of the fold's time.",
        "TRAITS = bits_by_code(",
        *(f"    ({trait}, ({', '.join(sorted(map(_constant, events())))}))," for trait, events in TRAITS.items()),
        ")",
    ]
    return "\n".join([_HEAD, *sorted_imports(imports), "", *constants, "", "", *body]) + "\n"


def sorted_imports(lines: list[str]) -> list[str]:
    """Standard library, then ours, each in order."""
    ours = sorted(line for line in lines if line.startswith(("from pipeline", "from schemas")))
    return [lines[0], "", *ours]


def _constant(event: str) -> str:
    return event.upper()


def _rule_imports(body: str) -> list[str]:
    return [
        f"from {package.rules.__name__.rpartition('.')[0]} import rules as {package.name}_rules"
        for package in PACKAGES
        if f"{package.name}_rules." in body
    ]


def _bundle_imports(body: str) -> list[str]:
    bundles = [bundle for package in PACKAGES for bundle in package.bundles]
    return [f"from {bundle.__module__} import {bundle.__name__}" for bundle in bundles if f"{bundle.__name__}(" in body]


def _rules_of(event: str) -> Iterator[tuple[Package, str]]:
    """(package, rule) in the order in which they are called: all `before_…`, then the broker's `on_…`, then the others'."""
    for when in ("before", "on"):
        for package in PACKAGES:
            if hasattr(package.rules, f"{when}_{event}"):
                yield package, f"{when}_{event}"


def _python_function(rules: ModuleType, name: str) -> Callable[..., object]:
    rule = getattr(rules, name)
    return getattr(rule, "py_func", rule)


class _Arguments:
    """How fold.py names what a rule asks for."""

    def __init__(self, layout: Layout) -> None:
        self.hoisted: dict[str, str] = {}
        self._given = {name: name for name in ("event", "counts", *(family.number for family in FAMILIES.values()))}
        for package in layout.packages:
            self._give(package.name, package.name)
            for store in package.stores:
                self._add(layout, package.name, store)
        for bundle in (bundle for package in layout.packages for bundle in package.bundles):
            self._give(asked_as(bundle), f"{bundle.__name__}({', '.join(self._given[field] for field in bundle._fields)})")

    def call(self, package: Package, rule: str) -> str:
        """The call of a rule. Raises KeyError for an argument that nothing is called."""
        asked = inspect.signature(_python_function(package.rules, rule)).parameters
        return f"{package.name}_rules.{rule}({', '.join(self._given[name] for name in asked)})"

    def _add(self, layout: Layout, package: str, store: Store) -> None:
        if isinstance(store, Single):
            self.hoisted[f"{store.name}_row"] = f"{package}.{store.name}"
            self._give(store.name, f"{store.name}_row[0]")
            return
        if isinstance(store, Family | Beside) and layout.family_of(store.name) in FAMILIES:
            self._give(store.row, f"{store.name}[{FAMILIES[layout.family_of(store.name)].row}]")
        if isinstance(store, Family):
            self._array(package, f"{store.name}_index", f"{store.name}_index")
        if isinstance(store, Arena):
            self._array(package, f"{store.name}_ends", f"{store.name}_ends")
        self._array(package, store.name, store.name)

    def _array(self, package: str, field: str, name: str) -> None:
        self.hoisted[name] = f"{package}.{field}"
        self._give(field, name)

    def _give(self, asked: str, name: str) -> None:
        if asked in self._given:
            raise ValueError(f"rules could ask for two things as {asked}")
        self._given[asked] = name


def _fold(layout: Layout) -> Iterator[str]:
    arguments = _Arguments(layout)
    loop = [*_loop(layout, arguments)]
    text = "\n".join(loop)
    yield "@compiled"
    yield "def fold(stores: Any, counts: Record, events: Array, start: int) -> int:"
    yield '    """Apply `events[start:]` (int64 [n, LANE_COLUMNS], in order). `stores`: of each package a tuple.'
    yield ""
    yield "    Returns the position of the first event that was not applied: n, or where room ran out."
    yield '    """'
    for package in PACKAGES:
        yield f"    {package.name} = stores.{package.name}"
    for name, source in arguments.hoisted.items():
        if _is_used(name, text):
            yield f"    {name} = {source}"
    owners = {store.name: package.name for package in PACKAGES for store in package.stores}
    for name in (*(family.name for family in layout.families), *(arena.name for arena in layout.arenas)):
        yield f"    {name}_capacity = len({owners[name]}.{name})"
    yield "    lists_capacity = min("
    for store in layout.lists:
        yield f"        len({owners[store.name]}.{store.name}),"
    yield "    )"
    yield from loop
    yield "    return events.shape[0]"


def _is_used(name: str, text: str) -> bool:
    return re.search(rf"(?<![.\w]){name}\b", text) is not None


def _loop(layout: Layout, arguments: _Arguments) -> Iterator[str]:
    in_lists = "max(" + ", ".join(f"counts.{name}" for name in layout.counted if name not in {f.name for f in layout.families}) + ")"
    everything = " + ".join(f"counts.{family.name}" for family in layout.families)
    yield "    for position in range(start, events.shape[0]):"
    yield "        event = events[position]"
    yield "        code = event[fields.TYPE]"
    for package in PACKAGES:
        if hasattr(package.rules, "is_due"):
            yield f"        if {arguments.call(package, 'is_due')}:"
            yield f"            if {in_lists} + 2 * ({everything}) + 2 > lists_capacity:"
            yield "                return position"
            yield f"            {arguments.call(package, 'when_due')}"
    yield "        traits = TRAITS[code]"
    yield "        if not traits & RULED:"
    yield "            continue"
    full = [f"counts.{family.name} >= {family.name}_capacity" for family in layout.families]
    full += [f"not has_spare({arena.name}_capacity, {arena.name}_ends)" for arena in layout.arenas]
    full += [f"not fits_one_more({pool.name})" for pool in layout.pools]
    yield f"        if {' or '.join(full)}:"
    yield "            return position"
    for family in FAMILIES:
        yield from _found(family, arguments)
    yield "        # Of a row's number that may be negative numba asks at each access whether it counts from the end."
    rows, numbers = ", ".join(named.row for named in FAMILIES.values()), ", ".join(f"max({named.number}, 0)" for named in FAMILIES.values())
    yield f"        {rows} = {numbers}"
    yield f"        if traits & ENDING and {in_lists} + 2 * topics[at_t].subscriptions + {FEW} > lists_capacity:"
    yield "            return position"
    yield f"        if traits & EMITTING and {in_lists} + {FEW} > lists_capacity:"
    yield "            return position"
    yield "        if traits & MEETING and cursors[at_s].open == 0:"
    yield "            if not is_gone(cursors[at_s], settings_row[0]):"
    yield "                meet_topic(topics[at_t])"
    yield "                meet_cursor(broker, t, s, event[fields.TS])"
    yield "            elif traits & OF_CURSOR:"
    yield "                continue"
    word = "if"
    for event in EVENTS:
        rules = [*_rules_of(event)]
        if not rules:
            continue
        yield f"        {word} code == {_constant(event)}:"
        word = "elif"
        for package, rule in rules:
            if hasattr(package.rules, f"needs_{rule}"):
                yield f"            if {arguments.call(package, f'needs_{rule}')}:"
                yield f"                {arguments.call(package, rule)}"
            else:
                yield f"            {arguments.call(package, rule)}"


def _found(family: str, arguments: _Arguments) -> Iterator[str]:
    """The event's row of a family, made if it is not there."""
    named = FAMILIES[family]
    yield f"        {named.number} = EMPTY"
    yield f"        if {named.condition}:"
    yield f"            {named.number} = find({family}_index, {family}, event[fields.{named.column}], {named.owner})"
    yield f"            if {named.number} == EMPTY:"
    yield f"                {named.number} = {named.made}"
    singular = family[:-1]
    for package in PACKAGES:
        if hasattr(package.rules, f"on_new_{singular}"):
            yield f"                {arguments.call(package, f'on_new_{singular}')}"
