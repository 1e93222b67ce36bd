"""The capabilities that a target may declare, and which of them the document allows it to lack.

`capabilities: {api_key: no}` in target.yaml keeps the experiments from trying it. If the document
allows its absence, its requirements are not applicable; if the document requires it, they are not
exercised, and the run stays incomplete. `yes` turns an absence that would be allowed into a
failure; `auto` detects it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from hookproof.spec.catalogue import Catalogue
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.signing_key import signs_by_itself
from hookproof.target.file_schema import Presence
from hookproof.target.settings import ReceiverSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """`requirements` are ids and patterns; `place` is the section that describes the capability.

    `fields` of createEndpoint and `operations` are for this capability alone; of authentication the
    document shows oauth2 alone there. The other two mechanisms it shows in responses, so that a
    target `may_lack` them.
    """

    requirements: tuple[str, ...]
    place: str
    may_lack: bool = False
    fields: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()


CAPABILITIES: Final = msgspec.json.decode(
    Path(__file__).with_name("capabilities.json").read_bytes(), type=dict[str, Capability]
)
# The members of an endpoint's authentication that stand for a mechanism (section 2.5).
MECHANISMS: Final = frozenset({"api_key", "basic_auth", "oauth2"})


# What only a receiver at which TLS ends can see.
ABOUT_CLIENT_CERTIFICATES: Final = ("2.3-17", "2.3-18")
ENDED_BEFORE: Final = (
    "TLS ends before the receiver (receiver.http), which so sees no client certificate; let the"
    " target reach the receiver itself."
)


# The laws about the secret that signs, and the formats, advanced or not, that they are about.
LAWS_OF_SECRETS: Final[Mapping[str, frozenset[bool | None]]] = {
    **dict.fromkeys(
        ("shown_secret_signs", "own_secret_signs", "expiry_meant"), frozenset({False, True})
    ),
    **dict.fromkeys(
        (
            "old_secret_signs",
            "new_secret_signs",
            "expired_secret_unused",
            "new_secret_signs_alone",
            "each_old_secret_signs",
            "advanced_layout",
        ),
        frozenset({True}),
    ),
    "simple_signer": frozenset({False}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """Why a requirement is not judged: the target declares that it lacks a capability, or the
    receiver could not see it.
    """

    reason: str
    allowed: bool


SIGNED_BY_SERVICE: Final = Lack(
    reason=(
        "The dialect says that the service signs with a key of its own (public_key of signatures),"
        " so that no delivery shows which secret signed it; sections 4.3 and 6 of the document say"
        " that the endpoint's secrets sign."
    ),
    allowed=False,
)


def lacking(capabilities: Mapping[str, Presence], catalogue: Catalogue) -> Mapping[str, Lack]:
    """The requirements, by id, that a target declares it cannot fulfil for lack of a capability."""
    return dict(_lacking(capabilities, catalogue))


def unseen(receiver: ReceiverSettings) -> Mapping[str, Lack]:
    """The requirements, by id, of which such a receiver can see nothing."""
    ids = ABOUT_CLIENT_CERTIFICATES if receiver.http else ()
    return {name: Lack(reason=ENDED_BEFORE, allowed=False) for name in ids}


def signed_by_service(dialect: Dialect, catalogue: Catalogue) -> Mapping[str, Lack]:
    """The requirements about which secret signs, where the service has a key of its own instead."""
    own = {advanced for advanced in (False, True) if signs_by_itself(dialect, advanced=advanced)}
    return {
        requirement.id: SIGNED_BY_SERVICE
        for requirement in catalogue.requirements.values()
        if own >= LAWS_OF_SECRETS.get(requirement.about.law, {None})
    }


def _lacking(
    capabilities: Mapping[str, Presence], catalogue: Catalogue
) -> Iterator[tuple[str, Lack]]:
    lacked = [name for name, presence in capabilities.items() if presence is Presence.NO]
    yield from _about_operations(lacked, catalogue)
    for name in lacked:
        capability = CAPABILITIES[name]
        lack = Lack(reason=_declared(name), allowed=capability.may_lack)
        for selector in capability.requirements:
            for requirement in catalogue.select(selector):
                yield requirement.id, lack


def _about_operations(lacked: Sequence[str], catalogue: Catalogue) -> Iterator[tuple[str, Lack]]:
    """What is only about operations that are not requested, of one capability or of several."""
    unasked = {operation: name for name in lacked for operation in CAPABILITIES[name].operations}
    for requirement in catalogue.requirements.values():
        if requirement.operations and unasked.keys() >= set(requirement.operations):
            names = dict.fromkeys(unasked[operation] for operation in requirement.operations)
            reason = " ".join(map(_declared, names))
            yield requirement.id, Lack(reason=reason, allowed=False)


def _declared(name: str) -> str:
    """The reason why nothing that a target says it lacks is judged."""
    capability = CAPABILITIES[name]
    declared = f"The target says that it lacks {name} (capabilities in target.yaml)"
    if capability.may_lack:
        return f"{declared}, and {capability.place} of the document allows that."
    return (
        f"{declared}, but {capability.place} of the document lists it;"
        " say `auto` or `yes` to have it tried."
    )
