"""Endpoints that are created in place of generated ones, since what becomes of them tells more."""

import random
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import Any, Final

from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.spec.dialect.model import Dialect

# Of so many valid requests one stays as it was generated.
AS_GENERATED: Final = 2
# Fields that are given together; a service that lacks one refuses no more than these.
TOGETHER: Final = (
    ("slack_webhook_url", "support_email", "description"),
    ("http_timeout", "rate_limit", "rate_limit_duration"),
    ("name", "description", "secret"),
)
# None of these is an https URL (section 2.3). The first leads to the machine of the service.
REFUSED_URLS: Final = (
    "http://localhost/hooks",
    "http://plain.invalid/hooks?to=https://host.invalid/",
    "http://plain.invalid/hooks",
    "ftp://plain.invalid/hooks",
)
# More characters than a column of many databases holds; `url` and its like end in a path.
LONG: Final = "x" * 66_000
LONG_FIELDS: Final = ("slack_webhook_url", "name", "description", "url", "owner_id")


def random_bodies(dialect: Dialect) -> RequestBodies:
    """Bodies with values of this moment: a service may know those of an earlier run."""
    return RequestBodies(dialect=dialect, random=random.Random(secrets.randbits(64)), word=new_word)


def new_word(stem: str) -> str:
    return f"{stem}-{secrets.token_hex(8)}"


@dataclass(slots=True)
class Creations:
    """What to send in place of valid bodies of createEndpoint; threads may share it.

    No broadcast reaches these endpoints where a dialect has such.
    """

    dialect: Dialect
    _asked: int = 0
    _bodies: Iterator[Mapping[str, Any]] = field(init=False)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._bodies = telling_bodies(random_bodies(self.dialect))

    def body(self) -> Mapping[str, Any] | None:
        """The next body; None to send what was generated."""
        with self._lock:
            self._asked += 1
            return None if self._asked % AS_GENERATED else next(self._bodies)


def telling_bodies(bodies: RequestBodies) -> Iterator[Mapping[str, Any]]:
    """Bodies without end: some settings together, two endpoints of one owner, a URL that is to be
    refused, and a long text.
    """
    owner = bodies.word("owner")
    value = bodies.endpoint_value
    # An endpoint that is created all the same must get nothing at the service's own machine.
    refused = REFUSED_URLS if bodies.quiet_fields() else REFUSED_URLS[1:]

    def of_owner() -> Mapping[str, Any]:
        texts = {name: value(name) for name in ("name", "description")}
        return bodies.quiet_endpoint(owner_id=owner, **texts)

    for turn in count():
        names = TOGETHER[turn % len(TOGETHER)]
        yield bodies.quiet_endpoint(**{name: value(name) for name in names})
        yield of_owner()
        yield bodies.quiet_endpoint(url=refused[turn % len(refused)])
        yield of_owner()
        name = LONG_FIELDS[turn % len(LONG_FIELDS)]
        yield {**of_owner(), name: value(name) + LONG}
