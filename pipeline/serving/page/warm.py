"""The questions that pages ask, before anybody does: who comes first need not wait until views are made."""

import logging

from pipeline.query.room import ReadingRoom
from pipeline.serving.answers import Answers
from pipeline.serving.asked import key_of
from pipeline.serving.page.now_page import now_page
from pipeline.serving.page.subscription_page import subscription_page
from pipeline.serving.page.topic_page import topic_page

_LOG = logging.getLogger(__name__)


async def warm_up(answers: Answers) -> None:
    """Make the page Now, which is kept for its first reader; then pages of a subscription and of its topic, if there is one.

    One after the other, in one thread: others stay free, and need not translate its statements anew. A fault is told to whoever asks then.
    """
    await answers.changed.wait()  # the first look at the tables: what was made before would not be kept
    try:
        await answers.of(key_of("/", {}), lambda room: now_page(room, {}))
        await answers.of("warm-up", _pages_of_one)
    except Exception as fault:  # noqa: BLE001  # any kind: the first reader asks the same and gets it
        _LOG.debug("not warm: %s", fault)


def _pages_of_one(room: ReadingRoom) -> str:
    named = room.rows("SELECT topic, subscription FROM why ORDER BY status = 'unknown', topic, subscription LIMIT 1")
    return "".join(subscription_page(room, one) + topic_page(room, {"topic": one["topic"]}) for one in named)
