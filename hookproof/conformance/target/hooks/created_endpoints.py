"""The endpoints that exchanges show: those that were created, and those of earlier runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.ledger import LeftBehind, LeftEndpoint
from hookproof.conformance.target.definition import Project
from hookproof.target.hooks.removable_endpoints import (
    LONGEST_UID,
    RemovableEndpoint,
    RemovableEndpoints,
    endpoints_of_runs,
)

# In bytes; of an answer that is longer only what tells the endpoint apart is kept.
LONGEST_KEPT: Final = 65536


@dataclass(slots=True)
class CreatedEndpoints(RemovableEndpoints):
    """Notes what is created, and the endpoints of earlier runs that broadcasts reach; shared by all
    that call the target in a run.
    """

    # Of runs of Hookproof, as broadcasts showed them: the owners by uid.
    _reached: dict[str, str] = field(default_factory=dict)

    def note(self, project: Project, exchange: Exchange, creator: str = "") -> None:
        if not exchange.succeeded:
            return
        if exchange.operation_id == "createEndpoint":
            sent = exchange.request_json
            is_disabled = isinstance(sent, dict) and bool(sent.get("is_disabled"))
            shown = exchange.data if isinstance(exchange.data, dict) else {}
            if len(exchange.response_body) > LONGEST_KEPT:
                shown = _told_apart(shown)
            self.created.append(
                RemovableEndpoint(
                    project=project, shown=shown, is_disabled=is_disabled, creator=creator
                )
            )
        elif exchange.operation_id == "createBroadcastEvent":
            self._reached |= dict(endpoints_of_runs(exchange.data))

    def add(self, others: "CreatedEndpoints") -> None:
        """Note what others have noted, too."""
        self.created += others.created
        self.removed += others.removed
        self._reached |= others._reached  # noqa: SLF001 its own class

    def left_behind(self) -> LeftBehind:
        own = [*self.created, *self.removed]
        uids = {endpoint.uid for endpoint in own}
        owners = {endpoint.owner for endpoint in own if endpoint.owner}
        earlier = [
            uid for uid, owner in self._reached.items() if uid not in uids and owner not in owners
        ]
        return LeftBehind(
            endpoints=tuple(
                LeftEndpoint(project=each.project.id, uid=each.uid, is_disabled=each.is_disabled)
                for each in self.created
            ),
            removed=len(self.removed),
            earlier=len(earlier),
        )


def _told_apart(shown: Mapping[str, Any]) -> dict[str, str]:
    """The uid and the owner, as far as they are no long texts themselves."""
    texts = {name: shown.get(name) for name in ("uid", "owner_id")}
    return {
        name: text
        for name, text in texts.items()
        if isinstance(text, str) and len(text) <= LONGEST_UID
    }
