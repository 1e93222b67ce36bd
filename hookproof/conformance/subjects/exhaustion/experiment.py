"""Deliveries that fail until they are given up: how many attempts, who is notified, what becomes of
the endpoint (sections 1, 3 and 6)?

The last event is the one after which the dialect disables the endpoint, if it ever does.
`notifications` takes as long as the dialect's attempts take, beside other experiments.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.retry_waiting import (
    MARGIN_S,
    waits,
    waits_or_patience,
)
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import ScenarioFunction, run_scenarios
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.notification import notifies_contacts
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.tolerances import LATE_S
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.conformance.subjects.exhaustion.evidence import (
    AFTER,
    BEFORE,
    FAILING,
    LAST_EVENT,
    ChatNotifications,
    ExhaustedDeliveries,
    MailNotifications,
)
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.answer import Undecided
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.retry_schedule import is_scheduled, wait_before
from hookproof.spec.dialect.vocabulary import Notify

# The most exhausted deliveries that are made to see an endpoint disabled.
MOST_EVENTS: Final = 10
# How attempts fail, one after the other, and how all others do: each counts.
FAILURES: Final = (403, 404, 400, 502, 500)


@experiment(
    "exhaustion", observes=(ExhaustedDeliveries,), sharing=Sharing.ALONE, endpoints=1, broadcasts=1
)
async def exhaustion(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to an endpoint that always fails, until it is disabled or once."""
    async for observation in run_scenarios(context, {"always failing": always_failing}):
        yield observation


async def always_failing(scenario: Scenario) -> ExhaustedDeliveries:
    """All events but the last, the last event, and the endpoint as fetched before and after it."""
    retry = scenario.dialect.retry
    count = events_to_exhaust(scenario.dialect)
    schedule_s = sum(waits_or_patience(scenario.context, retry.attempts.value))
    chat = await scenario.context.receiver.new_token()
    replies = [Reply(status=each) for each in FAILURES if retry.ends_delivery(each) == {False}]
    failing = await scenario.destination(FAILING, replies=replies, slack_webhook_url=chat.url)
    earlier = [await scenario.broadcast(f"event {number}") for number in range(1, count)]
    await await_exhaustion(scenario, failing, earlier, schedule_s)
    await fetch(scenario, failing, BEFORE)
    last = await scenario.broadcast(LAST_EVENT)
    await await_exhaustion(scenario, failing, [last], schedule_s)
    # The dialect's own time: a further attempt would be due by then.
    further_s = schedule_s
    if is_scheduled(retry):
        further_s = wait_before(retry, retry.attempts.value + 1).longest_s
    await asyncio.sleep(further_s)
    await scenario.await_silence()
    await fetch(scenario, failing, AFTER)
    # A service may notify late; a message that is not to come is not waited for any longer.
    messages = awaited_messages(scenario.dialect, count)
    await scenario.trial.arrivals(
        chat.token, count=messages, timeout_s=scenario.context.budgets.delivery_s * messages
    )
    return await scenario.observe(ExhaustedDeliveries, contact=chat.token, exhausted=count)


def events_to_exhaust(dialect: Dialect) -> int:
    """How many deliveries are exhausted: until the endpoint is disabled, or one if it never is.

    Raises PreconditionFailed where that is undecided or needs too many.
    """
    if not dialect.retry.attempts.decided:
        raise PreconditionFailed(
            "the dialect does not decide how often a delivery is attempted (retry.attempts)"
        )
    deactivate_after = dialect.retry.deactivate_after
    after = deactivate_after.value if deactivate_after.decided else 0
    if after > MOST_EVENTS:
        raise PreconditionFailed(
            f"an endpoint is disabled only after {after} exhausted deliveries; at most"
            f" {MOST_EVENTS} are made"
        )
    return max(after, 1)


def awaited_messages(dialect: Dialect, exhausted: int) -> int:
    """How many messages to the chat channel are waited for: one or none."""
    try:
        return int(notifies_contacts(dialect, exhausted))
    except Undecided:  # nothing will be judged
        return 0


