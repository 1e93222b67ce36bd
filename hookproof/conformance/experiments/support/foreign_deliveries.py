"""Deliveries of other experiments' events: where a project is shared they reach every endpoint."""

from collections.abc import Collection, Sequence
from typing import Final

from hookproof.conformance.observations.destinations import OWN
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# By how many digits at its end a marker differs from others of the same scenario.
OWN_TO_EVENT: Final = 5


def without_foreign(
    received: Sequence[ReceivedDelivery], marker_stem: str, uids: Collection[str] = ()
) -> list[ReceivedDelivery]:
    """What was received, without deliveries of events of other experiments of the run.

    The last of them at each token stays, and so does what names one of the `uids` in a header.
    """
    own, run = marker_stem.encode(), marker_stem[: OWN_TO_EVENT - OWN].encode()
    foreign = [
        run in delivery.body
        and own not in delivery.body
        and not any(marker_stem in value or value in uids for _, value in delivery.headers)
        for delivery in received
    ]
    last = {
        delivery.token: place
        for place, (delivery, is_foreign) in enumerate(zip(received, foreign, strict=True))
        if is_foreign
    }
    return [
        delivery
        for place, (delivery, is_foreign) in enumerate(zip(received, foreign, strict=True))
        if not is_foreign or last[delivery.token] == place
    ]
