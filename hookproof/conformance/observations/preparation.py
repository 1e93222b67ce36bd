"""Requests that only arrange what is observed, and requests for the oracles alone."""

from dataclasses import dataclass

from hookproof.conformance.model.evidence import Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation(Observation):
    """Requests that create, arrange or restore the resources of an experiment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedExchange(Observation):
    """A request that was generated from the contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OddRequest(Observation):
    """A request that ordinary clients do not send (section 7)."""
