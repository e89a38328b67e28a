"""fold.py is what the packages' rules render to, and what a rule may ask for is checked."""

from generators.fold import FOLD, formatted
from pipeline.rules.packages import PACKAGES


def test_the_fold_is_rendered() -> None:
    assert FOLD.read_text(encoding="utf-8") == formatted(), "again: python -m generators"


def test_every_rule_that_has_the_name_of_an_event_is_called() -> None:
    text = FOLD.read_text(encoding="utf-8")
    for package in PACKAGES:
        for name in dir(package.rules):
            if name.startswith(("on_", "before_", "is_due", "when_due")):
                assert f"{package.name}_rules.{name}(" in text, f"{package.name}: {name} is no event's"
