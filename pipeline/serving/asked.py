"""The query of a request, checked: each name is known and there once, and no value is endless."""

from collections.abc import Mapping

from starlette.requests import Request

from pipeline.faults import BadConfig

_LONGEST_VALUE = 2_000


def asked_of(request: Request, names: frozenset[str]) -> dict[str, str]:
    """What the query names. Raises BadConfig for a name that is unknown or there twice, and for a value that no name has."""
    pairs = request.query_params.multi_items()
    asked = dict(pairs)
    unknown = sorted(asked.keys() - names)
    if unknown:
        raise BadConfig(f"{unknown[0][:_LONGEST_VALUE]}: not known here; known are {', '.join(sorted(names)) or 'none'}")
    if len(asked) < len(pairs):
        raise BadConfig("a name is there twice")
    if any(len(value) > _LONGEST_VALUE for value in asked.values()):
        raise BadConfig(f"a value has more than {_LONGEST_VALUE:,} characters")
    return asked


def key_of(path: str, asked: Mapping[str, str]) -> str:
    """Under which the answer to a question is kept, in whatever order its names came."""
    return f"{path} {sorted(asked.items())}"
