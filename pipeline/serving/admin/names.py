"""Names in the paths of `/admin/v2`, as Pulsar 4.x takes them (NamedEntity, TopicName)."""

import re
from dataclasses import dataclass

from schemas.render.ddl import quoted

_ENTITY = re.compile(r"[-=:.\w]+", re.ASCII)


class BadName(Exception):
    """No broker would take the name: Pulsar's 412."""


class NotFound(Exception):
    """Nothing of that name is there, or nothing is known of it: Pulsar's 404."""


@dataclass(frozen=True)
class Names:
    """The names of a path; those that it does not have are empty."""

    tenant: str = ""
    namespace: str = ""
    topic: str = ""

    def __post_init__(self) -> None:
        for what in ("tenant", "namespace"):
            value = getattr(self, what)
            if value and not _ENTITY.fullmatch(value):
                raise BadName(f"Invalid {what} name: {value[:100]}")

    @property
    def full_namespace(self) -> str:
        """`tenant/namespace`."""
        return f"{self.tenant}/{self.namespace}"

    @property
    def full_topic(self) -> str:
        """`persistent://tenant/namespace/topic`."""
        return f"persistent://{self.full_namespace}/{self.topic}"

    def condition(self) -> str:
        """SQL that is true of the namespace's rows, or of the tenant's where no namespace is named."""
        return f"namespace = {quoted(self.full_namespace)}" if self.namespace else f"tenant = {quoted(self.tenant)}"
