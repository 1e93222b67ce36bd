"""Outgoing authentication of endpoints: the words for its kinds, and what is masked (section 2.5).

All endpoints are disabled. Where words that a service does not know are refused, a word that is
accepted is one that it knows; otherwise only deliveries show what a word means.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hookproof.conformance.experiments.support.json_web_key import rsa_key
from hookproof.conformance.learning.candidates import candidates, units
from hookproof.conformance.learning.session import CREATE, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import accepted_or_refused, refused, shown
from hookproof.spec.dialect.model import WORDS_IN_REQUESTS
from hookproof.spec.dialect.vocabulary import OnInput, TimeUnit

# Each kind: the field of its word, and the member that goes with it.
KINDS: Final = {
    "words.auth_api_key": "api_key",
    "words.auth_basic": "basic_auth",
    "words.auth_oauth2": "oauth2",
}
OTHERS_ACCEPTED: Final = (
    "the service accepts words that it does not know, so that only deliveries show it"
)
# The members of a mechanism that are secret, those of a signing key by their names in RFC 7518,
# sections 6.2.2 and 6.3.2.
SECRETS: Final = frozenset(
    {"header_value", "password", "client_secret", "d", "p", "q", "dp", "dq", "qi"}
)
# Those whose masking has to be seen, if what is masked is to be known.
MASKABLE: Final = (
    "authentication.api_key.header_value",
    "authentication.basic_auth.password",
    "authentication.oauth2.client_secret",
    "mtls_client_cert.client_key",
)
# What masks are made of, or say.
MASKS: Final = re.compile(
    r"[*•x#X.\-_()\[\]<> ]*|.*(?:hidden|redacted|masked|filtered|removed|omitted).*", re.IGNORECASE
)
# What stands for a part of a credential.
PARTLY_MASKED: Final = re.compile(r"(?P<head>.*?)[*•x#X.\-_]{3,}(?P<tail>.*)", re.DOTALL)


async def probe_authentication(session: ProbeSession) -> None:
    """Learn the words for kinds of authentication, and what responses mask."""
    answers, members = session.answers, _members(session)
    unknown = await _create(session, session.word("word"), {"oauth2": members["oauth2"]})
    if not refused(unknown):
        for field in (*KINDS, "words.oauth2_shared_secret", "words.oauth2_assertion"):
            answers.miss(field, OTHERS_ACCEPTED)
        seconds = TimeUnit.SECONDS.value
        answers.assume("words.oauth2_expiry_units", {seconds: seconds}, OTHERS_ACCEPTED)
    else:
        for field, member in KINDS.items():
            await _find_word(session, field, member, members[member])
        await _find_oauth2_words(session, members["oauth2"])
    if unknown.succeeded or (refused(unknown) and any(map(answers.is_seen, KINDS))):
        session.other_words["type"] = unknown
    await _probe_words_of_oauth2(session, members["oauth2"])
    await _probe_partial_mapping(session, members["oauth2"])
    await probe_masks(session, members)


async def _probe_words_of_oauth2(session: ProbeSession, oauth2: Mapping[str, Any]) -> None:
    """What becomes of an unknown word in the fields of oauth2, where known ones are taken."""
    word = session.answers.value("words.auth_oauth2")
    whole = _known_oauth2(session, oauth2)
    if not (await _create(session, word, {"oauth2": whole})).succeeded:
        return
    for name in ("authentication_type", "expiry_time_unit"):
        changed = {**whole, name: session.word("word")}
        answer = await _create(session, word, {"oauth2": changed})
        if accepted_or_refused(answer):
            session.other_words[name] = answer


def _known_oauth2(session: ProbeSession, oauth2: Mapping[str, Any]) -> dict[str, Any]:
    """The same with the words that are known or assumed."""
    answers = session.answers
    return {
        **oauth2,
        "authentication_type": answers.value("words.oauth2_shared_secret"),
        "expiry_time_unit": next(iter(answers.value("words.oauth2_expiry_units"))),
    }


def see_other_words(session: ProbeSession) -> None:
    """Learn what becomes of unknown words: of all fields, if all were asked and do the same, and
    else of each that was asked.
    """
    answers, field = session.answers, "words.other_words"
    meanings = {
        name: (OnInput.REFUSED if refused(answer) else OnInput.IGNORED).value
        for name, answer in session.other_words.items()
    }
    proof = next(iter(session.other_words.values()), None)
    unasked = [name for name in WORDS_IN_REQUESTS if name not in meanings]
    if proof is None:
        answers.miss(
            field, "no field takes a word that is known, beside which others could be told"
        )
    elif not unasked and len(set(meanings.values())) == 1:
        answers.see(field, meanings["type"], shown_by=proof, count=len(meanings))
    else:
        reason = f"{' and '.join(unasked)} could not be asked" if unasked else "fields differ"
        answers.miss(field, reason)
        answers.see(f"{field}_of", meanings, shown_by=proof, count=len(meanings))


def _members(session: ProbeSession) -> dict[str, dict[str, Any]]:
    return {
        "api_key": {"header_name": "X-Learned", "header_value": session.word("value")},
        "basic_auth": {"username": session.word("user"), "password": session.word("password")},
        "oauth2": session.bodies.oauth2()["oauth2"],
    }


async def _create(
    session: ProbeSession, word: str, members: Mapping[str, Any], **fields: Any
) -> Exchange:
    authentication = {"type": word, **members}
    body = session.endpoint(authentication=authentication, **fields)
    return await session.call(CREATE, f"with authentication {word}", body=body)


async def _find_word(
    session: ProbeSession, field: str, member: str, value: Mapping[str, Any]
) -> None:
    for word in candidates(field, session.answers.extended):
        answer = await _create(session, word, {member: value})
        if answer.succeeded:
            session.answers.see(field, word, shown_by=answer)
            return
    session.answers.miss(field, "every word that was tried is refused")


async def _find_oauth2_words(session: ProbeSession, oauth2: Mapping[str, Any]) -> None:
    """The words within oauth2 that are accepted, all else being right."""
    answers, word = session.answers, session.answers.value("words.auth_oauth2")
    if not answers.is_seen("words.auth_oauth2"):
        # Its own words may be what is refused.
        await _find_both_words(session, oauth2)
        word = answers.value("words.auth_oauth2")
    if not answers.is_seen("words.auth_oauth2"):
        return
    taken: list[str] = []
    for field, more in (
        ("words.oauth2_shared_secret", {}),
        ("words.oauth2_assertion", {"signing_key": _signing_key(session)}),
    ):
        if answers.is_seen(field):
            taken.append(answers.value(field))
            continue
        for tried in candidates(field, answers.extended):
            if tried in taken:
                continue
            changed = {**oauth2, **more, "authentication_type": tried}
            answer = await _create(session, word, {"oauth2": changed})
            if answer.succeeded:
                answers.see(field, tried, shown_by=answer)
                taken.append(tried)
                break
        else:
            answers.miss(field, "every word that was tried is refused")
    await _find_units(session, word, oauth2)


async def _find_both_words(session: ProbeSession, oauth2: Mapping[str, Any]) -> None:
    """The words for oauth2 and for its shared secret, if the assumed one is refused."""
    answers = session.answers
    bare = {key: value for key, value in oauth2.items() if key != "expiry_time_unit"}
    for word in candidates("words.auth_oauth2", answers.extended):
        for way in candidates("words.oauth2_shared_secret", answers.extended):
            answer = await _create(session, word, {"oauth2": {**bare, "authentication_type": way}})
            if answer.succeeded:
                answers.see("words.auth_oauth2", word, shown_by=answer)
                answers.see("words.oauth2_shared_secret", way, shown_by=answer)
                return


def _signing_key(session: ProbeSession) -> dict[str, str]:
    return rsa_key(session.word("key"))


async def _find_units(session: ProbeSession, word: str, oauth2: Mapping[str, Any]) -> None:
    """The words of expiry_time_unit; what each stands for is as it reads."""
    answers, field = session.answers, "words.oauth2_expiry_units"
    known = {**oauth2, "authentication_type": answers.value("words.oauth2_shared_secret")}
    unknown = await _create(
        session, word, {"oauth2": {**known, "expiry_time_unit": session.word("unit")}}
    )
    if not refused(unknown):
        answers.miss(field, OTHERS_ACCEPTED)
        return
    accepted: dict[str, str] = {}
    for unit, meaning in units(answers.extended).items():
        answer = await _create(session, word, {"oauth2": {**known, "expiry_time_unit": unit}})
        if answer.succeeded:
            accepted[unit] = meaning
            proof = answer
    if accepted:
        answers.see(field, accepted, shown_by=proof, count=len(accepted))


async def _probe_partial_mapping(session: ProbeSession, oauth2: Mapping[str, Any]) -> None:
    """A field_mapping without the access_token, beside a whole one that is accepted."""
    field, answers = "requests.partial_field_mapping", session.answers
    word, whole = answers.value("words.auth_oauth2"), _known_oauth2(session, oauth2)
    accepted = await _create(session, word, {"oauth2": whole})
    if not accepted.succeeded:
        answers.miss(field, "an endpoint with oauth2 is refused, with a whole field_mapping too")
        return
    mapping = {**whole["field_mapping"]}
    del mapping["access_token"]
    answer = await _create(session, word, {"oauth2": {**whole, "field_mapping": mapping}})
    if answer.succeeded or refused(answer):
        meaning = "refused" if refused(answer) else "standard_names"
        answers.see(field, meaning, shown_by=answer)


async def probe_masks(session: ProbeSession, members: Mapping[str, dict[str, Any]]) -> None:
    """Which credentials of an endpoint are shown otherwise than they were sent, or left out."""
    answers = session.answers
    sent: dict[str, str] = {}
    texts: dict[str, str] = {}
    for field, member in KINDS.items():
        value = dict(members[member])
        if member == "oauth2":
            value = {**_known_oauth2(session, value), "signing_key": _signing_key(session)}
        answer = await _create(session, answers.value(field), {member: value})
        given = dict(_texts({"authentication": {member: value}}))
        read = dict(_texts({"authentication": shown(answer).get("authentication")}))
        # Whoever shows no member of a mechanism may not have it.
        if not given.keys().isdisjoint(read):
            proof, sent, texts = answer, sent | given, texts | read
    if not sent:
        reason = "no answer shows a member of an endpoint's authentication"
        answers.miss("representation.masked", reason)
        answers.miss("representation.mask", reason)
        return
    secret = {path: texts.get(path) for path in sent if path.rpartition(".")[2] in SECRETS}
    changed = [text for path, text in secret.items() if text and text != sent[path]]
    mask = _mask(changed)
    masked = [
        path
        for path, text in sent.items()
        if (mask and texts.get(path) == mask)
        or (path in secret and (secret[path] is None or _is_masked(secret[path] or "", text)))
    ]
    see_masked(session, masked, [*sent], proof)
    if mask:
        answers.see("representation.mask", mask, shown_by=proof, count=len(masked))
    else:
        answers.miss("representation.mask", "nothing that was sent is masked")


def see_masked(
    session: ProbeSession, masked: Sequence[str], tried: Sequence[str], proof: Exchange
) -> None:
    """Learn which of the credentials that were tried are masked, beside those tried before.

    Of the others nothing is known; they are assumed to be as in the extended dialect.
    """
    answers, field = session.answers, "representation.masked"
    session.credentials |= {path: path in masked for path in tried}
    known = session.credentials
    listed = [path for path, is_masked in known.items() if is_masked]
    assumed = [path for path in answers.inherited(field) if path not in known]
    untried = [path for path in MASKABLE if path not in known]
    if untried or assumed:
        reason = f"nothing shows whether {' and '.join(untried or assumed)} is masked"
        answers.assume(field, [*listed, *assumed], reason)
    else:
        answers.see(field, listed, shown_by=proof, count=len(known))


def _is_masked(text: str, credential: str) -> bool:
    return text != credential and is_mask_of(text, credential)


def is_mask_of(text: str, credential: str) -> bool:
    """Whether a text is a mask, which may leave less than half of a credential at its ends."""
    if MASKS.fullmatch(text):
        return True
    parts = PARTLY_MASKED.fullmatch(text)
    return (
        parts is not None
        and credential.startswith(parts["head"])
        and credential.endswith(parts["tail"])
        and 2 * len(parts["head"] + parts["tail"]) < len(credential)
    )


def _mask(shown_instead: list[str]) -> str:
    """The text that stands for several credentials, or for one if it looks like a mask."""
    repeated = Counter(filter(None, shown_instead)).most_common(1)
    if not repeated:
        return ""
    text, count = repeated[0]
    return text if count > 1 or MASKS.fullmatch(text) else ""


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The texts within a value with their dotted paths."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(item, f"{path}.{name}".removeprefix("."))
    elif isinstance(value, str):
        yield path, value
