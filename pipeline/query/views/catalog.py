"""The views: their order, their queries, and what a statement names."""

import re
from functools import cache
from importlib.resources import files

from pipeline.query.views.inlined import with_views_over
from pipeline.query.views.outpaced import with_outpaced
from pipeline.query.views.own_kinds import with_own_kinds
from pipeline.query.views.shut_out import with_shut_out
from pipeline.query.views.status_words import with_status_words
from pipeline.query.views.step_rates import with_rates_of_steps
from schemas.packages import PACKAGES
from schemas.tables import TABLES

#: In the order in which they are registered: a view may use tables and views before it. One `<view>.sql` beside this file each.
VIEWS = (
    *PACKAGES[0].views,
    "newest_windows",
    "newest_events",
    "open_logs",
    *(view for package in PACKAGES[1:] for view in package.views),
    "log_balance",
    "log_health",
    "runs",
    "micro_batches",
)

#: A row per broker, or broker and epoch, which many other views name: the reading room computes each once, not wherever it is named.
SMALL_VIEWS = ("brokers", "newest_windows", "newest_events", "open_logs", "check_intervals")


@cache
def sql_of(view: str) -> str:
    """The view's query, with the comment block that explains it. Read as a resource: the code may be in a zip."""
    text = files("pipeline.query.views").joinpath(f"{view}.sql").read_text(encoding="utf-8")
    return with_views_over(with_own_kinds(with_status_words(with_rates_of_steps(with_outpaced(with_shut_out(text))))), sql_of)


def question(view: str) -> str:
    """The question that the view answers: the first line of its comment block."""
    return sql_of(view).partition("\n")[0].removeprefix("-- ")


def named_in(statement: str) -> list[str]:
    """Tables and views whose names are words of the statement, and what the queries of these views name; as `register` orders them."""
    found: set[str] = set()
    texts = [statement]
    while texts:
        words = set(re.findall(r"\w+", texts.pop().lower()))
        new = [name for name in all_names() if name in words and name not in found]
        found.update(new)
        texts += [re.sub(r"--.*", "", sql_of(name)) for name in new if name in VIEWS]
    return [name for name in all_names() if name in found]


def all_names() -> list[str]:
    """Tables, then views, in the order in which they are registered."""
    return [*(table.name for table in TABLES), *VIEWS]
