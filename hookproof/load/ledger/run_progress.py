"""The progress of a run, that of one generator or the sum over the workers of a master."""

from collections import Counter

import msgspec

from hookproof.load.latency import Buckets


class RunProgress(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a run; `settled` deliveries have arrived or failed for good.

    `arrived` counts every arrival, `progressed` all but further copies of what had arrived,
    `delivered` what arrived and was answered with success for the first time, `wrong` what is wrong
    with deliveries, in the words of `FreshDelivery`, and `limited` the broadcasts that the target
    put off.

    `backlog` is what was accepted and not settled when the sidecar was last asked; that of one
    worker may be negative, since its sidecar sees the deliveries of others. A `problem` ends the
    run. `latency` is that of deliveries, `answering` that of broadcasts until they were accepted,
    and `lateness` by how much the generator itself was late; `cpu_s` is the processor time that it
    used.
    """

    accepted: int = 0
    refused: int = 0
    limited: int = 0
    arrived: int = 0
    progressed: int = 0
    delivered: int = 0
    settled: int = 0
    backlog: int = 0
    finished: bool = False
    problem: str | None = None
    wrong: dict[str, int] = {}
    latency: Buckets = msgspec.field(default_factory=Buckets)
    answering: Buckets = msgspec.field(default_factory=Buckets)
    lateness: Buckets = msgspec.field(default_factory=Buckets)
    cpu_s: float = 0.0

    def plus(self, other: "RunProgress") -> "RunProgress":
        return RunProgress(
            accepted=self.accepted + other.accepted,
            refused=self.refused + other.refused,
            limited=self.limited + other.limited,
            arrived=self.arrived + other.arrived,
            progressed=self.progressed + other.progressed,
            delivered=self.delivered + other.delivered,
            settled=self.settled + other.settled,
            backlog=self.backlog + other.backlog,
            finished=self.finished and other.finished,
            problem=self.problem or other.problem,
            wrong=dict(Counter(self.wrong) + Counter(other.wrong)),
            latency=self.latency.plus(other.latency),
            answering=self.answering.plus(other.answering),
            lateness=self.lateness.plus(other.lateness),
            cpu_s=self.cpu_s + other.cpu_s,
        )
