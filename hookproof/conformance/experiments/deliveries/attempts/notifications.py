"""Whether the contacts of an endpoint are notified when its deliveries fail (section 6).

It takes as long as the dialect's attempts take, beside other experiments.
"""

from collections.abc import AsyncIterator
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.attempts.exhaustion import (
    await_exhaustion,
    awaited_messages,
    events_to_exhaust,
)
from hookproof.conformance.experiments.deliveries.retry_waiting import waits
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import ScenarioFunction, run_scenarios
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.delivery.attempts.exhaustion import (
    FAILING,
    LAST_EVENT,
    ChatNotifications,
    MailNotifications,
)
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.vocabulary import Notify

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
