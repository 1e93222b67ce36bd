from collections.abc import Sequence
from dataclasses import replace

import pytest

from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.exhaustion.evidence import (
    ChatNotifications,
    ExhaustedDeliveries,
    MailNotifications,
)
from hookproof.spec.dialect.answer import Answer, Undecided
from hookproof.spec.dialect.vocabulary import Notify
from tests.conformance.canned_deliveries import created, destination, event, observed, sent
from tests.conformance.canned_evidence import (
    NOW,
    context,
    delivery,
    exchange,
    judgements,
    verdict,
    verdicts,
)

UNSCHEDULED = {"retry.factor": {"undecided": "the waits say too little"}}
PASS, FAIL = Verdict.PASS, Verdict.FAIL
FAILING = destination("failing")


def exhausted(
    attempts: int = 5,
    *,
    messages_at: Sequence[float] = (),
    after: str = "active",
    events: int = 1,
    counted: object = None,
) -> ExhaustedDeliveries:
    """So many attempts a second apart, messages to the chat channel, and the endpoint's status at
    the end, with a count of events.
    """
    arrived = [
        sent(event(), FAILING, at=NOW + number, attempt=number + 1) for number in range(attempts)
    ]
    messages = [delivery("chat", arrived_at=NOW + at) for at in messages_at]
    retrievals = [
        exchange(
            role,
            "getEndpoint",
            path={"endpointID": FAILING.uid},
            data={"status": status, "events": counted},
        )
        for role, status in (("before", "active"), ("after", after))
    ]
    return observed(
        ExhaustedDeliveries,
        FAILING,
        *arrived,
        *messages,
        exchanges=retrievals,
        contact="chat",
        exhausted=events,
    )


def test_as_many_attempts_as_the_dialect_says_pass() -> None:
    assert verdicts("1-12 1-13", exhausted(5)) == {"1-12": PASS, "1-13": PASS}
    assert verdicts("1-12 1-13", exhausted(3), "contrary") == {"1-12": PASS, "1-13": PASS}


def test_too_few_or_too_many_attempts_fail() -> None:
    assert verdicts("1-12 1-13", exhausted(4)) == {"1-12": FAIL, "1-13": PASS}
    assert verdicts("1-12 1-13", exhausted(6)) == {"1-12": PASS, "1-13": FAIL}


def test_without_a_schedule_attempts_show_what_they_are_and_their_absence_nothing() -> None:
    with pytest.raises(Undecided):
        verdicts("1-12 1-13", exhausted(4), UNSCHEDULED)
    assert verdicts("1-12 1-13", exhausted(5), UNSCHEDULED) == {"1-12": PASS}
    assert verdicts("1-12 1-13", exhausted(6), UNSCHEDULED) == {"1-12": PASS, "1-13": FAIL}


@pytest.mark.parametrize(("attempts", "expected"), [(4, PASS), (5, PASS), (6, FAIL)])
def test_too_many_attempts_at_an_earlier_event_fail_and_too_few_may_be_the_last_ones(
    attempts: int, expected: Verdict
) -> None:
    earlier, last = event("event 1"), event()
    arrived = [
        sent(each, FAILING, at=NOW + number, attempt=number + 1)
        for each, count in ((earlier, attempts), (last, 5))
        for number in range(count)
    ]
    evidence = observed(
        ExhaustedDeliveries,
        FAILING,
        *arrived,
        events=[earlier, last],
        contact="chat",
        exhausted=2,
    )
    assert verdicts("1-12", evidence) == {"1-12": PASS}
    assert verdict("1-13", evidence) is expected


def context_with(notify_on: Answer[Notify], *, deactivate_after: int = 0) -> CheckContext:
    """The reference dialect with another condition."""
    reference = context().dialect
    dialect = replace(
        reference,
        delivery=replace(reference.delivery, notify_on=notify_on),
        retry=replace(reference.retry, deactivate_after=Answer((deactivate_after,))),
    )
    return CheckContext(dialect=dialect, contract=context().contract)


