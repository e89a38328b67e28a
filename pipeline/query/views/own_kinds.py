"""Whose cursor it is by its name alone, where no check tells it: what views write as OWN_KIND_OF(name)."""

import re

from schemas.packages.broker import KINDS_BY_NAME, KINDS_BY_PREFIX

_CALL = re.compile(r"\bOWN_KIND_OF\(([\w.]+)\)")


def with_own_kinds(sql: str) -> str:
    """The query with each OWN_KIND_OF written out as a CASE: a kind of Pulsar's own cursors, or null."""
    return _CALL.sub(lambda call: _kind(call[1]), sql)


def _kind(column: str) -> str:
    cases = [f"WHEN {column} = '{name}' THEN '{kind}'" for name, kind in KINDS_BY_NAME.items()]
    cases += [f"WHEN startswith({column}, '{prefix}') THEN '{kind}'" for prefix, kind in KINDS_BY_PREFIX.items()]
    return f"CASE {' '.join(cases)} END"
