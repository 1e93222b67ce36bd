"""A delivery as a test sees it."""

import json
from dataclasses import dataclass, fields
from typing import Any, Self

from hookproof.receiver.cli.delivery_watch import JudgedDelivery, delivery_line
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.judgement import SignatureJudge, SignatureJudgement
from hookproof.receiver.signatures.schemes.request_parts import inflated


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WebhookDelivery(ReceivedDelivery):
    """A request that arrived; `judge` is None if no secrets were known.

    Its `repr`, which pytest shows where an assertion fails, says what arrived and why a signature
    did not verify.
    """

    judge: SignatureJudge | None

    @classmethod
    def of(cls, delivery: ReceivedDelivery, judge: SignatureJudge | None) -> Self:
        values = {field.name: getattr(delivery, field.name) for field in fields(delivery)}
        return cls(**values, judge=judge)

    @property
    def verified(self) -> bool | None:
        """Whether one of the receiver's secrets signed it; None if no secrets were given."""
        judgement = self._judgement()
        return judgement.verified if judgement else None

    @property
    def problem(self) -> str | None:
        """Why it is not verified, and what its sender signed instead; None if it is, or without
        secrets.
        """
        judgement = self._judgement()
        return judgement.sentence if judgement and not judgement.verified else None

    @property
    def content(self) -> bytes:
        """The body without the compression that its Content-Encoding says, gzip or deflate.

        Signatures are of `body`, which is as it came.
        """
        return inflated(self.body) if self.header("Content-Encoding") else self.body

    @property
    def text(self) -> str:
        """The content as UTF-8; raises UnicodeDecodeError."""
        return self.content.decode()

    def json(self) -> Any:
        """The content, parsed; raises ValueError."""
        return json.loads(self.content)

    def __repr__(self) -> str:
        line = delivery_line(JudgedDelivery(delivery=self, judgement=self._judgement()))
        return f"<{line}>"

    def _judgement(self) -> SignatureJudgement | None:
        return self.judge.judge(self.headers, self.body, self.arrived_at) if self.judge else None
