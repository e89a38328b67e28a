"""Compile the rules once, into numba's cache, so that no worker process has to. tools/environment/compiling.py does it on all cores.

The fold alone takes all of one core's time: numba compiles what it calls first. So the rules it calls are listed here with the types of
their arguments. Several processes compile them one by one. The fold then finds them in the cache.
"""

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.blocks import clear
from pipeline.rules.compiled import numba
from pipeline.rules.model import LAYOUT, BrokerModel
from pipeline.rules.outcome import Window
from pipeline.rules.package import Single, Store, asked_as
from pipeline.rules.packages import PACKAGES
from pipeline.rules.row_scans import glance, rows_of_columns, until_clock_step, until_next_window
from pipeline.rules.state import BrokerState
from schemas.events import CODES
from schemas.lane_columns import COLUMN, LANE_COLUMNS


def warm_up() -> None:
    """Compile the fold and all else that Python calls, each for its one signature; what is in the cache is read from there."""
    event = _one_event()
    event[0, COLUMN["type_code"]], event[0, COLUMN["topic_id"]] = CODES["topic_load"], 1
    model = BrokerModel()
    model.fold(event)
    compile_ends(model.arrays())


def compile_ends(arrays: dict[str, Array] | None = None) -> None:
    """Compile what Python calls besides the fold, on a model of these arrays (none: of a broker of which nothing is known)."""
    model = BrokerModel(arrays)
    model.probe(0, 0)
    model.has_running_time(0)
    model.step_clock(0, 0, 0)
    model.end_log(0, 0, 0)
    model.end_epoch(0, 0, 0)
    for _ in model.close_window(Window(0, 0, 1, 0, 0, 0, 0, 0, 0)):
        pass
    broker = model.state.group("broker")
    clear(broker.topics["marks"][0], broker.marks)  # of a topic and of a cursor that went long ago
    clear(broker.cursors["words"][0], broker.words)
    rows = _one_event()
    glance(rows)
    until_clock_step(rows, 0, 0)
    until_next_window(rows, 0, 0, 1)
    rows_of_columns(np.frombuffer(bytes(8), dtype=np.int64).reshape(1, 1), np.zeros(1, dtype=np.int64))


#: How names of rules begin.
_MOMENTS = ("before_", "on_", "needs_", "is_due", "when_due")


def rules_of_the_fold() -> list[tuple[Any, tuple[Any, ...]]]:
    """(rule, numba's types of its arguments) for every rule of a package that the fold calls. A rule asks for arguments by name."""
    types = _types_by_name(BrokerState(LAYOUT))
    # A rule may have two names: one for each moment at which it is called.
    named = ((package.rules.__name__.rpartition(".")[0], rule) for package in PACKAGES for rule in vars(package.rules).values())
    rules = dict.fromkeys(rule for folder, rule in named if _is_rule(rule, folder))
    return [(rule, tuple(types[name] for name in inspect.signature(rule.py_func).parameters)) for rule in rules]


def _is_rule(value: Any, folder: str) -> bool:
    """Whether it is compiled, of this package, and named after its moment; all else only its neighbours call."""
    function = getattr(value, "py_func", None)
    return function is not None and function.__module__.startswith(f"{folder}.") and function.__name__.startswith(_MOMENTS)


def _types_by_name(state: BrokerState) -> dict[str, Any]:
    """The type of whatever a rule may ask for (package.py lists it)."""
    types = {"event": numba.typeof(_one_event()[0]), "counts": numba.typeof(state.counts), **dict.fromkeys("tsc", numba.int64)}
    for package in PACKAGES:
        group = state.group(package.name)
        types[package.name] = numba.typeof(group)
        types |= {name: numba.typeof(getattr(group, name)) for name in group._fields}
        types |= {row: types[store].dtype for store, row in _rows(package.stores)}
    for bundle in (bundle for package in PACKAGES for bundle in package.bundles):
        types[asked_as(bundle)] = numba.types.BaseTuple.from_types([types[field] for field in bundle._fields], bundle)
    return types


def _rows(stores: tuple[Store, ...]) -> Iterator[tuple[str, str]]:
    """(store, how a rule asks for one row of it); a store of one row is never asked for whole."""
    for store in stores:
        if isinstance(store, Single) or hasattr(store, "row"):
            yield store.name, store.row


def _one_event() -> Any:
    return np.zeros((1, len(LANE_COLUMNS)), dtype=np.int64)
