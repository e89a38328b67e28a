"""The routes of the pages: HTML with a strict policy, its static files, and news of changes."""

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from pipeline.diagnosis.evidence import NoAnswer
from pipeline.faults import BadConfig, BadWarehouse
from pipeline.query.room import ReadingRoom
from pipeline.serving.answers import Answers, Overloaded, TooLong
from pipeline.serving.asked import asked_of, key_of
from pipeline.serving.page.broker_page import broker_page
from pipeline.serving.page.events import MOST_LISTENERS, PATH, Listeners
from pipeline.serving.page.frame import OF_TIME
from pipeline.serving.page.html import STATIC, rendered, static, version
from pipeline.serving.page.log_page import log_page
from pipeline.serving.page.now_page import FILTERS, now_page
from pipeline.serving.page.subscription_page import subscription_page
from pipeline.serving.page.topic_page import topic_page
from pipeline.serving.page.what_if_page import NAMES, what_if_page
from pipeline.serving.responses import response_of

#: From a room and the query of a request to HTML.
Page = Callable[[ReadingRoom, Mapping[str, str]], str]
#: Path → its page and the names that its query may have, besides those of time.
PAGES: Mapping[str, tuple[Page, frozenset[str]]] = {
    "/": (now_page, FILTERS),
    "/topic": (topic_page, frozenset({"topic", "broker"})),
    "/broker": (broker_page, frozenset({"broker"})),
    "/log": (log_page, frozenset()),
    "/what-if": (what_if_page, NAMES),
    "/subscription": (subscription_page, frozenset({"topic", "subscription", "broker"})),
}
#: Nothing of another place, nothing inline: a name with markup that got through would still do nothing.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
#: Of each page.
HEADERS = {"Content-Security-Policy": POLICY}
_FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_NOT_NOW = (BadWarehouse, Overloaded, TooLong)


def page_routes(answers: Answers) -> list[Route]:
    """All routes of the pages."""
    listeners = Listeners(answers, MOST_LISTENERS)

    async def news(_: Request) -> Response:
        listeners.admit()  # Overloaded: the application's handler answers
        return StreamingResponse(listeners.news(), media_type="text/event-stream")

    pages = [Route(path, _page(answers, page, names | OF_TIME)) for path, (page, names) in PAGES.items()]
    return [*pages, Route("/static/{version}/{name}", _static), Route(PATH, news)]


def _page(answers: Answers, page: Page, names: frozenset[str]) -> Callable[[Request], Awaitable[Response]]:
    async def answered(request: Request) -> Response:
        try:
            asked = asked_of(request, names)
            answer = await answers.of(key_of(request.url.path, asked), lambda room: page(room, asked))
        except NoAnswer as fault:
            return _fault(404, "Not in this log.", fault)
        except BadConfig as fault:
            return _fault(400, "This question has a fault.", fault)
        except _NOT_NOW as fault:
            return _fault(503, "No answer can be given now.", fault)
        return response_of(request, answer, "text/html; charset=utf-8", HEADERS)

    return answered


def _fault(status: int, title: str, fault: Exception) -> Response:
    # A page that asks again by itself needs a script; a reader has the key for it.
    headers = HEADERS | ({"Retry-After": "1"} if status == 503 else {})
    return Response(rendered("fault.html", title=title, reason=str(fault)), status, headers, "text/html; charset=utf-8")


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC or request.path_params["version"] != version():
        return _fault(404, "Not here.", BadConfig("no such file; load the page anew"))
    return Response(static(name), media_type=STATIC[name], headers=HEADERS | _FOR_EVER)
