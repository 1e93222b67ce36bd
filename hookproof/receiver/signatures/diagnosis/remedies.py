"""Who most likely made a signature fail, and what mends it.

A deviation's words say what differs from what was signed. Whether the sender or the receiver's
side made the difference shows in the rest of the delivery, above all in Content-Length, which is
the sender's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Diagnosis
from hookproof.receiver.signatures.diagnosis.oddities import content_length
from hookproof.receiver.signatures.signed_message import Headers


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """Who, as far as it can be told; what to do; and lines with examples, if any."""

    who: str
    mend: str
    examples: Sequence[str] = ()


# The raw body in common frameworks.
RAW_BODY: Final[Mapping[str, str]] = {
    "Express": "express.raw({type: '*/*'}) on this route, before express.json(); then req.body",
    "Next.js": "await request.text(); in pages/api also config = {api: {bodyParser: false}}",
    "FastAPI": "await request.body()",
    "Flask": "request.get_data()",
    "Django": "request.body",
    "Rails": "request.raw_post",
    "Laravel": "$request->getContent()",
    "Spring": "@RequestBody byte[] body",
    "Go": "io.ReadAll(r.Body)",
}
FRAMEWORKS: Final = tuple(f"  {name}: {line}" for name, line in RAW_BODY.items())

BY_ASPECT: Final[Mapping[Aspect, Remedy]] = {
    Aspect.SECRET: Remedy(
        who="whoever turns the secret into the key: the verifier at hand and the sender differ",
        mend="make the key as the sender's documentation says; "
        "if the sender is yours, make it as the receivers are told",
    ),
    Aspect.JOIN: Remedy(
        who="most often the verifier, which puts together something else than the sender signs",
        mend="sign the same text: `hookproof scheme list` shows what known senders sign; "
        "if the sender is yours, keep to what its receivers are told",
    ),
    Aspect.HASH: Remedy(
        who="most often the verifier, which expects another hash than this header has",
        mend="use the hash of this header, or the header with the other hash if the sender has one",
    ),
    Aspect.ENCODING: Remedy(
        who="most often the verifier, which expects another encoding than the sender writes",
        mend="decode the signature as the sender encodes it, and compare the bytes",
    ),
    Aspect.LABEL: Remedy(
        who="most often the verifier, which takes the header apart in another way",
        mend="take it apart as the sender's documentation says, or give --scheme",
    ),
    Aspect.HEADER: Remedy(
        who="the receiver's framework or a proxy, if the sender has the right name; "
        "else the verifier reads another header than this sender has",
        mend="read the header under the name that it has here",
    ),
    Aspect.TIME: Remedy(
        who="the receiver's clock, or a delivery that was saved or delayed",
        mend="set the receiver's clock by NTP; for a saved delivery leave --at out, so that its "
        "age is told and not judged, or allow more with --tolerance",
    ),
}
BY_NAME: Final[Mapping[str, Remedy]] = {
    "secret text": Remedy(
        who="whoever stored the secret, on the receiver's side or the sender's",
        mend="store the text that the sender signs with, character by character, without quotation "
        "marks, labels, white space or line ends around it",
    ),
    "cgi": Remedy(
        who="the receiver's side, which saved the variables of CGI, as PHP's $_SERVER has them",
        mend="read the header by this name, or write its own name in the copy; "
        "nothing else is wrong",
    ),
    "renamed": Remedy(
        who="a proxy or gateway on the receiver's side",
        mend="read the header by this name, or have it passed on by its own; nothing else is wrong",
    ),
    "doubled": Remedy(
        who="most often a proxy, or a framework that joins the headers of two layers",
        mend="send the header once; if all of them are equal, each is right",
    ),
    "changed header": Remedy(
        who="the receiver's side: the framework gave a list or a decoded text for the header, or "
        "whoever saved the delivery wrote it so",
        mend="take the header's value itself, the first of a list, and decode nothing in it",
    ),
    "token": Remedy(
        who="the verifier, which expects a signature of a sender that has none",
        mend="compare the header with the secret in constant time; "
        "it says who sent this, and nothing about the body",
    ),
    "url": Remedy(
        who="the receiver's side: behind a proxy it sees another URL than the sender called, "
        "or the verifier leaves the URL out",
        mend="build the URL from the public one in your settings, or from X-Forwarded-Proto and "
        "X-Forwarded-Host if your proxy sets them; here, give it with --url",
    ),
    "unknown sender": Remedy(
        who="nobody: secret and body are right, and the sender is none that is known by name",
        mend="verify so in your code; the file of a scheme cannot say it",
    ),
    "forwarded": Remedy(
        who="the receiver's side: behind a proxy it sees another URL than the sender called",
        mend="build the URL from X-Forwarded-Proto, X-Forwarded-Host and X-Forwarded-Prefix, if "
        "your proxy sets them; here, give --forwarded",
    ),
    # For deliveries of which nothing that was tried explains the signature.
    "another secret": Remedy(
        who="most often the receiver's settings, which have the secret of something else",
        mend="try the secrets of test and live mode, of other endpoints, of a command-line tool "
        "that forwards, and those from before a rotation: give them all here, each with --secret",
    ),
    "changed": Remedy(
        who="the receiver's side, as Content-Length is the sender's: the framework, a proxy, or "
        "whoever saved the delivery",
        mend="save and verify the bytes as they came, before anything parses them",
        examples=FRAMEWORKS,
    ),
    "changed unseen": Remedy(
        who="the receiver's side, most likely: a framework, a proxy, or whoever saved the delivery",
        mend="save and verify the bytes as they came, before anything parses them",
        examples=FRAMEWORKS,
    ),
    "unsigned": Remedy(
        who="the sender, if it signs only where a secret is set; else whoever left headers out",
        mend="save the delivery with all its headers, and see whether the sender has a secret",
    ),
    "other signature": Remedy(
        who="most often the verifier, which expects a signature of another kind than this sender's",
        mend="see what the sender's documentation says, or give --scheme",
    ),
    "other form": Remedy(
        who="not known: a scheme that describes this sender's headers may be missing",
        mend="see what the sender's documentation says is signed, and give --scheme a file that "
        "says it; try the secrets of its other endpoints and modes too",
    ),
    "missing header": Remedy(
        who="the receiver's side: a proxy or framework that passes on some headers only, or "
        "whoever saved the delivery",
        mend="pass on and save all headers of the delivery",
    ),
    "public key": Remedy(
        who="the receiver's settings: a token, or the key of something else, is in its place",
        mend="take the public key from the sender's settings; no token and no API key verifies",
    ),
    "setting not given": Remedy(
        who="nobody yet: what was signed is not known here",
        mend="give it after the name of the scheme, as the reason above says",
    ),
    "copied": Remedy(
        who="whoever saved or copied this delivery, out of a log, an event or a page",
        mend="undo what the copy did before the signature is verified: decode an event's body "
        "where isBase64Encoded is true, and take the bytes of the request, not the text of a log",
    ),
}
OWN_SCHEME: Final = "verify so in your code; here, give --scheme a file with these lines:"
RAW: Final = "verify the bytes as they came, before anything parses them"


def remedy_of(diagnosis: Diagnosis, headers: Headers, body: bytes) -> Remedy:
    """What mends the first of the deviations, or what to try where none was found."""
    if diagnosis.remedy is not None:
        return BY_NAME[diagnosis.remedy]
    if not diagnosis.deviations:
        return Remedy(
            who="nobody: the signature is right",
            mend="see to what was refused: the reason above",
        )
    deviation = diagnosis.deviations[0]
    if deviation.remedy is not None:
        remedy = BY_NAME[deviation.remedy]
        lines = tuple(f"  {line}" for line in diagnosis.scheme_lines)
        return replace(remedy, mend=OWN_SCHEME, examples=lines) if lines else remedy
    if deviation.aspect is Aspect.BODY:
        return Remedy(who=_who_changed(diagnosis, headers, body), mend=RAW, examples=FRAMEWORKS)
    if deviation.aspect is Aspect.TIME and len(diagnosis.deviations) == 1:
        return _clock(deviation)
    return BY_ASPECT[deviation.aspect]


def _clock(deviation: Deviation) -> Remedy:
    remedy = BY_ASPECT[Aspect.TIME]
    if not deviation.words.startswith("sent "):
        return Remedy(
            who="the sender, which signed another time than it sent",
            mend="sign the time that is sent",
        )
    if " where " in deviation.words:  # it is in another unit or form
        return Remedy(
            who="the verifier, if this sender always writes its time so; else the sender",
            mend="read the time as this sender writes it; the signature itself is right",
        )
    return Remedy(who=f"{remedy.who}; the signature itself is right", mend=remedy.mend)


def _who_changed(diagnosis: Diagnosis, headers: Headers, body: bytes) -> str:
    length, signed = content_length(headers), diagnosis.signed_body or b""
    if length == len(signed) != len(body):
        return (
            "the receiver's side: Content-Length has the length of what was signed, so the body "
            "was changed after it was sent, by the framework, a proxy or whoever saved it"
        )
    if length is not None and length == len(body):
        return (
            "the sender, if this is the body that it sent: Content-Length has its length; or a "
            "framework or proxy on the receiver's side, which wrote the body and its length again"
        )
    return "most often the receiver's framework or a proxy before it; else the sender"
