"""What a target refuses, or does not show, teaches nothing without a control beside it."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from hookproof.conformance.learning.controls import controlled
from hookproof.conformance.learning.learned_answers import Certainty
from hookproof.conformance.learning.probes import rolls
from hookproof.conformance.learning.probes.authentication import (
    MASKABLE,
    probe_authentication,
    see_masked,
    see_other_words,
)
from hookproof.conformance.learning.probes.bounds import (
    probe_nesting,
    probe_number_bounds,
    probe_text_lengths,
)
from hookproof.conformance.learning.probes.broadcasts import probe_broadcasts
from hookproof.conformance.learning.probes.endpoints import probe_active_endpoint, probe_zeros
from hookproof.conformance.learning.probes.lists import probe_lists
from hookproof.conformance.learning.probes.optional_requests import probe_optional_requests
from hookproof.conformance.learning.probes.portal_links import FIELDS, probe_portal_link
from hookproof.conformance.learning.probes.refusals import probe_refusals
from hookproof.conformance.learning.probes.rolls import probe_expired_secrets
from hookproof.conformance.learning.session import CREATE, GET, LINKS, ROLL, UPDATE, unknown_uid
from hookproof.spec.dialect.groups.requests import UNBOUNDED
from tests.conformance.canned_evidence import exchange
from tests.conformance.learning.scripted_session import Call, ScriptedSession, listed, reasons

NO = (401, None)
LINK: Mapping[str, Any] = {"uid": "l1", "name": "Orders", "owner_id": "owner", "auth_type": "token"}


def created(call: Call) -> tuple[int, Any]:
    body = call.body if isinstance(call.body, dict) else {}
    return 201, {"uid": "e1", "url": "https://a.invalid", **body}


def test_a_list_that_nobody_may_read_teaches_nothing_and_the_other_one_stands_in() -> None:
    """As where a licence for portal links is missing, which is 401 as a refused value is not."""

    def answer(call: Call) -> tuple[int, Any]:
        if call.operation == LINKS:
            return NO
        if {"many", "sideways", "up"} & {*call.query.values()}:
            return 400, None
        return 200, listed({"uid": "s1"}, per_page=int(call.query.get("perPage", 20)))

    session = ScriptedSession(answer)
    asyncio.run(controlled(session, probe_lists(session)))
    answers = session.answers
    assert answers.value("paging.bad_parameter") == "refuse"
    assert answers.value("paging.default_per_page") == 20
    assert answers.answer("errors.invalid_value").values == (400,)
    assert not answers.is_seen("success.list_portal_links")
    assert "none up to" in answers.answer("paging.maximum_per_page").reason


def test_updates_that_nobody_may_do_teach_nothing() -> None:
    session = ScriptedSession(lambda call: NO if call.operation == UPDATE else (200, LINK))
    asyncio.run(
        controlled(session, probe_portal_link(session, [LINK], exchange(data={"uid": "e"})))
    )
    assert not [field for field in FIELDS if session.answers.is_seen(field)]
    assert not session.other_words
    assert set(reasons(session, FIELDS)) == {
        "the update of a portal link with its own values is refused"
    }


@pytest.mark.parametrize(("quota", "learned"), [(99, True), (0, False)])
def test_a_quota_that_is_used_up_is_no_answer_to_what_was_asked(
    quota: int, *, learned: bool
) -> None:
    """Every creation beyond it is refused, an ordinary one too."""
    taken = 0

    def answer(call: Call) -> tuple[int, Any]:
        nonlocal taken
        if call.operation != CREATE or call.size:
            return 400, None
        if (call.body or {}).get("http_timeout") == "twelve":
            return 422, None
        taken += 1
        return created(call) if taken <= quota else (403, None)

    async def probe(session: ScriptedSession) -> None:
        wrong = session.endpoint(http_timeout="twelve")
        answered = await session.call(CREATE, "of a wrong type", body=wrong)
        session.refusals["errors.invalid_value"] = [answered]
        session.answers.see("errors.invalid_value", answered.status, shown_by=answered)

    session = ScriptedSession(answer)
    asyncio.run(controlled(session, probe(session)))
    assert session.answers.is_seen("errors.invalid_value") is learned
    assert len(session.refusals["errors.invalid_value"]) == int(learned)
    if not learned:
        reason = session.answers.answer("errors.invalid_value").reason
        assert reason == "createEndpoint refuses an ordinary request too (403)"


def test_a_probe_whose_last_request_was_taken_needs_no_further_one() -> None:
    session = ScriptedSession(created)

    async def probe() -> None:
        session.exchanges.append(exchange("refused", CREATE, status=400))
        await session.call(CREATE, "taken")

    asyncio.run(controlled(session, probe()))
    assert len(session.exchanges) == 2


@pytest.mark.parametrize(
    ("onward", "form"), [("s1", "identifier"), ("s2", "identifier"), ("x", "opaque")]
)
def test_a_cursor_is_compared_with_the_identifiers_of_every_page(onward: str, form: str) -> None:
    def answer(call: Call) -> tuple[int, Any]:
        if call.query.get("perPage") == "1":
            return 200, listed({"uid": "s1"}, onward=onward)
        return 200, listed({"uid": "s1"}, {"uid": "s2"})

    session = ScriptedSession(answer)
    asyncio.run(probe_lists(session))
    assert session.answers.value("paging.cursor_form") == form


@pytest.mark.parametrize(("largest", "above"), [(20, "clamp"), (100, None)])
def test_a_page_of_the_default_size_is_no_largest_page(largest: int, above: str | None) -> None:
    """A size beyond the largest may be one that is not understood."""

    def answer(call: Call) -> tuple[int, Any]:
        size = int(call.query.get("perPage", 20)) if call.query.get("perPage") != "many" else 20
        return 200, listed({"uid": "s1"}, per_page=size if size <= largest else 20)

    session = ScriptedSession(answer)
    asyncio.run(probe_lists(session))
    assert session.answers.value("paging.above_maximum") == above


def test_words_that_were_seen_close_no_list() -> None:
    source = {"uid": "s1", "type": "rest_api", "verifier": {"hmac": {"encoding": "base32"}}}
    session = ScriptedSession(lambda _call: (200, listed(source)))
    asyncio.run(probe_lists(session))
    known = session.answers.answer("words.source_types")
    assert known.certainty is Certainty.ASSUMED
    assert "rest_api" in known.values[0]
    assert not session.answers.is_seen("words.hmac_encodings")


class RolledSecrets:
    """A target with one endpoint whose secrets end at once; some services tidy up only later."""

    def __init__(self, *, listed: bool, shows_old: bool = True) -> None:
        self.listed, self.shows_old = listed, shows_old
        self.held: list[tuple[str, int | None]] = []
        self.is_later = False

    def answer(self, call: Call) -> tuple[int, Any]:
        self.is_later = self.is_later or "after that" in call.role
        if call.operation == CREATE:
            self.held = [("one", None)]
        if call.operation == ROLL:
            name, _ = self.held[-1]
            new = f"{name}+"
            self.held = [*self.held[:-1], (name, call.body["expiration"]), (new, None)]
        shown = [uid for uid, window in self.held if self._is_shown(window)]
        return 200, {"uid": "e1", "secrets": [{"uid": uid, "value": uid} for uid in shown]}

    def _is_shown(self, window: int | None) -> bool:
        if window is None:
            return True
        is_over = window == 0 and self.is_later
        return self.shows_old and (self.listed or not is_over)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (RolledSecrets(listed=True), "listed"),
        (RolledSecrets(listed=False), "left_out"),
        (RolledSecrets(listed=False, shows_old=False), None),
    ],
)
def test_an_expired_secret_is_looked_for_once_it_has_expired(
    monkeypatch: pytest.MonkeyPatch, target: RolledSecrets, expected: str | None
) -> None:
    """That it is not shown means nothing where an old secret is not shown before, either."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(rolls.asyncio, "sleep", sleep)
    session = ScriptedSession(target.answer)
    asyncio.run(probe_expired_secrets(session))
    assert session.answers.value("representation.expired_secrets") == expected
    assert waited == ([] if expected is None else [rolls.WHOLE_SECONDS_S])


