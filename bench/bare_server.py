"""A bare starlette application that answers everything with the bytes of one file: `python -m bench.bare_server FILE PORT`."""

import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route


def bare(body: bytes) -> Starlette:
    """The application: `body` is gzipped already."""

    async def answered(_: Request) -> Response:
        return PlainTextResponse(body, headers={"Content-Encoding": "gzip"})

    return Starlette(routes=[Route("/{path:path}", answered)])


if __name__ == "__main__":
    uvicorn.run(bare(Path(sys.argv[1]).read_bytes()), port=int(sys.argv[2]), http="h11", log_level="error")
