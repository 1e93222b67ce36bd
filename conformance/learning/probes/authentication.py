"""Outgoing authentication of endpoints: the words for its kinds, and what is masked (section 2.5).

All endpoints are disabled. Where words that a service does not know are refused, a word that is
accepted is one that it knows; otherwise only deliveries show what a word means.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hookproof.conformance.experiments.support.json_web_key import rsa_key
from hookproof.conformance.learning.candidates import candidates, units
from hookproof.conformance.learning.session import CREATE, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import refused, shown
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
# What masks are made of, or say.
MASKS: Final = re.compile(
    r"[*•x#X.\-_()\[\]<> ]*|.*(?:hidden|redacted|masked|filtered|removed|omitted).*", re.IGNORECASE
)
# What stands for a part of a credential.
PARTLY_MASKED: Final = re.compile(r"(?P<head>.*?)[*•x#X.\-_]{3,}(?P<tail>.*)", re.DOTALL)


async def probe_authentication(session: ProbeSession) -> None:
    """Learn the words for kinds of authentication, and what responses mask."""
    members = _members(session)
    unknown = await _create(session, session.word("word"), {"oauth2": members["oauth2"]})
    if not refused(unknown):
        for field in (*KINDS, "words.oauth2_shared_secret", "words.oauth2_assertion"):
            session.answers.miss(field, OTHERS_ACCEPTED)
        seconds = TimeUnit.SECONDS.value
        session.answers.assume("words.oauth2_expiry_units", {seconds: seconds}, OTHERS_ACCEPTED)
        if unknown.succeeded:
            _see_other_words(session, OnInput.IGNORED, unknown)
    else:
        _see_other_words(session, OnInput.REFUSED, unknown)
        for field, member in KINDS.items():
            await _find_word(session, field, member, members[member])
        await _find_oauth2_words(session, members["oauth2"])
    await _probe_partial_mapping(session, members["oauth2"])
    await probe_masks(session, members)


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
    accepted: dict[str, str] = {}
    way = session.answers.value("words.oauth2_shared_secret")
    for unit, meaning in units(session.answers.extended).items():
        changed = {**oauth2, "authentication_type": way, "expiry_time_unit": unit}
        answer = await _create(session, word, {"oauth2": changed})
        if answer.succeeded:
            accepted[unit] = meaning
            proof = answer
    if accepted:
        session.answers.see(
            "words.oauth2_expiry_units", accepted, shown_by=proof, count=len(accepted)
        )


async def _probe_partial_mapping(session: ProbeSession, oauth2: Mapping[str, Any]) -> None:
    """A field_mapping without the access_token, beside a whole one that is accepted."""
    field, answers = "requests.partial_field_mapping", session.answers
    word = answers.value("words.auth_oauth2")
    whole = {**oauth2, "authentication_type": answers.value("words.oauth2_shared_secret")}
    whole["expiry_time_unit"] = next(iter(answers.value("words.oauth2_expiry_units")))
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
    masks: dict[str, str] = {}
    hidden: list[str] = []
    left_out: list[str] = []
    for field, member in KINDS.items():
        value = dict(members[member])
        if member == "oauth2":
            value["authentication_type"] = answers.value("words.oauth2_shared_secret")
            value["expiry_time_unit"] = next(iter(answers.value("words.oauth2_expiry_units")))
            value["signing_key"] = _signing_key(session)
        answer = await _create(session, answers.value(field), {member: value})
        if not isinstance(shown(answer).get("authentication"), dict):
            continue
        given = dict(_texts({"authentication": {member: value}}))
        texts = dict(_texts({"authentication": shown(answer).get("authentication")}))
        if given.keys().isdisjoint(texts):
            hidden.append(member)
            continue
        proof = answer
        sent |= given
        left_out += [
            path for path in given if path not in texts and path.rpartition(".")[2] in SECRETS
        ]
        masks |= {
            path: text for path, text in texts.items() if path in given and text != given[path]
        }
    if not sent:
        answers.miss("representation.masked", "no endpoint with authentication is accepted")
        return
    mask = _mask(list(masks.values()))
    masked = [
        path
        for path, text in masks.items()
        if (mask and text == mask)
        or (path.rpartition(".")[2] in SECRETS and is_mask_of(text, sent[path]))
    ]
    masked += left_out
    unseen = [path for path in answers.value("representation.masked") or [] if path not in sent]
    if hidden and not masked:
        reason = f"no answer shows any member of {' or '.join(hidden)}"
        answers.assume("representation.masked", unseen, reason)
    else:
        answers.see(
            "representation.masked",
            [*masked, *(unseen if masked else [])],
            shown_by=proof,
            count=len(sent),
        )
    if mask:
        answers.see("representation.mask", mask, shown_by=proof, count=len(masked))
    else:
        answers.miss("representation.mask", "nothing that was sent is masked")


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


def _see_other_words(session: ProbeSession, meaning: OnInput, unknown: Exchange) -> None:
    """What becomes of an unknown word here decides for all fields but one: that of portal links,
    where an update has shown something else before.
    """
    answers, field = session.answers, "words.other_words"
    if answers.is_seen(field) and answers.value(field) != meaning:
        earlier = answers.answer(field)
        answers.see(f"{field}_of", {"auth_type": earlier.written}, shown_by=earlier.shown_by)
    answers.see(field, meaning.value, shown_by=unknown)