@pytest.mark.parametrize(
    ("uid", "unknown"),
    [
        ("pl_000200", "pl_999999"),
        ("42", "999999999"),
        ("ep7", "ep999999999"),
    ],
)
def test_an_identifier_that_no_resource_has(uid: str, unknown: str) -> None:
    assert unknown_uid(uid) == unknown


@pytest.mark.parametrize(
    ("unlicensed", "usual", "single"),
    [
        ({"type"}, None, {}),
        (
            set(),
            None,
            {"type": "refused", "authentication_type": "ignored", "expiry_time_unit": "refused"},
        ),
    ],
)
def test_what_becomes_of_an_unknown_word_is_asked_of_each_field(
    unlicensed: set[str], usual: str | None, single: dict[str, str]
) -> None:
    """A service may know the words of one field alone; where no word is taken, none is unknown."""

    def answer(call: Call) -> tuple[int, Any]:
        authentication = (call.body or {}).get("authentication") or {}
        if unlicensed and authentication:
            return 400, None
        kind, unit = (
            authentication.get("type"),
            (authentication.get("oauth2") or {}).get("expiry_time_unit"),
        )
        is_known = kind in (None, "api_key", "basic_auth", "oauth2") and unit in (None, "seconds")
        return created(call) if is_known else (400, None)

    session = ScriptedSession(answer)
    asyncio.run(controlled(session, probe_authentication(session)))
    see_other_words(session)
    assert session.answers.value("words.other_words") == usual
    learned = session.answers.value("words.other_words_of")
    assert learned == single
    if single:
        assert "auth_type could not be asked" in session.answers.answer("words.other_words").reason
        accused = session.answers.dialect.words.other_words_in("auth_type")
        assert accused.allowed == ()


