"""Charts and folds: one cursor over all charts of a page, gaps of the log hatched, partitions and repeats that open."""

from looked_at import AMID, Visitor
from pages import BILLING
from served import Served

ORDERS = {"topic": "persistent://real/y/orders", "subscription": "billing"}


def test_one_cursor_over_all_charts_with_the_figures_of_each(demo: Served, visitor: Visitor) -> None:
    page = visitor.opens(demo, "/subscription", at=AMID, **BILLING)
    charts = page.locator("figure.ch")
    assert charts.count() == 3
    charts.nth(2).locator(".draw").hover(position={"x": 400, "y": 20})
    words = page.locator("figure.ch output").all_inner_texts()
    assert "topic limit (bytes)" in words[0]
    assert "come 70/s, go " in words[1]
    assert words[2].endswith("s")
    assert all(one.startswith("05:47:") for one in words), "local times"
    places = page.evaluate("[...document.querySelectorAll('.cur')].map(line => line.getBoundingClientRect().x)")
    assert len(set(places)) == 1
    height = page.locator("figure.ch").first.bounding_box()
    page.locator("h1").hover()
    assert page.locator("figure.ch output").all_inner_texts() == ["", "", ""]
    assert page.locator("figure.ch").first.bounding_box() == height, "nothing moves for the figures"


def test_gaps_of_the_log_are_hatched_and_no_line_runs_through_them(odd: Served, visitor: Visitor) -> None:
    page = visitor.opens(odd, "/subscription", **ORDERS)
    charts = page.locator("figure.ch")
    assert charts.count() == 3
    for chart in charts.all():
        assert chart.locator(".gap").count() == 1
        assert "events lost" in chart.locator("figcaption").inner_text()
    charts.nth(2).scroll_into_view_if_needed()
    gap = charts.nth(2).locator(".gap rect").first.bounding_box()
    lines = [line.bounding_box() for line in charts.nth(2).locator("polyline").all()]
    assert gap is not None
    assert len(lines) == 2
    assert all(line is not None and (line["x"] + line["width"] <= gap["x"] + 20 or line["x"] >= gap["x"] - 20) for line in lines)
    page.mouse.move(gap["x"] + gap["width"] / 2, gap["y"] + 10)
    assert "events are lost, for" in charts.nth(0).locator("output").inner_text()


def test_partitions_of_one_topic_are_one_line_that_opens(odd: Served, visitor: Visitor) -> None:
    page = visitor.opens(odd)
    unit = page.locator("table.main tbody", has_text="parts / fraud")
    assert unit.count() == 1
    assert unit.locator("tr:visible").count() == 1
    page.get_by_role("checkbox", name="3 partitions").first.focus()
    page.keyboard.press("Space")
    names = unit.locator("tr.part:visible .who a").all_inner_texts()
    assert sorted(names) == [f"parts-{number} / fraud" for number in range(3)]
    page.keyboard.press("j")
    unit.locator("tr.part .who a", has_text="parts-1").click()
    page.wait_for_url("**partition-1**")


def test_partitions_open_without_scripts(odd: Served, visitor: Visitor) -> None:
    page = visitor.opens(odd, scripts=False)
    page.locator("table.main tbody", has_text="parts / fraud").get_by_text("3 partitions").click()
    assert page.locator("tr.part:visible").count() == 3


def test_repeats_are_one_line_with_the_single_ones_in_its_fold(demo: Served, visitor: Visitor) -> None:
    page = visitor.opens(demo, at=AMID)
    fold = page.locator(".ev details", has_text="9 age evictions in 40")
    assert "lost 4,065 entries" in fold.locator("summary").inner_text()
    fold.locator("summary").click()
    assert fold.locator("li", has_text="entries").count() == 9
