"""Null in place of fields that can be left out (section 4.9)."""

from collections.abc import Mapping
from typing import Any

from hookproof.conformance.learning.session import ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.requests.mistakes import SENT_AS_NULL


async def with_null(
    session: ProbeSession,
    operation_id: str,
    body: Mapping[str, Any],
    path: Mapping[str, str] | None = None,
) -> list[Exchange]:
    """Send null in each field that `check` sends as null, where none of them is needed.

    Empty if the operation takes no request without them all.
    """
    rules = session.bodies.dialect.requests
    needed = {*rules.required_by(operation_id), *rules.one_of_required_by(operation_id)}
    optional = [name for name in SENT_AS_NULL[operation_id] if name not in needed]
    plain = {name: value for name, value in body.items() if name not in optional}
    without = await session.call(operation_id, "without optional fields", path=path, body=plain)
    if not without.succeeded:
        return []
    return [
        await session.call(
            operation_id, f"with null as {name}", path=path, body={**plain, name: None}
        )
        for name in optional
    ]
