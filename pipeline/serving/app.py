"""The routes of `serve`. Each is a GET that reads. A wrong question, or one that has no answer now, gets one line of JSON."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from pipeline import VERSION
from pipeline.diagnosis.evidence import NoAnswer
from pipeline.faults import BadConfig, BadWarehouse
from pipeline.query.room import ReadingRoom
from pipeline.serving import schemas
from pipeline.serving.admin.routes import admin_routes
from pipeline.serving.answers import WORTH_GZIP_BYTES, Answers, Overloaded, TooLong
from pipeline.serving.asked import asked_of, key_of
from pipeline.serving.clean_metrics.text import OPEN_METRICS, PROMETHEUS, USUAL_SERIES_PER_METRIC, clean_text
from pipeline.serving.documents import explain_document, readiness_document, why_document
from pipeline.serving.metrics.text import metrics_text
from pipeline.serving.openapi import Asked, Documented, openapi
from pipeline.serving.page.routes import page_routes
from pipeline.serving.page.warm import warm_up
from pipeline.serving.responses import response_of
from pipeline.serving.scale import scale_document
from pipeline.serving.what_if import right_size_document, what_if_document
from pipeline.visible import document_json
from pipeline.what_if.changes import KEYS

_TOPIC = {"topic": "the topic, as persistent://shop/eu/orders", "broker": "its broker, where several have it"}
_SPAN = {"from": "compare from here, ISO 8601 with its zone", "to": "and up to here"}
_AT = {"at": "an instant as ISO 8601 with its zone; without it: now"}
#: Path → how it is answered. `/v1/openapi.json` describes those of `/v1`.
DOCUMENTS: dict[str, Documented] = {
    "/v1/why": Documented(
        why_document, "Why each subscription is behind, the largest backlog × time first", schemas.WHY,
        {"all": "true: also those that are well", **_AT},
    ),
    "/v1/explain": Documented(
        explain_document, "What holds a subscription, or a topic, since when, and what to do", schemas.EXPLAIN,
        {**_TOPIC, "subscription": "a subscription of it; without one: the topic", **_AT, "window": "as 10m: how far back it looks"},
        frozenset({"topic"}),
    ),
    "/v1/scale": Documented(
        scale_document, "How many consumers would help a subscription now", schemas.SCALE,
        {**_TOPIC, "subscription": "a subscription of it"}, frozenset({"topic", "subscription"}),
    ),
    "/v1/what-if": Documented(
        what_if_document, "Another limit, quota or number of consumers: the life as it was beside the life as it would have been",
        schemas.WHAT_IF,
        {
            **_TOPIC, "subscription": "a subscription of it; without one: all", **_SPAN,
            "until": "as 2h: go on so long after the end of the record", **KEYS,
        },
        frozenset({"topic"}),
    ),
    "/v1/right-size": Documented(
        right_size_document, "The limit that each limiter of a topic needs", schemas.RIGHT_SIZE,
        {**_TOPIC, "keep_age": "as 60s: so old may an entry get", "read_budget": "B/s that may be read", **_SPAN},
        frozenset({"topic", "keep_age"}),
    ),
    "/v1/openapi.json": Documented(lambda *_: document_json(openapi(DOCUMENTS, VERSION)), "This description", schemas.OPENAPI),
    "/readyz": Documented(readiness_document, "Up to when answers know each broker", schemas.READY),
}  # fmt: skip
_JSON = "application/json; charset=utf-8"
_NOT_NOW = 503


def build_app(answers: Answers, *, topics: bool = True, series_per_metric: int = USUAL_SERIES_PER_METRIC, warm: bool = False) -> Starlette:
    """The application; `answers` are watched while it runs, and closed at its end.

    `topics`: as for `metrics_text`; `series_per_metric`: `most` of `clean_text`; `warm`: pages are made once before somebody asks.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        at_work = [asyncio.create_task(answers.watch())]
        if warm:
            at_work.append(asyncio.create_task(warm_up(answers)))
        try:
            yield
        finally:
            for task in at_work:
                task.cancel()
            answers.close()

    documents = [Route(path, _answered(answers, one.document, frozenset(one.query), _JSON)) for path, one in DOCUMENTS.items()]
    metrics = _answered(answers, lambda room, _: metrics_text(room, topics=topics), frozenset(), PROMETHEUS)
    return Starlette(
        routes=[
            Route("/healthz", _healthy),
            Route("/metrics", metrics),
            Route("/metrics/clean", _clean_metrics(answers, series_per_metric)),
            *documents,
            *admin_routes(answers),
            *page_routes(answers),
        ],
        middleware=[Middleware(GZipMiddleware, minimum_size=WORTH_GZIP_BYTES, compresslevel=1)],
        lifespan=lifespan,
        exception_handlers=_FAULTS,
    )


async def _healthy(_: Request) -> Response:
    return PlainTextResponse("ok\n")


def _answered(
    answers: Answers, document: Callable[[ReadingRoom, Asked], str], names: frozenset[str], media_type: str
) -> Callable[[Request], Awaitable[Response]]:
    async def answered(request: Request) -> Response:
        asked = asked_of(request, names)
        answer = await answers.of(key_of(request.url.path, asked), lambda room: document(room, asked))
        return response_of(request, answer, media_type)

    return answered


def _clean_metrics(answers: Answers, most: int) -> Callable[[Request], Awaitable[Response]]:
    """OpenMetrics for clients that name it, as Prometheus does."""

    async def answered(request: Request) -> Response:
        topic = asked_of(request, frozenset({"topic"})).get("topic")
        media_type = OPEN_METRICS if "application/openmetrics-text" in request.headers.get("accept", "") else PROMETHEUS
        text = partial(clean_text, open_metrics=media_type == OPEN_METRICS, most=most, topic=topic)
        return response_of(request, await answers.of(f"{request.url.path} {media_type} {topic}", text), media_type)

    return answered


async def _refused(status: int, _: Request, fault: Exception) -> Response:
    headers = {"Retry-After": "1"} if status == _NOT_NOW else {}
    return JSONResponse({"reason": str(fault)}, status, headers)


async def _of_http(_: Request, fault: HTTPException) -> Response:
    return JSONResponse({"reason": fault.detail}, fault.status_code, fault.headers)


_FAULTS: Mapping[type[Exception], Callable[[Request, Any], Awaitable[Response]]] = {
    HTTPException: _of_http,
    NoAnswer: partial(_refused, 404),
    BadConfig: partial(_refused, 400),
    BadWarehouse: partial(_refused, _NOT_NOW),
    Overloaded: partial(_refused, _NOT_NOW),
    TooLong: partial(_refused, _NOT_NOW),
}
