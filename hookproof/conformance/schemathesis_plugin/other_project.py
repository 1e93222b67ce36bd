"""A second project, whose resources are asked for by the path and with the key of the first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import Kind, resources
from hookproof.conformance.schemathesis_plugin.creations import random_bodies
from hookproof.conformance.target.definition import Project
from hookproof.spec.dialect.model import Dialect

# Sends a request for an operation of the second project; None where no answer came.
Send = Callable[[str, Mapping[str, Any] | None], Exchange | None]


@dataclass(slots=True)
class OtherProject:
    """What the second project has; threads may share it."""

    project: Project
    dialect: Dialect
    _uids: dict[Kind, list[str]] = field(default_factory=dict)
    _is_known: bool = False
    _turn: int = 0
    _lock: Lock = field(default_factory=Lock)

    def find(self, send: Send) -> None:
        """Find its portal links, and create an endpoint there, once."""
        with self._lock:
            if self._is_known:
                return
            self._is_known = True
        body = random_bodies(self.dialect).quiet_endpoint()
        for answer in (send("createEndpoint", body), send("listPortalLinks", None)):
            for resource in resources(answer) if answer is not None else ():
                if resource.text("project_id") == self.project.id:
                    uid = resource.text("uid")
                    self._uids.setdefault(resource.kind, []).extend([uid] if uid else [])

    def next_uid(self, kind: Kind) -> str | None:
        """The identifier of a resource of this kind, each in its turn."""
        uids = self._uids.get(kind)
        self._turn += 1
        return uids[self._turn % len(uids)] if uids else None
