"""What a package of rules declares, in one place: the state it keeps, and the rules that events reach. packages.py lists the packages.

What it brings to the outside (tables, slots, settings, enumerations) is declared in schemas/packages, under the same name.

A rule is a compiled function of `RULES` with the event in its name: `before_<event type>` before the broker's own state changes,
`on_<event type>` after. Its arguments are asked for by name, and fold.py (rendered) hands them over:

* `event`: the lane row. `t`, `s`, `c`: numbers of the event's topic, subscription, connection.
* the name of a store's row (`topic`, `cursor`): that row of the event's topic, subscription or connection; of a Single its one row.
* the name of a store (`ledgers`), of an arena's ends (`ledgers_ends`), of a family's index (`topics_index`). A pool is one argument.
* the name of a bundle (`limiters` for `Limiters`): a tuple of things that can be asked for, which belong together and go from rule to rule
  together. Its package declares it. It is taken apart where the rule is compiled, so it costs what its fields cost.
* the name of a package (`broker`): all its stores as one tuple. Every array in it is seven words on the stack, so rare events only.
* `counts`: rows in use of every family and list.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol, TypeAlias

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.outcome import Rows, Window
from pipeline.rules.records import Record


@dataclass(frozen=True)
class Single:
    """One row. `kept`: it belongs to the state; else it is scratch space that every rule fills before it reads."""

    name: str
    kind: np.dtype[Any]
    kept: bool = True
    first: tuple[tuple[str, int], ...] = ()  # what it begins with, where that is not 0

    @property
    def row(self) -> str:
        """How a rule asks for it."""
        return self.name


@dataclass(frozen=True)
class Family:
    """A row for each thing of a kind, found by `id` and `owner`; `row` is how a rule asks for the event's one."""

    name: str
    row: str
    kind: np.dtype[Any]


@dataclass(frozen=True)
class Beside:
    """More of each thing of a family: row k belongs to row k of `of`."""

    name: str
    row: str
    kind: np.dtype[Any]
    of: str


@dataclass(frozen=True)
class Arena:
    """Lists of unknown length (segments.py): `segment` is the field of `of`'s rows that owns them."""

    name: str
    kind: np.dtype[Any]
    of: str
    segment: str


@dataclass(frozen=True)
class Pool:
    """Sorted lists of unknown length that rows are put into anywhere (blocks.py): `segment` is the field of `of`'s rows that owns them.

    `kind` has the fields `ledger` and `entry`, which order the rows. Rules get all of it as one `Blocks`.
    """

    name: str
    kind: np.dtype[Any]
    of: str
    segment: str


@dataclass(frozen=True)
class Listed:
    """Rows on their way out. With a `table` they leave after every fold; else they stay until their package takes them (`kept`)."""

    name: str
    kind: np.dtype[Any]
    table: str = ""
    #: Shares the count of another list: row k belongs to row k there.
    beside: str = ""

    @property
    def kept(self) -> bool:
        """Whether the rows belong to the state."""
        return not self.table


Store = Single | Family | Beside | Arena | Pool | Listed
#: A class made by NamedTuple: nothing types these classes as such.
Bundle: TypeAlias = Any


def asked_as(bundle: Bundle) -> str:
    """How a rule asks for a bundle: `LimiterUses` as `limiter_uses`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", bundle.__name__).lower()


class State(Protocol):
    """The state as a package's Python side sees it (state.py)."""

    def group(self, package: str) -> Any:
        """All stores of a package, by name."""

    @property
    def counts(self) -> Record:
        """Rows in use of every family and list."""


@dataclass(frozen=True)
class Package:
    """`version` is raised when the meaning of its state changes, and neither a name nor a type does (state_layout.py)."""

    name: str
    version: int
    stores: tuple[Store, ...]
    rules: ModuleType
    ends: "Ends"
    #: Named tuples: each field has the name of what a rule may ask for, of any package.
    bundles: tuple[Bundle, ...] = ()


class Ends:
    """What a package does where no event is: at borders of windows, at the ends of logs and epochs. Nothing, unless overridden."""

    def close_window(self, state: State, window: Window) -> Iterable[Rows]:
        """Rows of the window; its counters start again."""
        return ()

    def has_running_time(self, state: State, until_ns: int) -> bool:
        """Whether a window without any event must be closed too, because something lasts into it (such as a blocked read)."""
        return False

    def step_clock(self, state: State, ts_us: int, ns: int, seq: int) -> None:
        """The broker's wall clock was set: from event `seq` on, which comes next, (ts_us, ns) is one instant."""

    def end_epoch(self, state: State, ts_us: int, ns: int) -> None:
        """The broker process is gone; all topics were unloaded before."""

    def end_log(self, state: State, ts_us: int, ns: int) -> None:
        """Nothing more will come after (ts_us, ns), though the process may live."""

    def waits(self, state: State, before_us: int) -> bool:
        """Whether a row of a time before `before_us` may still come, though that time is over."""
        return False

    def keeps(self, state: State) -> dict[str, "np.ndarray[Any, np.dtype[np.bool_]]"]:
        """Per family, which of its rows in use have a meaning: bool [rows]. A row that no package keeps is dropped at saving."""
        return {}

    def renumber(self, state: State, new_rows: dict[str, Array]) -> None:
        """Rows of families moved: `new_rows[family][k]` is where row k is now (−1: dropped; so is −1 itself, its last place)."""
