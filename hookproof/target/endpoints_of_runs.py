"""The endpoints of runs of Hookproof among those that an event reached.

What a run creates stays at the target, and gets the events of every later one.
"""

import re
from collections.abc import Iterator
from typing import Final

from hookproof.target.hooks.removable_endpoints import LONGEST_UID

# The owners and names that runs give their endpoints: `check` and `learn`, the doctor, `load`.
OWNER: Final = re.compile(r"owner-(?:[0-9a-f]{15,16}|doctor[0-9a-f]{8})")
NAME: Final = re.compile(r"endpoint-(?:[0-9a-f]{15,16}|doctor[0-9a-f]{8})|hookproof load .*")


def endpoints_of_runs(event: object) -> Iterator[tuple[str, str]]:
    """The uid and the owner of each endpoint of a run, as far as the answer to a broadcast shows
    them.
    """
    records = event.get("endpoint_metadata") if isinstance(event, dict) else None
    for record in records if isinstance(records, list) else ():
        if isinstance(record, dict) and isinstance(uid := record.get("uid"), str):
            owner, name = (str(record.get(field) or "") for field in ("owner_id", "name"))
            if OWNER.fullmatch(owner) or NAME.fullmatch(name):
                yield uid[:LONGEST_UID], owner


def slowing_words(count: int) -> str:
    """That so many endpoints of earlier runs slow a run; empty if there are none."""
    if not count:
        return ""
    get = "endpoint that earlier runs left gets"
    if count > 1:
        get = "endpoints that earlier runs left get"
    return (
        f"{count:,} {get} each event of this one too, which slows its deliveries: remove"
        f" {'them' if count > 1 else 'it'}, or use other projects"
    )
