"""Bases of faults that alter endpoints: when they are created, and when they are delivered to."""

from collections.abc import Mapping
from typing import Any

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.delivery.store_port import EndpointSettings
from hookproof.mockserver.store.deliveries import Deliveries
from hookproof.mockserver.store.endpoints import NewEndpoint
from hookproof.spec.dialect.model import Dialect


def not_reached_by_broadcasts(dialect: Dialect) -> bool:
    """Whether the suites create disabled endpoints."""
    return not dialect.delivery.disabled_receives.value


class AlteredCreation(EndpointHandlers):
    """Creates an endpoint from the request body that `alter_request` returns."""

    def _build_endpoint(self, project: str, body: Mapping[str, Any], now: float) -> NewEndpoint:
        return super()._build_endpoint(project, self.alter_request(body), now)

    def alter_request(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return body


class AlteredSettings(Deliveries):
    """Delivers by the settings that `alter_settings` returns."""

    def endpoint(self, uid: str) -> EndpointSettings | None:
        settings = super().endpoint(uid)
        return None if settings is None else self.alter_settings(settings)

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        return endpoint