async def await_exhaustion(
    scenario: Scenario, destination: Destination, events: list[Event], schedule_s: float
) -> None:
    """Wait until the last attempt at each event is over."""
    attempts = scenario.dialect.retry.attempts.value
    context = scenario.context
    patience_s = context.budgets.delivery_s + schedule_s + context.distant(LATE_S)
    await scenario.await_arrival(destination, *events, count=attempts, timeout_s=patience_s)
    await asyncio.sleep(MARGIN_S)  # the service's time to note that the attempt has failed


async def fetch(scenario: Scenario, destination: Destination, role: str) -> None:
    """Fetch the endpoint, whose state shows in its status (section 3), if its uid is known."""
    uid, _ = await scenario.find_uid(destination)
    if uid is not None:
        await scenario.trial.call("getEndpoint", role=role, path={"endpointID": uid})


# The longest schedule that is waited out in the standard profile.
PATIENCE_S: Final = 20.0


NO_MAIL: Final = (
    "the receiver accepts no mail; name an address for it (receiver.mail in target.yaml) and let"
    " the target submit its mail there"
)
# Reserved for examples (RFC 2606), so that a mail that goes astray reaches nobody.
MAIL_DOMAIN: Final = "example.org"


@experiment(
    "notifications",
    observes=(ChatNotifications, MailNotifications),
    profile=Profile.STANDARD,
    sharing=Sharing.CONFIRMED,
    endpoints=1,
    broadcasts=1,
)
async def notifications(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to endpoints with a contact that always fail.

    The events of one reach the other as well, where they succeed. Where only a row of failures
    counts, that would end it, so one is tried after the other.
    """
    scenarios: list[dict[str, ScenarioFunction]] = [{"chat": chat, "mail": mail}]
    if context.dialect.delivery.notify_on.allows(Notify.STATE_CHANGE):
        scenarios = [{"chat": chat}, {"mail": mail}]
    for beside in scenarios:
        async for observation in run_scenarios(context, beside):
            yield observation


async def chat(scenario: Scenario) -> ChatNotifications:
    """The messages to a chat channel."""
    channel = await scenario.context.receiver.new_token()
    exhausted = await exhaust(scenario, channel.token, slack_webhook_url=channel.url)
    return await scenario.observe(ChatNotifications, contact=channel.token, exhausted=exhausted)


async def mail(scenario: Scenario) -> MailNotifications:
    """The mail to a support address, with the receiver as the target's mail server."""
    receiver = scenario.context.receiver
    if (await receiver.mail()).address is None:
        raise PreconditionFailed(NO_MAIL)
    mailbox = await receiver.new_token()
    address = f"{mailbox.token}@{MAIL_DOMAIN}"
    exhausted = await exhaust(scenario, mailbox.token, support_email=address)
    return await scenario.observe(
        MailNotifications,
        contact=mailbox.token,
        exhausted=exhausted,
        mails=(await receiver.mail()).mails,
    )


async def exhaust(scenario: Scenario, token: str, **contact: Any) -> int:
    """Let deliveries to an endpoint with this contact fail until the contact is notified, if it is;
    return how many were exhausted.
    """
    count = events_to_exhaust(scenario.dialect)
    attempts = scenario.dialect.retry.attempts.value
    schedule_s = sum(waits(scenario.context, attempts, patience_s=PATIENCE_S))
    failing = await scenario.destination(FAILING, replies=[Reply(status=500)], **contact)
    names = [*(f"event {number}" for number in range(1, count)), LAST_EVENT]
    events = [await scenario.broadcast(name) for name in names]
    await await_exhaustion(scenario, failing, events, schedule_s)
    messages = awaited_messages(scenario.dialect, count)
    if not messages:
        await scenario.await_silence()
    await scenario.trial.arrivals(
        token, count=messages, timeout_s=scenario.context.budgets.delivery_s * messages
    )
    return count
