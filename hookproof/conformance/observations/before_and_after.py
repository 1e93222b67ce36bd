"""Requests that may change a resource, which is fetched before and after them."""

from dataclasses import dataclass

from hookproof.conformance.model.evidence import Observation
from hookproof.conformance.observations.roles import OneExchange


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAndAfter(Observation):
    """What stood before some requests, and what stood after them, as far as it was fetched."""

    # The resource, fetched before the requests.
    before = OneExchange("before")
    # The same resource, fetched after the requests.
    after = OneExchange("after")
