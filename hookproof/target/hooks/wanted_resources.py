"""What the hooks are asked to create so that a list is not too short (sections 2.6 and 2.7)."""

from typing import Any, Final

from hookproof.spec.dialect.model import Words

# What the names are numbered by, in the order of creation: the lists show whether they are in the
# order of the names or of the times.
NUMBERS: Final = (3, 0, 4, 1, 5, 2)
# Enough resources for several pages, two owners with more than one page each, and a filter that
# excludes something.
ENOUGH: Final = len(NUMBERS)

# The hook that fills the list of an operation.
HOOKS: Final = {"listPortalLinks": "create_portal_link", "listSources": "create_source"}


def wanted_resources(operation_id: str, words: Words, nonce: str) -> list[dict[str, Any]]:
    """The fields of ENOUGH resources of a list; `nonce` is part of their names."""
    names = [f"hookproof {nonce} {number}" for number in NUMBERS]
    if operation_id == "listSources":
        types, providers = words.source_types, words.source_providers
        return [
            {
                "name": name,
                "type": types[number % 2 % len(types)],
                "provider": providers[number % len(providers)],
            }
            for number, name in enumerate(names)
        ]
    return [
        {"name": name, "owner_id": f"owner-{nonce}-{number % 2}"}
        for number, name in enumerate(names)
    ]