def test_a_mask_is_seen_only_where_something_could_be_masked() -> None:
    """A masked key of a certificate says nothing of a password."""
    session = ScriptedSession(created)
    see_masked(session, [MASKABLE[-1]], [MASKABLE[-1]], exchange())
    known = session.answers.answer("representation.masked")
    assert known.certainty is Certainty.ASSUMED
    assert "basic_auth.password" in known.reason
    see_masked(
        session, [], [*MASKABLE, *session.answers.inherited("representation.masked")], exchange()
    )
    assert session.answers.answer("representation.masked").certainty is Certainty.SEEN


def test_credentials_that_are_not_shown_at_all_teach_no_mask() -> None:
    session = ScriptedSession(lambda _call: (201, {"uid": "e1", "authentication": {}}))
    asyncio.run(probe_authentication(session))
    for field in ("representation.masked", "representation.mask"):
        assert not session.answers.is_seen(field)


def test_a_bound_that_was_not_met_is_none_up_to_there() -> None:
    session = ScriptedSession(created)
    asyncio.run(probe_number_bounds(session, exchange(data={"uid": "e1"})))
    asyncio.run(probe_nesting(session))
    for name in ("http_timeout", "rate_limit", "rate_limit_duration", "expiration"):
        answer = session.answers.answer(f"requests.{name}_maximum")
        assert (answer.certainty, answer.values) == (Certainty.ASSUMED, (None,))
        assert answer.reason == f"none up to {UNBOUNDED} was met"
    assert session.answers.answer("requests.nesting_maximum").certainty is Certainty.UNSEEN


def test_a_number_that_is_taken_as_another_one_teaches_no_bound() -> None:
    def answer(call: Call) -> tuple[int, Any]:
        status, data = created(call)
        return status, {**data, "http_timeout": min(60, data.get("http_timeout", 10))}

    session = ScriptedSession(answer)
    asyncio.run(probe_number_bounds(session, exchange(data={})))
    assert "shown as 60" in session.answers.answer("requests.http_timeout_maximum").reason
    assert "none up to" in session.answers.answer("requests.rate_limit_maximum").reason


