"""Section 2.4: whether a secret that has expired is still shown."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.resources.secret_roll import ExpiredSecret
from hookproof.conformance.observations.resources.shown_secret import secret_uids
from hookproof.spec.dialect.vocabulary import ExpiredSecrets


@check("4.3-22")
def an_expired_secret_is_shown_or_left_out(
    expired: ExpiredSecret, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; where the endpoint still shows the secret that has not expired."""
    created, roll, fetched = expired.created, expired.roll, expired.fetched
    rule = context.dialect.representation.expired_secrets
    if created is None or roll is None or fetched is None or not rule.decided:
        return
    old, shown = set(secret_uids(created)), set(secret_uids(fetched))
    if not roll.succeeded or not old or not shown - old:
        return  # without the new secret nothing says that the others are expired
    context.require_same_rules(
        "endpoints whose secret has expired", lambda dialect: dialect.rolling.expiration_unit
    )
    outcome = ExpiredSecrets.LISTED if old & shown else ExpiredSecrets.LEFT_OUT
    yield judged(
        outcome in rule.allowed,
        "4.3-22",
        "A secret that has expired is not treated as the dialect says",
        expected=" or ".join(rule.allowed),
        actual=outcome,
        exchanges=[created, roll, fetched],
    )
