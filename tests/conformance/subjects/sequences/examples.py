"""Examples for sequences of operations, judged beside a model of the resources (sections 2.6 and
4.1 to 4.6).
"""

from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.subjects.sequences.evidence import OperationSequence
from tests.conformance.canned_evidence import NOW, exchange, observation
from tests.conformance.checks.api.example import (
    OTHER_UID,
    UID,
    UPDATED,
    Example,
    endpoint,
    link,
    page,
    secret,
)

OTHER_LINK = "01ARZ3NDEKTSV4RRFFQ69G5FB0"
SECRETS = [secret(uid="01ARZ3NDEKTSV4RRFFQ69G5FA1")]


def created(uid: str = UID, *, at: float = 0, **fields: Any) -> Exchange:
    return exchange("create", "createEndpoint", data=endpoint(uid=uid, **fields), sent_at=NOW + at)


def fetched(uid: str = UID, **fields: Any) -> Exchange:
    return exchange(
        "fetch", "getEndpoint", data=endpoint(uid=uid, **fields), path={"endpointID": uid}
    )


def rolled(uid: str = UID, **fields: Any) -> Exchange:
    return exchange(
        "roll", "expireEndpointSecret", data=endpoint(uid=uid, **fields), path={"endpointID": uid}
    )


def updated(uid: str = UID, *, at: float = 0, **fields: Any) -> Exchange:
    return exchange(
        "update",
        "updatePortalLink",
        data=link(uid=uid, **fields),
        request=fields,
        path={"portalLinkID": uid},
        sent_at=NOW + at,
    )


def ignored_update(**fields: Any) -> Exchange:
    """An update that is answered with the portal link as it was."""
    return exchange(
        "update", "updatePortalLink", data=link(), request=fields, path={"portalLinkID": UID}
    )


def retrieved(uid: str = UID, *members: str, **fields: Any) -> Exchange:
    inside = {
        "endpoints_metadata": [endpoint(uid=member) for member in members],
        "endpoint_count": len(members),
    }
    return exchange(
        "retrieve",
        "getPortalLink",
        data=link(uid=uid, **inside, **fields),
        path={"portalLinkID": uid},
    )


def sequence(*exchanges: Exchange) -> OperationSequence:
    return observation(OperationSequence, *exchanges, steps=())


def example(requirement: str, kept: OperationSequence, broken: OperationSequence) -> Example:
    return Example(requirement=requirement, kept=kept, broken=broken)


MINE, THEIRS = created(owner_id="owner-1"), created(OTHER_UID, owner_id="owner-2")

EXAMPLES = (
    example("4.2-5", sequence(created(), fetched()), sequence(created(), fetched(name="Another"))),
    example("4.2-6", sequence(created(), fetched()), sequence(created(), fetched(secrets=SECRETS))),
    example(
        "4.3-11",
        sequence(created(), fetched(), rolled(secrets=SECRETS), fetched(secrets=SECRETS)),
        sequence(created(), fetched(), rolled(), fetched(http_timeout=1)),
    ),
    example(
        "4.3-14",
        sequence(created(), created(OTHER_UID), rolled(OTHER_UID), fetched()),
        sequence(
            created(), created(OTHER_UID), fetched(), rolled(OTHER_UID), fetched(secrets=SECRETS)
        ),
    ),
    *(
        example(requirement, sequence(updated(**new)), sequence(ignored_update(**new)))
        for field, (requirement, value) in UPDATED.items()
        for new in ({field: value},)
    ),
    example(
        "4.6-9",
        sequence(updated(name="New"), retrieved(name="New")),
        sequence(updated(name="New"), retrieved(name="Old")),
    ),
    example(
        "4.6-12",
        sequence(retrieved(), updated(OTHER_LINK, name="New"), retrieved()),
        sequence(retrieved(), updated(OTHER_LINK, name="New"), retrieved(name="New")),
    ),
    example("2.6-2", sequence(MINE, retrieved(UID, UID)), sequence(MINE, retrieved())),
    example("2.6-3", sequence(THEIRS, retrieved()), sequence(THEIRS, retrieved(UID, OTHER_UID))),
    example(
        "2.6-4",
        sequence(retrieved(), created(owner_id="owner-1", at=9), retrieved(UID, UID)),
        sequence(retrieved(), created(owner_id="owner-1", at=9), retrieved()),
    ),
    example(
        "4.6-10",
        sequence(
            THEIRS, updated(owner_id="owner-2", at=1), retrieved(UID, OTHER_UID, owner_id="owner-2")
        ),
        sequence(THEIRS, updated(owner_id="owner-2", at=1), retrieved(UID, owner_id="owner-2")),
    ),
    example(
        "4.6-11",
        sequence(
            MINE, retrieved(UID, UID), updated(owner_id="o", at=1), retrieved(UID, owner_id="o")
        ),
        sequence(
            MINE,
            retrieved(UID, UID),
            updated(owner_id="o", at=1),
            retrieved(UID, UID, owner_id="o"),
        ),
    ),
    example(
        "2.6-7",
        sequence(retrieved(name="New"), page("listPortalLinks", [link(name="New")])),
        sequence(retrieved(name="New"), page("listPortalLinks", [link(name="Old")])),
    ),
    example(
        "4.4-14",
        sequence(retrieved(), page("listPortalLinks", [link()])),
        sequence(retrieved(), page("listPortalLinks", [link(uid=OTHER_LINK)])),
    ),
    # A list is judged when its last page was seen, and what lies on the first one is not missing.
    example(
        "4.4-14",
        sequence(
            retrieved(),
            page("listPortalLinks", [link()], has_next_page=True),
            page("listPortalLinks", [link(uid=OTHER_LINK)]),
        ),
        sequence(
            retrieved(),
            page("listPortalLinks", [], has_next_page=True),
            page("listPortalLinks", []),
        ),
    ),
)