@pytest.mark.parametrize("by_size", [True, False])
def test_a_text_whose_body_is_too_long_is_not_too_long_itself(*, by_size: bool) -> None:
    """A body of that size is refused whatever is in it."""

    def answer(call: Call) -> tuple[int, Any]:
        body = call.body if isinstance(call.body, dict) else {}
        longest = max((len(text) for text in body.values() if isinstance(text, str)), default=0)
        is_refused = longest > 300 or (by_size and call.size > 300)
        return (413, None) if is_refused else created(call)

    session = ScriptedSession(answer)
    asyncio.run(probe_text_lengths(session))
    found = session.answers.value("requests.text_maximum_of")
    assert found == ({} if by_size else dict.fromkeys(found, 300))
    assert by_size or "name" in found


@pytest.mark.parametrize(("shows_owner", "meaning"), [(True, "ignored"), (False, None)])
def test_an_owner_that_is_never_shown_does_not_tell_what_app_id_is(
    meaning: str | None, *, shows_owner: bool
) -> None:
    def answer(call: Call) -> tuple[int, Any]:
        owner = {"owner_id": call.body.get("owner_id", "")} if shows_owner else {}
        return 201, {"uid": "e1", "status": "active", **owner}

    session = ScriptedSession(answer)
    asyncio.run(probe_active_endpoint(session))
    assert session.answers.value("requests.app_id") == meaning


def test_states_that_differ_from_one_answer_to_another_may_be_either() -> None:
    number = 0

    def answer(_call: Call) -> tuple[int, Any]:
        nonlocal number
        number += 1
        return 201, {"uid": f"e{number}", "status": "pending" if number < 3 else "active"}

    session = ScriptedSession(answer)
    for _ in range(2):
        asyncio.run(probe_active_endpoint(session))
    values = session.answers.answer("words.endpoint_active").values
    assert set(values) == {"pending", "active"}


def test_what_an_event_shows_has_to_be_what_was_sent() -> None:
    """A service may have its own time in acknowledged_at, and its own identifier in app_id."""

    def answer(call: Call) -> tuple[int, Any]:
        own = {"acknowledged_at": "2001-01-01T00:00:00Z", "app_id": "app", "raw": "{}"}
        return 201, {"uid": call.body.get("event_type"), "status": "new", **own}

    session = ScriptedSession(answer)
    asyncio.run(probe_broadcasts(session))
    for name in ("acknowledged_at", "application", "raw"):
        answered = session.answers.answer(f"representation.event_{name}")
        assert "not what was sent" in answered.reason
    assert session.answers.value("representation.event_query") == "none"


def test_an_operation_that_refuses_its_ordinary_body_says_nothing_of_undeclared_ones() -> None:
    session = ScriptedSession(lambda call: NO if call.operation == ROLL else created(call))
    asyncio.run(probe_optional_requests(session, exchange(data={"uid": "e1"}), []))
    assert session.answers.value("requests.undeclared_body") == "taken"


def test_refusals_of_a_service_that_takes_no_endpoint_are_not_those_of_mistakes() -> None:
    session = ScriptedSession(lambda _call: (401, None))

    async def send(role: str, *_request: object) -> Any:
        return exchange(role, None, status=404, path={})

    session.send = send  # type: ignore[method-assign]
    asyncio.run(controlled(session, probe_refusals(session)))
    for field in ("malformed_body", "invalid_value", "unsupported_media_type"):
        assert not session.answers.is_seen(f"errors.{field}")
    assert session.answers.value("errors.unknown_path") == 404
    assert GET not in session.paths


@pytest.mark.parametrize(("shown", "meaning"), [(0, "unlimited"), (25, None)])
def test_a_limit_of_zero_that_is_shown_as_another_one_is_not_unlimited(
    shown: int, meaning: str | None
) -> None:
    session = ScriptedSession(lambda call: (201, {**created(call)[1], "rate_limit": shown}))
    asyncio.run(probe_zeros(session))
    assert session.answers.value("delivery.zero_rate_limit") == meaning
