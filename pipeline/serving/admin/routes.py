"""`/admin/v2` of `serve`, as of now; and `/at/{time}/admin/v2`, as of an instant."""

from collections.abc import Mapping
from datetime import datetime
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.serving.admin.asked_rows import Tables, TooMany
from pipeline.serving.admin.limits import NOT_SET
from pipeline.serving.admin.names import BadName, Names, NotFound
from pipeline.serving.admin.paths import Path, path_of
from pipeline.serving.answers import Answers
from pipeline.serving.responses import response_of
from pipeline.times import time_of

_ROOT = "/admin/v2/"
_LONGEST_PATH = 4_000
#: As Pulsar answers them; what is too long for an answer, with 422.
_STATUSES: Mapping[type[Exception], int] = {NotFound: 404, BadName: 412, BadConfig: 400, TooMany: 422}


def admin_routes(answers: Answers) -> list[Route]:
    """The routes of the admin API; each answer is computed once for a state of the tables."""

    async def answered(request: Request) -> Response:
        try:
            at, path, names = _asked(request)
            query = {name: request.query_params[name] for name in path.asked if name in request.query_params}
            key = f"admin {at} {path.pattern} {names} {sorted(query.items())}"
            answer = await answers.of(key, lambda room: _text(room, path, names, query, at))
        except tuple(_STATUSES) as fault:
            return JSONResponse({"reason": str(fault)}, next(code for kind, code in _STATUSES.items() if isinstance(fault, kind)))
        return response_of(request, answer, path.media_type) if answer.body != NOT_SET.encode() else Response(status_code=204)

    return [Route(f"{_ROOT}{{path:path}}", answered), Route(f"/at/{{time}}{_ROOT}{{path:path}}", answered)]


def _asked(request: Request) -> tuple[datetime | None, Path, Names]:
    """The instant (None: now), the path and its names. Raises BadConfig, NotFound, BadName."""
    # As it was sent: decoded, a slash within a name would be one between names.
    raw: str = request.scope["raw_path"].decode("latin-1")
    if len(raw) > _LONGEST_PATH:
        raise BadName(f"a path has at most {_LONGEST_PATH:,} characters")
    before, _, path = raw.partition(_ROOT)
    at = None if not before else time_of("at", unquote(before.removeprefix("/at/")))
    return at, *path_of(path)


def _text(room: ReadingRoom, path: Path, names: Names, query: Mapping[str, str], at: datetime | None) -> str:
    return path.document(Tables(room, at), names, query)
