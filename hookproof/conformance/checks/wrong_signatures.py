"""Which of the signatures in a header are wrong, in words and as marks (section 6, item 3)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from hookproof.conformance.model.judgement import Judgement, Marks
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.signature_reading import SignatureReading
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.signed_message import (
    Reason,
    VerificationRefused,
    label_at,
    read_headers,
)
from hookproof.spec.dialect.assumptions import as_acted_on
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.signature_scheme import SignatureScheme

# So many characters of a signature are shown, and so many signatures at most.
LENGTH: Final = 8
MOST: Final = 3
OF_NO_SECRET: Final[Mapping[str | None, str]] = {None: "by no secret of the endpoint"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderSignatures:
    """The signatures in the header of one delivery, and who made each."""

    delivery: ReceivedDelivery
    reading: SignatureReading
    dialect: Dialect
    advanced: bool

    @property
    def scheme(self) -> SignatureScheme:
        return as_acted_on(self.dialect.signatures.scheme(advanced=self.advanced))

    @property
    def texts(self) -> tuple[str, ...]:
        """The signatures as they stand there; one whose label does not fit its place is empty.

        None of them for a header that cannot be read, which the reading says.
        """
        event_id_header = as_acted_on(self.dialect.delivery).event_id_header
        try:
            message = read_headers(self.scheme, self.delivery.headers, event_id_header)
        except VerificationRefused:
            return ()
        return tuple(text or "" for text in message.signatures)

    @property
    def signers(self) -> tuple[str | None, ...]:
        """The secret that made each signature, None for a secret that the endpoint never had."""
        if self.reading.reason is Reason.NO_SIGNATURE_MATCHES:
            return (None,) * len(self.texts)
        return self.reading.in_order if len(self.reading.in_order) == len(self.texts) else ()

    def pointed_out(
        self, judgement: Judgement, named: Mapping[str | None, str] = OF_NO_SECRET
    ) -> Judgement:
        """A failure that says which signatures are by these secrets, with the words for each."""
        if judgement.verdict is not Verdict.FAIL:
            return judgement
        signers = enumerate(self.signers)
        return self.pointed_out_at(
            judgement, {place: named[signer] for place, signer in signers if signer in named}
        )

    def pointed_out_at(self, judgement: Judgement, wrong: Mapping[int, str]) -> Judgement:
        """A failure that says what the signatures at these places are, counted from 0.

        Where there is one signature and none matches, the reading says so already.
        """
        if judgement.verdict is not Verdict.FAIL or not wrong:
            return judgement
        words = [self._words(place, by) for place, by in list(wrong.items())[:MOST]]
        more = [f"{len(wrong) - MOST} more"] if len(wrong) > MOST else []
        is_said = not self.reading.verified and len(self.texts) == 1
        return replace(
            judgement,
            actual="; ".join([judgement.actual, *([] if is_said else words + more)]),
            marks=Marks(texts=tuple(filter(None, map(self._item, wrong)))),
        )

    def _words(self, place: int, by: str) -> str:
        item = self._item(place)
        longest = item.find(self.texts[place]) + LENGTH
        shown = item if len(item) <= longest else f"{item[:longest]}…"
        number = f"signature {place + 1} of {len(self.texts)}"
        return f"{number} ({shown}) is {by}" if item else f"{number} has not the label of its place"

    def _item(self, place: int) -> str:
        """A signature as it stands in the header, with its label."""
        text = self.texts[place]
        label = label_at(self.scheme, place)
        return text and self.scheme.item.replace("{version}", label).replace("{signature}", text)
