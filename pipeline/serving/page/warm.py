"""The questions that pages ask, before anybody does: who comes first need not wait until views are made."""

from pipeline.query.room import ReadingRoom
from pipeline.serving.page.now_page import now_page
from pipeline.serving.page.subscription_page import subscription_page
from pipeline.serving.page.topic_page import topic_page


def warm_up(room: ReadingRoom) -> str:
    """The pages of now, of a subscription and of its topic, if there is one. Raises as they do."""
    pages = [now_page(room, {})]
    named = room.rows("SELECT topic, subscription FROM why ORDER BY status = 'unknown', topic, subscription LIMIT 1")
    for one in named:
        pages += [subscription_page(room, one), topic_page(room, {"topic": one["topic"]})]
    return "".join(pages)