def on_message(
    evidence: ExhaustedDeliveries, condition: Notify, *, deactivate_after: int = 0
) -> Verdict | None:
    """The verdict on the chat channel under a dialect with this condition."""
    changed = context_with(Answer((condition,)), deactivate_after=deactivate_after)
    return verdict("6-14", evidence, changed)


def test_a_message_when_all_attempts_have_failed_passes() -> None:
    assert on_message(exhausted(messages_at=[4.5]), Notify.EXHAUSTED) is PASS


def test_a_message_that_comes_too_early_or_never_fails() -> None:
    assert on_message(exhausted(messages_at=[1.0, 4.5]), Notify.EXHAUSTED) is FAIL
    assert on_message(exhausted(), Notify.EXHAUSTED) is FAIL


def test_a_message_without_the_condition_fails() -> None:
    assert on_message(exhausted(messages_at=[4.5]), Notify.NEVER) is FAIL
    assert on_message(exhausted(), Notify.NEVER) is PASS
    assert on_message(exhausted(messages_at=[4.5]), Notify.STATE_CHANGE) is FAIL


def test_a_message_about_a_change_of_state_is_due_when_the_endpoint_is_disabled() -> None:
    assert on_message(exhausted(messages_at=[4.5]), Notify.STATE_CHANGE, deactivate_after=1) is PASS
    assert on_message(exhausted(), Notify.STATE_CHANGE, deactivate_after=1) is FAIL


def test_a_message_about_either_is_due_at_whatever_comes_first() -> None:
    both = Notify.EXHAUSTED_OR_STATE_CHANGE
    assert on_message(exhausted(messages_at=[4.5]), both) is PASS
    assert on_message(exhausted(messages_at=[4.5]), both, deactivate_after=1) is PASS
    assert on_message(exhausted(messages_at=[1.0]), both) is FAIL
    assert on_message(exhausted(), both) is FAIL


LATE = "this machine was late by 1200 ms"


def test_attempts_or_messages_that_a_late_machine_did_not_wait_for_are_not_judged() -> None:
    few, silent = replace(exhausted(4), late_s=1.2), replace(exhausted(), late_s=1.2)
    with pytest.raises(NotExaminedError, match=LATE):
        verdicts("1-12 1-13", few)
    with pytest.raises(NotExaminedError, match=LATE):
        on_message(silent, Notify.EXHAUSTED)
    with pytest.raises(NotExaminedError, match=LATE):
        verdict("3-7", replace(exhausted(3, after="active", events=3), late_s=1.2), "contrary")


def test_a_message_is_not_early_where_the_last_attempt_was_noticed_late() -> None:
    early = exhausted(messages_at=[3.8])  # the last attempt arrived at 4
    assert on_message(early, Notify.EXHAUSTED) is FAIL
    assert on_message(replace(early, late_s=0.3), Notify.EXHAUSTED) is PASS


def test_under_an_undecided_dialect_no_message_is_judged() -> None:
    undecided = context_with(Answer((), reason="undecided"))
    assert list(judgements("6-14", exhausted(messages_at=[4.5]), undecided)) == []


def test_an_endpoint_stays_enabled_under_the_reference_dialect() -> None:
    assert verdict("3-7", exhausted()) is PASS
    assert verdict("3-7", exhausted(after="inactive")) is FAIL


@pytest.mark.parametrize("status", ["inactive", None])
def test_an_endpoint_that_began_with_another_status_shows_nothing_of_when_it_is_disabled(
    status: str | None,
) -> None:
    failed = exhausted(after="inactive")
    begun = replace(failed, exchanges=(created(FAILING, status=status), *failed.exchanges[1:]))
    assert verdicts("3-7", begun) == ({} if status else {"3-7": FAIL})


def test_an_endpoint_is_disabled_under_the_contrary_dialect() -> None:
    assert verdict("3-7", exhausted(3, after="paused", events=3), "contrary") is PASS
    assert verdict("3-7", exhausted(3, after="active", events=3), "contrary") is FAIL


def lacking(evidence: ExhaustedDeliveries) -> ExhaustedDeliveries:
    """The same, with an earlier event that never arrived."""
    return replace(evidence, events=(event("event 1"), *evidence.events))


