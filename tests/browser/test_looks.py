"""Every page in light and dark, wide and on a phone: no sideways scrolling, nothing wrong for axe-core, names with markup are text."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsed import EVIL_SUBSCRIPTION, EVIL_TOPIC
from chromium import axe_script
from looked_at import PHONE, WIDE, Visitor, is_wider_than_its_window
from pages import EVERY_KIND
from served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

SERIOUS = ("serious", "critical")


@pytest.fixture
def pictures(request: pytest.FixtureRequest) -> Path | None:
    """Where pictures of the pages are wanted."""
    found: Path | None = request.config.getoption("--pictures")
    return found


@pytest.mark.parametrize("width", [WIDE, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", EVERY_KIND)
def test_a_page_fits_and_is_readable(demo: Served, visitor: Visitor, pictures: Path | None, name: str, scheme: str, width: int) -> None:
    path, asked = EVERY_KIND[name]
    page = visitor.opens(demo, path, width=width, scheme=scheme, **asked)
    assert not is_wider_than_its_window(page)
    assert is_dark(page) == (scheme == "dark")
    if pictures:
        page.screenshot(path=pictures / f"{name}-{width}-{scheme}.png", full_page=True)
    open_folds(page)
    assert not is_wider_than_its_window(page)
    assert findings(page) == []


def test_a_fault_fits_and_is_readable(demo: Served, visitor: Visitor) -> None:
    page = visitor.opens(demo, "/subscription", width=PHONE, topic=EVIL_TOPIC * 20, subscription=EVIL_SUBSCRIPTION)
    assert page.locator("h1").inner_text() == "Not in this log."
    assert not is_wider_than_its_window(page)
    assert findings(page) == []
    # That status is an error of the console by itself.
    visitor.faults.clear()


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_names_that_are_markup_are_text(odd: Served, visitor: Visitor, width: int) -> None:
    page = visitor.opens(odd, width=width)
    link = page.locator("table.main .who a", has_text="onerror")
    assert link.inner_text() == '<img src=x onerror=alert(1)> / "><script>alert(1)</script>\\u202e'
    link.click()
    page.wait_for_url("**/subscription?**")
    assert EVIL_TOPIC.rpartition("/")[2] in page.locator(".crumb").inner_text()
    assert not is_wider_than_its_window(page)
    page.locator(".crumb a", has_text="onerror").click()
    page.wait_for_url("**/topic?**")
    assert "<img src=x onerror=alert(1)> has" in page.locator("h1").inner_text()
    assert not is_wider_than_its_window(page)
    assert page.locator("main img, main script").count() == 0


def findings(page: "Page") -> list[str]:
    """What axe-core holds for serious: its rule, and where."""
    # Its script is handed to the browser's driver: the page's policy refuses it, and no page has it.
    found: dict[str, Any] = page.evaluate(f"async () => {{ {axe_script()}; return await axe.run() }}")
    return [
        f"{one['id']}: {node['target']}: {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


def open_folds(page: "Page") -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")


def is_dark(page: "Page") -> bool:
    """Whether the ground is darker than the text."""
    ground, text = (page.evaluate(f"getComputedStyle(document.documentElement).{name}") for name in ("backgroundColor", "color"))
    return _sum(ground) < _sum(text)


def _sum(colour: str) -> int:
    return sum(int(part) for part in colour.partition("(")[2].rstrip(")").split(",")[:3])
