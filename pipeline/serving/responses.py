"""An answer as a response: gzipped for clients that take it, with the bytes that are kept."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from pipeline.serving.answers import Answer


def response_of(request: Request, answer: Answer, media_type: str, headers: Mapping[str, str] | None = None) -> Response:
    """Status 200, with these headers and those of the encoding."""
    if answer.gzipped is None:
        return Response(answer.body, media_type=media_type, headers=headers)
    if "gzip" not in request.headers.get("Accept-Encoding", ""):
        return Response(answer.body, media_type=media_type, headers={**(headers or {}), "Vary": "Accept-Encoding"})
    encoded = {**(headers or {}), "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(answer.gzipped, media_type=media_type, headers=encoded)
