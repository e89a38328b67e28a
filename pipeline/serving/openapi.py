"""The OpenAPI 3.1 description of `/v1`, from the declarations of its routes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.query.room import ReadingRoom

Schema = Mapping[str, Any]
#: The names in the query of a request with their values, each once.
Asked = Mapping[str, str]
_REFUSALS = {
    "400": "The question is wrong",
    "401": "A token is asked for",
    "404": "The log has no answer",
    "503": "Not now: ask again after the seconds of Retry-After",
}
_PREFIX = "/v1/"


@dataclass(frozen=True)
class Documented:
    """A path that is answered by a document."""

    #: From a room and the query of a request to the text of an answer.
    document: Callable[[ReadingRoom, Asked], str]
    summary: str
    #: JSON Schema of the answer.
    schema: Schema
    #: Names that the query may have → a line about each.
    query: Mapping[str, str] = field(default_factory=dict)
    required: frozenset[str] = frozenset()


def openapi(documents: Mapping[str, Documented], version: str) -> dict[str, Any]:
    """The description of those paths that are below `/v1`."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Dispatch analytics", "version": version,
            "description": "Why each subscription of a Pulsar cluster is behind. Answers are read from one warehouse; nothing is written.",
        },
        "paths": {path: {"get": _operation(path, one)} for path, one in documents.items() if path.startswith(_PREFIX)},
        "components": {
            "schemas": {"Refusal": {"type": "object", "required": ["reason"], "properties": {"reason": {"type": "string"}}}},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "With --token-file alone"}},
        },
        "security": [{}, {"token": []}],
    }  # fmt: skip


def _operation(path: str, one: Documented) -> dict[str, Any]:
    refusal = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
    return {
        "operationId": path.removeprefix(_PREFIX).replace("/", "_").removesuffix(".json"),
        "summary": one.summary,
        "parameters": [
            {"name": name, "in": "query", "required": name in one.required, "description": about, "schema": {"type": "string"}}
            for name, about in one.query.items()
        ],
        "responses": {
            "200": {"description": one.summary, "content": {"application/json": {"schema": one.schema}}},
            **{status: {"description": about, "content": refusal} for status, about in _REFUSALS.items()},
        },
    }