def test_an_event_that_did_not_arrive_excuses_what_too_few_failures_lead_to() -> None:
    with pytest.raises(NotExaminedError, match="not every attempt"):
        verdict("3-7", lacking(exhausted(3, after="active", events=3)), "contrary")
    with pytest.raises(NotExaminedError, match="not every attempt"):
        on_message(lacking(exhausted()), Notify.EXHAUSTED)


def test_an_event_that_did_not_arrive_excuses_nothing_that_comes_too_early() -> None:
    assert verdict("3-7", lacking(exhausted(after="inactive"))) is FAIL
    early = lacking(exhausted(messages_at=[0.5]))
    assert on_message(early, Notify.EXHAUSTED) is FAIL


def test_without_a_schedule_what_follows_the_last_attempt_is_judged_after_it_alone() -> None:
    assert verdict("3-7", exhausted(), UNSCHEDULED) is PASS
    assert verdict("3-7", lacking(exhausted(after="inactive")), UNSCHEDULED) is FAIL
    with pytest.raises(NotExaminedError):
        verdict("3-7", lacking(exhausted()), UNSCHEDULED)
    with pytest.raises(NotExaminedError):
        verdict("6-14", lacking(notified(4.5)), UNSCHEDULED)


def notified(*messages_at: float, others: int = 0) -> ChatNotifications:
    """Five attempts, so many of another experiment's event among them, and messages."""
    other = event("other")
    return observed(
        ChatNotifications,
        FAILING,
        *(sent(other, FAILING, at=NOW + 0.5 + number) for number in range(others)),
        *(sent(event(), FAILING, at=NOW + number, attempt=number + 1) for number in range(5)),
        *(delivery("chat", arrived_at=NOW + at) for at in messages_at),
        contact="chat",
        exhausted=1,
    )


def test_a_message_beside_other_experiments_is_judged_by_all_that_failed() -> None:
    assert verdict("6-14", notified(4.5)) is PASS
    assert verdict("6-14", notified()) is FAIL
    assert verdict("6-14", notified(1.0, 4.5)) is FAIL
    assert verdict("6-14", notified(4.8, others=5)) is PASS
    assert verdict("6-14", notified(0.1, others=5)) is FAIL


def mailed(*messages_at: float, mails: int) -> MailNotifications:
    return observed(
        MailNotifications,
        FAILING,
        *(sent(event(), FAILING, at=NOW + number, attempt=number + 1) for number in range(5)),
        *(delivery("mailbox", arrived_at=NOW + at) for at in messages_at),
        contact="mailbox",
        exhausted=1,
        mails=mails,
    )


def test_mail_is_judged_as_messages_are() -> None:
    assert verdict("6-26", mailed(4.5, mails=1)) is PASS
    assert verdict("6-26", mailed(mails=1)) is FAIL
    assert verdict("6-26", mailed(1.0, 4.5, mails=2)) is FAIL


def test_a_target_that_never_sent_mail_to_the_receiver_may_have_another_server() -> None:
    with pytest.raises(NotExaminedError, match="does the target submit its mail"):
        verdict("6-26", mailed(mails=0))


def test_events_that_were_to_reach_an_endpoint_are_counted_under_the_reference_dialect() -> None:
    assert verdict("2.3-20", exhausted(counted=1)) is PASS
    assert verdict("2.3-20", exhausted(counted=7)) is PASS  # others may have reached it
    assert verdict("2.3-20", exhausted(counted=0)) is FAIL


def test_delivered_events_alone_are_counted_under_the_contrary_dialect() -> None:
    assert verdict("2.3-20", exhausted(3, counted=0), "contrary") is PASS
    assert verdict("2.3-20", exhausted(3, counted=1), "contrary") is FAIL


def test_without_a_count_or_a_delivery_nothing_is_said_of_the_count() -> None:
    assert verdict("2.3-20", exhausted()) is None
    assert verdict("2.3-20", exhausted(counted=-1)) is None
    assert verdict("2.3-20", exhausted(0, counted=0)) is None
