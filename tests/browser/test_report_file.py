"""The file of `report`: the same look as the pages, readable, with tables that are scanned, and on paper."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from looked_at import AMID, PHONE, WIDE, Visitor, is_wider_than_its_window
from served import Served
from test_looks import findings, is_dark, open_folds

from pipeline.pages.report.page import page as report_page
from pipeline.pages.report.story import story
from pipeline.query.room import ReadingRoom


def written(server: Served, folder: Path) -> Path:
    """The report of the incident until amid it."""
    told = story(ReadingRoom(server.answers.warehouse), None, datetime.fromisoformat(AMID), timedelta(minutes=30))
    (folder / "incident.html").write_text(report_page(told), encoding="utf-8")
    return folder / "incident.html"


@pytest.fixture(scope="module")
def file(demo: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(demo, tmp_path_factory.mktemp("report"))


@pytest.mark.parametrize("width", [WIDE, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_file_fits_and_is_readable(file: Path, visitor: Visitor, scheme: str, width: int) -> None:
    page = visitor.opens_file(file, width=width, scheme=scheme)
    assert not is_wider_than_its_window(page)
    assert is_dark(page) == (scheme == "dark")
    open_folds(page)
    assert not is_wider_than_its_window(page)
    assert findings(page) == []


def test_verdicts_are_a_table_whose_rows_lead_to_sections_and_evidence(file: Path, visitor: Visitor) -> None:
    page = visitor.opens_file(file)
    assert page.locator(".verdicts th").all_inner_texts() == ["Subscription", "Status", "Cause", "Share", "Backlog", "Since"]
    row = page.locator(".verdicts tr", has_text="orders / billing")
    assert row.locator("td").nth(1).inner_text() == "Held back"
    assert row.locator("td").all_inner_texts()[2:] == ["the topic's limiter of bytes", "100%", "2,982", "11:46:59"]
    row.locator("a").click()
    section = page.locator("section:target")
    assert section.locator("figure.ch").count() == 3
    assert section.locator("figure.ch .tx").count() > 2
    section.get_by_text("Evidence").click()
    assert page.locator("section:target tbody tr").count() > 0


def test_on_paper_it_is_light_and_folds_are_open(file: Path, visitor: Visitor) -> None:
    page = visitor.opens_file(file, scheme="dark")
    page.emulate_media(media="print")
    assert not is_dark(page)
    assert page.locator(".ev li", has_text="lost 250 entries").first.is_visible()


def test_names_that_are_markup_are_text_and_gaps_are_hatched(odd: Served, visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.opens_file(written(odd, tmp_path), width=PHONE)
    assert '<img src=x onerror=alert(1)> / "><script>alert(1)</script>\\u202e' in page.locator("main").inner_text()
    assert page.locator("img, script").count() == 0
    assert page.locator("figure.ch .gap").count() > 0
    assert "The log has gaps" in page.locator(".lead").first.inner_text()
    assert not is_wider_than_its_window(page)
