"""Client certificates: does an endpoint get its own, and no other one (section 2.3)?

It goes first: a service that keeps connections would show those of earlier deliveries, which say
nothing of what it presents now.
"""

import hashlib
import ssl
from collections.abc import AsyncIterator

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.security.oauth2 import deliver_one
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.experiments.support.client_certificate import issue_client_pair
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.delivery.security.credentials import (
    AUTHORIZED,
    ClientCertificateDeliveries,
)
from hookproof.conformance.target.capabilities import ENDED_BEFORE


@experiment("client_certificates", observes=(ClientCertificateDeliveries,), sharing=Sharing.FIRST)
async def client_certificates(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to an endpoint with a client certificate, and to one without."""
    async for observation in run_scenarios(context, {"client certificate": client_certificate}):
        yield observation


async def client_certificate(scenario: Scenario) -> ClientCertificateDeliveries:
    """A client certificate of the receiver's own authority."""
    scenario.context.require_capability("mtls")
    if not scenario.context.ends_tls:
        raise PreconditionFailed(ENDED_BEFORE)
    pair = await issue_client_pair(scenario.context, scenario.bodies.word("client"))
    presenting = await scenario.destination(AUTHORIZED, mtls_client_cert=pair.mtls_client_cert)
    await deliver_one(scenario, presenting)
    return await scenario.observe(
        ClientCertificateDeliveries, fingerprint=fingerprint(pair.certificate)
    )


def fingerprint(pem: str) -> str:
    """The SHA-256 of the first certificate's DER form, in hex, as the receiver reports it."""
    end = "-----END CERTIFICATE-----"
    first = pem[: pem.index(end) + len(end)]
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(first)).hexdigest()
