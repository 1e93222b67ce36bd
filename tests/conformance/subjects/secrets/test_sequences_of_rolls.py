"""What a roll has changed is told from what two operations show differently."""

from hookproof.conformance.model.verdict import Verdict
from tests.conformance.canned_evidence import all_verdicts, context, judgements, verdict
from tests.conformance.checks.api.example import OTHER_UID, secret
from tests.conformance.subjects.secrets.examples import BODY, EXPIRING, NEW, expired, roll
from tests.conformance.subjects.sequences.examples import (
    SECRETS,
    created,
    fetched,
    rolled,
    sequence,
)


def test_what_a_creation_shows_otherwise_than_a_retrieval_was_not_changed_by_a_roll() -> None:
    """The name is hidden in retrievals, with and without a roll before them (4.2-5)."""
    hidden_throughout = (
        sequence(created(), rolled(), fetched(name=None)),
        sequence(created(), rolled(name=None), fetched()),
        sequence(created(), fetched(name=None), rolled(), fetched(name=None)),
    )
    for steps in hidden_throughout:
        actual = all_verdicts(steps)
        assert actual.get("4.3-11") is not Verdict.FAIL


def test_what_is_fetched_or_answered_otherwise_after_a_roll_was_changed_by_it() -> None:
    for steps in (
        sequence(created(), fetched(), rolled(), fetched(name="changed")),
        sequence(created(), rolled(), rolled(name="changed")),
    ):
        assert verdict("4.3-11", steps) is Verdict.FAIL


def test_secrets_that_a_creation_shows_otherwise_were_not_changed_by_a_roll_of_others() -> None:
    otherwise, other_rolled = fetched(secrets=SECRETS), (created(OTHER_UID), rolled(OTHER_UID))
    unknown = sequence(created(), *other_rolled, otherwise)
    assert verdict("4.3-14", unknown) is None
    as_before = sequence(created(), otherwise, *other_rolled, otherwise)
    assert verdict("4.3-14", as_before) is Verdict.PASS
    changed = sequence(created(), fetched(), *other_rolled, otherwise, otherwise)
    assert verdict("4.3-14", changed) is Verdict.FAIL


def test_secrets_that_do_not_keep_their_uid_show_nothing_of_an_expired_one() -> None:
    renamed = [secret("another"), secret("a third")]
    assert list(judgements("4.3-22", expired(*renamed))) == []
    assert [each.verdict for each in judgements("4.3-22", expired(secret(NEW)), context())] == [
        Verdict.FAIL
    ]


def test_an_old_secret_that_a_roll_shows_under_another_uid_need_not_be_fetched() -> None:
    old, new = {**EXPIRING, "uid": "another"}, secret(NEW, "new-secret")

    for fetched_secrets, expected in (([new], Verdict.PASS), ([old], Verdict.FAIL)):
        rolls = roll(old, new, body=BODY, fetched_secrets=fetched_secrets)
        assert verdict("4.3-13", rolls) is expected
