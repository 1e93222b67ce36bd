"""Signatures: deliveries that are signed, but not as the endpoint has to check them (section 6, item 3)."""

from collections.abc import Sequence

from mockserver.delivery.port import EndpointSettings
from mockserver.delivery.signing import Signer
from mockserver.faults.registry import fault


@fault("4.3-4", "4.3-6", "4.3-7", "4.3-16", seen="expired keys that still sign", shows_in=["roll"])
class ExpiredSecretsSign(Signer):
    """An old secret goes on signing after its time."""

    def living(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        """All of them."""
        return [secret.value for secret in endpoint.secrets]
