"""A test of a module of the rules is found by its name, or the module stands here with the reason why there is none."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULES = ROOT / "pipeline/rules"
#: Rows, numbers of columns and declarations: nothing in them can fail but through those who use them.
DECLARATIONS = {"__init__", "package", "layout", "fields", "rows"}
#: Why a module has no test file of its name, and which modules that is so for.
REASONS = {
    "It hands an event, or the passing of a border, to other rules: the lane's tests compare its tables with a bookkeeper's": (
        "*/rules", "*/ends", "*/window_end", "throttle/reads", "throttle/closing", "channel/closing", "channel/due_timers",
        "channel/writability", "broker/topics", "broker/cursor_life", "broker/dispatchers", "broker/ack_rules", "broker/state_rules",
        "backlog/decisions",
        "cause/rare_events", "cause/caps", "cause/charging", "cause/judging", "cause/lives", "cause/reads", "cause/repeats",
        "cause/stalls", "cause/stretch", "cause/waiting", "cause/waking",
    ),
    "It names types or calls what is tested, and decides nothing": (
        "array", "outcome", "packages", "cause/case", "channel/bundles", "channel/transitions", "replay/kinds",
    ),
    "All tests run through it: the model, and how it is warmed up": ("model", "warm_up"),
    "It is rendered, and the rendering is tested": ("fold",),
}  # fmt: skip
LISTED = {name for names in REASONS.values() for name in names}
MODULES = sorted(
    str(path.relative_to(RULES).with_suffix("")) for path in RULES.rglob("*.py") if path.stem not in DECLARATIONS
)  # fmt: skip


def is_listed(module: str) -> bool:
    """By itself or, as all modules of its name, by `*/name`."""
    return module in LISTED or f"*/{Path(module).name}" in LISTED


def names_of_tests(module: str) -> set[str]:
    """What its tests may be called: of two modules of one name the second says its package."""
    name = Path(module).name
    is_first = module == next(each for each in MODULES if Path(each).name == name)
    return {f"test_{module.replace('/', '_')}.py", *([f"test_{name}.py"] if is_first else [])}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_a_test_of_its_name_or_a_reason(module: str) -> None:
    has_tests = any((ROOT / "tests/rules" / name).exists() for name in names_of_tests(module))
    assert has_tests != is_listed(module), "it has a reason and a test" if has_tests else "no test, and no reason"


def test_the_list_names_modules_that_exist() -> None:
    known = {*MODULES, *(f"*/{Path(module).name}" for module in MODULES)}
    assert LISTED - known == set()
