"""What stays of an endpoint from its creation to each fetch (section 4.2)."""

from typing import Final

from hookproof.conformance.checks.agreement import agreement
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.observations.answer import shown, shown_uid
from hookproof.spec.dialect.model import Representation
from hookproof.spec.field_roles import Role, fields_with, shown_as_sent

ECHOED: Final = shown_as_sent("createEndpoint")

# What nothing but its owner changes, plain settings first; 2.9-13 judges created_at.
_LASTING: Final = fields_with("Endpoint", Role.GIVEN, Role.ASSIGNED)

CONFIGURATION: Final = (
    *ECHOED,
    *(name for name in _LASTING if name not in ECHOED and name != "created_at"),
)

# The same without the uid, which other requirements judge: what a roll leaves as it was.
LEFT_BY_ROLL: Final = tuple(name for name in CONFIGURATION if name != "uid")


def fetched_as_created(created: Exchange, fetched: Exchange, forms: Representation) -> Judgement:
    """Field by field, masked credentials aside; 2.3-1 and 2.1 judge what a creation hides."""
    return agreement(
        "4.2-5",
        "An endpoint is fetched with another configuration than its creation showed",
        CONFIGURATION if shown_uid(created) is not None else LEFT_BY_ROLL,
        shown(created),
        shown(fetched),
        [created, fetched],
        forms,
    )
