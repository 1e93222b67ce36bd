"""Portal links: what an update needs and does (sections 2.6, 4.5, 4.6 and 9).

One portal link is changed, and put back as it was.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hookproof.conformance.learning.candidates import candidates
from hookproof.conformance.learning.probes.access import see_unknown_resource
from hookproof.conformance.learning.probes.lists import why_no_links
from hookproof.conformance.learning.probes.optional_requests import ask, see_reading
from hookproof.conformance.learning.probes.refusals import UNLISTED
from hookproof.conformance.learning.probes.required import learn_one_of, learn_required
from hookproof.conformance.learning.session import CREATE, LINK, UPDATE, ProbeSession, unknown_uid
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import has_value, refused, shown, shown_uid
from hookproof.conformance.observations.mistakes import RequestTried
from hookproof.conformance.subjects.questions.evidence import (
    QUESTIONS,
    NullField,
    UnknownEndpointListed,
)
from hookproof.spec.field_roles import shown_as_sent

FIELDS: Final = (
    "requests.update_portal_link_requires",
    "requests.update_left_out",
    "requests.portal_endpoints",
    "words.portal_auth_types",
    "success.accepted",
    "requests.unknown_listed_endpoints",
)
ONE_OF: Final = "requests.update_portal_link_requires_one_of"


async def probe_portal_link(
    session: ProbeSession, links: Sequence[Mapping[str, Any]], created: Exchange | None
) -> list[RequestTried]:
    """Learn from updates of one portal link what they need and do.

    Returns the updates with null in place of a field, which are judged with those of others, as
    are those with a field that an update does not have.
    """
    link = next((each for each in links if has_value(each.get("owner_id"))), None)
    if link is None or not isinstance(link.get("uid"), str):
        for field in FIELDS:
            session.answers.miss(field, why_no_links(session))
        return []
    link_probe, uid = _LinkProbe(session, link), shown_uid(created)
    if not await link_probe.can_be_updated():
        reason = "the update of a portal link with its own values is refused"
        for field in FIELDS:
            session.answers.miss(field, reason)
        return []
    try:
        await link_probe.required(uid)
        await link_probe.words()
        await link_probe.left_out()
        if uid is not None:
            await link_probe.listed_endpoints(uid)
            await link_probe.unknown_endpoint(uid)
        await link_probe.unknown_link()
        await link_probe.unlisted_fields()
        return await link_probe.null()
    finally:
        await link_probe.put_back()


class _LinkProbe:
    """The updates of one portal link."""

    def __init__(self, session: ProbeSession, link: Mapping[str, Any]) -> None:
        self._session = session
        self._link = link
        self._path = {"portalLinkID": str(link["uid"])}
        session.paths |= dict.fromkeys((LINK, UPDATE), self._path)
        session.link_body = self._body()

    async def _update(self, role: str, **fields: Any) -> Exchange:
        return await self._session.call(UPDATE, role, path=self._path, body=fields)

    def _body(self, **fields: Any) -> dict[str, Any]:
        """The portal link as it is, with these changes."""
        names = shown_as_sent(UPDATE)
        own = {name: self._link[name] for name in names if has_value(self._link.get(name))}
        return {**own, **fields}

    async def can_be_updated(self) -> bool:
        """Whether an update is taken that changes nothing: the control of all others."""
        self._whole = await self._update("as it is", **self._body())
        if self._whole.succeeded:
            self._session.answers.see("success.accepted", self._whole.status, shown_by=self._whole)
        return self._whole.succeeded

    async def required(self, uid: str | None) -> None:
        """What an update needs; `uid` is of an endpoint that it can name."""
        answers, whole = self._session.answers, self._whole

        async def without(name: str) -> Exchange:
            body = self._body()
            del body[name]
            return await self._update(f"without {name}", **body)

        required = await learn_required(
            self._session, FIELDS[0], self._body(), without, whole=whole
        )
        needed = await self._without_those_that_endpoints_replace(required, uid)
        if len(needed) < len(required):
            answers.see(FIELDS[0], needed, shown_by=whole, count=len(self._body()))
        elif uid is not None:
            await self._one_of(required, uid)
        retrieved = await self._session.call(LINK, "a portal link", path=self._path)
        if retrieved.succeeded:
            answers.see("success.ok", retrieved.status, shown_by=retrieved)

    async def _without_those_that_endpoints_replace(
        self, required: Sequence[str], uid: str | None
    ) -> list[str]:
        """What an update needs even if it names the endpoints of the portal link."""
        if uid is None:
            self._session.answers.miss(ONE_OF, "there is no endpoint to be named")
            return list(required)
        replaced: dict[str, Exchange] = {}
        for name in required:
            body = self._body(endpoints=[uid])
            del body[name]
            answer = await self._update(f"with endpoints in place of {name}", **body)
            if answer.succeeded:
                replaced[name] = answer
        if len(replaced) == 1:
            (shown_by,) = replaced.values()
            self._session.answers.see(ONE_OF, [*replaced, "endpoints"], shown_by=shown_by)
        return [name for name in required if name not in replaced]

    async def _one_of(self, required: tuple[str, ...], uid: str) -> None:
        """Of which optional fields an update needs one."""
        every = self._body(endpoints=[uid])

        async def with_alone(names: tuple[str, ...]) -> Exchange:
            body = {name: every[name] for name in names}
            return await self._update(f"with {' and '.join(names) or 'nothing'}", **body)

        optional = [name for name in every if name not in required]
        await learn_one_of(self._session, ONE_OF, required, optional, with_alone)

    async def unknown_link(self) -> None:
        """Retrieve and update a portal link that does not exist."""
        session, role = self._session, "a portal link that does not exist"
        uid = unknown_uid(str(self._link["uid"]))
        retrieved = await session.call(LINK, role, uid=uid)
        updated = await session.call(UPDATE, role, uid=uid, body=session.bodies.portal_link())
        for answer in (retrieved, updated):
            see_unknown_resource(session, answer)

    async def words(self) -> None:
        """Which words auth_type can be: those that an update stores, if it refuses others."""
        answers, field = self._session.answers, "words.portal_auth_types"
        unknown = await self._update(
            "with an auth_type that nobody knows",
            **self._body(auth_type=self._session.word("word")),
        )
        own = self._link.get("auth_type")
        known = {own: self._whole} if isinstance(own, str) and own else {}
        if refused(unknown):
            for word in candidates(field, answers.extended):
                answer = await self._update(f"with auth_type {word}", **self._body(auth_type=word))
                if answer.succeeded:
                    known.setdefault(word, answer)
        if unknown.succeeded or (refused(unknown) and known):
            self._session.other_words["auth_type"] = unknown
        if known:
            reason = f"{' and '.join(known)} are taken, and others may be"
            answers.assume(field, list(known), reason)

    async def left_out(self) -> None:
        """Whether an update keeps the fields that it leaves out."""
        answers, field = self._session.answers, "requests.update_left_out"
        needed = [*(answers.value(FIELDS[0]) or []), *(answers.value(ONE_OF) or [])]
        optional = [name for name in ("owner_id", "can_manage_endpoint") if name not in needed]
        if not optional:
            answers.miss(field, "an update needs every field that could be left out")
            return
        full = self._body(owner_id=self._link["owner_id"], can_manage_endpoint=True)
        await self._update("with every field", **full)
        before = await self._session.call(LINK, "before the next update", path=self._path)
        if any(shown(before).get(name) != full[name] for name in optional):
            answers.miss(field, "a portal link does not show what an update gave it")
            return
        partial = {name: value for name, value in full.items() if name not in optional}
        answer = await self._update(f"without {' and '.join(optional)}", **partial)
        retrieved = await self._session.call(LINK, "after that update", path=self._path)
        kept = [shown(retrieved).get(name) == full[name] for name in optional]
        if answer.succeeded and retrieved.succeeded:
            meanings = dict.fromkeys("kept" if each else "cleared" for each in kept)
            answers.see(field, *meanings, shown_by=retrieved, count=len(kept))

    async def unlisted_fields(self) -> None:
        """A field that the document does not name, and one that only the service sets."""
        for name, role in UNLISTED.items():
            await self._update(role, **self._body(**{name: self._session.word("given")}))

    async def null(self) -> list[RequestTried]:
        """Updates with null in each field that can be left out."""
        return await ask(self._session, QUESTIONS[NullField], {UPDATE})

    async def listed_endpoints(self, uid: str) -> None:
        """Whether the deprecated list adds an endpoint of another owner, or is kept as it is, or
        does nothing (section 9). That an endpoint of the owner is shown is the control.
        """
        session, field = self._session, "requests.portal_endpoints"
        owner = session.word("owner")
        owned = await session.call(CREATE, "of an owner", body=session.endpoint(owner_id=owner))
        answer = await self._update(
            "with an endpoint", **self._body(owner_id=owner, endpoints=[uid])
        )
        if not answer.succeeded:
            return
        records, listed = shown(answer).get("endpoints_metadata"), shown(answer).get("endpoints")
        uids = [one.get("uid") for one in records or () if isinstance(one, dict)]
        meanings = ["ignored"]
        if uid in uids:
            meanings = ["added"]
        elif isinstance(listed, list) and uid in listed:
            meanings = ["shown"] if shown_uid(owned) in uids else ["added", "shown"]
        elif shown_uid(owned) not in uids:
            session.answers.miss(field, "a portal link does not show the endpoint of its owner")
            return
        session.answers.see(field, *meanings, shown_by=answer)

    async def unknown_endpoint(self, uid: str) -> None:
        """What becomes of an identifier that looks like this one and is nobody's."""
        question = QUESTIONS[UnknownEndpointListed]
        see_reading(self._session, question, await ask(self._session, question, {UPDATE}, uid))

    async def put_back(self) -> None:
        listed = self._link.get("endpoints")
        meaning = self._session.answers.value("requests.portal_endpoints")
        own = self._body()
        if meaning is not None:
            inherited = self._link.get("endpoints_metadata") or ()
            of_owner = {
                one.get("uid")
                for one in inherited
                if isinstance(one, dict) and one.get("owner_id") == self._link.get("owner_id")
            }
            own["endpoints"] = [
                uid for uid in (listed if isinstance(listed, list) else []) if uid not in of_owner
            ]
        await self._update("put back as it was", **own)
