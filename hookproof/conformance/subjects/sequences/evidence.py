"""Operations one after the other, to be compared with a model of the resources (sections 1 to 4).

Nothing else changes the portal links meanwhile.
"""

from dataclasses import dataclass

from hookproof.conformance.generation.operation_sequence import SequenceStep
from hookproof.conformance.model.evidence import Observation
from hookproof.conformance.observations.round_trip import EndpointCreation
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from hookproof.conformance.subjects.events.evidence import KeyedBroadcasts


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeledOperations(EndpointCreation, KeyedBroadcasts, SucceedingRequests):
    """Operations whose exchanges stand in the order in which they were made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationSequence(ModeledOperations):
    """A sequence that a state machine generated, and at the end everything in it fetched again.

    Steps about a resource that was never created have no exchange.
    """

    steps: tuple[SequenceStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointFieldCombination(ModeledOperations):
    """An endpoint with several fields at once, fetched between rolls and a broadcast."""

    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalLinkFieldCombination(ModeledOperations):
    """An update of several fields of a portal link at once, and what other operations leave."""

    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedRequests(Observation):
    """Generated requests along the links of the contract, for the oracles.

    `valid` holds for each request whether it was meant to fit the contract.
    """

    valid: tuple[bool, ...]
