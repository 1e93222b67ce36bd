"""The sending side of the ledger: what became of each broadcast, and how late everything was."""

from collections import Counter
from typing import Any, Final

import msgspec

from hookproof.load.latency import Buckets, OverTime, Stretch, histogram, note, packed

UNSENT: Final = 0
REFUSED: Final = 1
ACCEPTED: Final = 2
# Not answered, or with neither a success nor a refusal (sections 2.1 and 7): it may have been
# accepted nevertheless, and its deliveries are neither lost nor unexpected.
UNANSWERED: Final = 3
MOST_SAMPLES: Final = 5
# The answers to creations of endpoints that are kept, in bytes.
MOST_CREATED_BYTES: Final = 4_000_000


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """What a generator sent; `broadcasts` has one byte for each, histograms are packed.

    `created` are the answers to the first creations of endpoints, of which `counts` has the number,
    `event` is the answer to a broadcast, empty if none was read; `started_at` is in Unix seconds by
    the generator's own clock, `sending_s` the time until the last answer, `cpu_share` is of one
    core.
    """

    broadcasts: bytes
    counts: dict[str, int]
    samples: dict[str, list[str]]
    answering: str
    lateness: str
    over_time: list[Stretch]
    started_at: float
    sending_s: float
    cpu_share: float
    problem: str | None
    created: list[bytes] = []
    event: bytes = b""


class Sending:
    """Counts of one generator in one run, in bounded memory.

    `broadcasts` is the most that it may send. Of n workers each uses every nth number, so that no
    two broadcasts of a run have the same; `step` is that n.
    """

    def __init__(
        self, broadcasts: int, *, step: int = 1, started_at: float, stretch_s: float
    ) -> None:
        self.broadcasts = bytearray(broadcasts)
        self._step = step
        self.counts: Counter[str] = Counter()
        self.samples: dict[str, list[str]] = {}
        self.answering: Any = histogram()
        self.lateness: Any = histogram()
        self.answering_buckets = Buckets()
        self.lateness_buckets = Buckets()
        self.over_time = OverTime(length_s=stretch_s)
        self._created: list[bytes] = []
        self._created_bytes = 0
        self._event = b""
        self.started_at = started_at

    def left(self, *, due_at: float, sent_at: float, waited: bool) -> None:
        """Count a request that is sent; it was due when its slot came and a user was free."""
        self.counts["requests"] += 1
        self.counts["waited"] += waited
        late_s = max(0.0, sent_at - due_at)
        note(self.lateness, late_s)
        self.lateness_buckets.note(late_s)

    def accepted(self, number: int, *, intended_at: float, now: float) -> None:
        self.broadcasts[number // self._step] = ACCEPTED
        self.counts["accepted"] += 1
        after_s = max(0.0, now - intended_at)
        note(self.answering, after_s)
        self.answering_buckets.note(after_s)
        self.over_time.note(now - self.started_at, after_s)

    def not_accepted(self, number: int, *, certain: bool) -> None:
        """Mark a broadcast that got no success; `certain` if it was refused and may not arrive."""
        self.broadcasts[number // self._step] = REFUSED if certain else UNANSWERED

    def refused(self, number: int, why: str) -> None:
        """Count a broadcast that was refused or not answered."""
        self.counts["refused"] += 1
        self._sample("refused", f"{number}: {why}")

    def limited(self, operation_id: str, why: str) -> None:
        """Count a request that the target put off because it limits how fast it is called."""
        self.counts["limited"] += 1
        self._sample("limited", f"{operation_id}: {why}")

    def held_back(self) -> None:
        """Count a slot in which nothing is sent, since the target has asked for a pause."""
        self.counts["held_back"] += 1

    def failed(self, operation_id: str, why: str) -> None:
        """Count a request that failed and was not a broadcast."""
        self.counts["errors"] += 1
        self._sample("errors", f"{operation_id}: {why}")

    def created(self, answer: bytes) -> None:
        """Count an endpoint that the mix has created, and keep the answer if there is space."""
        self.counts["created"] += 1
        self._created_bytes += len(answer)
        if self._created_bytes <= MOST_CREATED_BYTES:
            self._created.append(answer)

    def event(self, answer: bytes) -> None:
        """Keep the answer to a broadcast, which shows whom it reaches."""
        self._event = answer

    def result(self, *, begun: int, ended_at: float, cpu_share: float, problem: str | None) -> Sent:
        """The result, for a generator that began so many broadcasts."""
        return Sent(
            broadcasts=bytes(self.broadcasts[:begun]),
            counts={**self.counts, "broadcasts": begun},
            samples=self.samples,
            answering=packed(self.answering),
            lateness=packed(self.lateness),
            over_time=self.over_time.packed(),
            started_at=self.started_at,
            sending_s=ended_at - self.started_at,
            cpu_share=cpu_share,
            problem=problem,
            created=self._created,
            event=self._event,
        )

    def _sample(self, kind: str, what: str) -> None:
        samples = self.samples.setdefault(kind, [])
        if len(samples) < MOST_SAMPLES:
            samples.append(what)
