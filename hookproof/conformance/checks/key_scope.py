"""Which project a request is about where a key opens its own under every path (section 5)."""

from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.client import Key
from hookproof.spec.dialect.vocabulary import KeyScope


def is_for_another_project(exchange: Exchange, context: CheckContext) -> bool:
    """Whether the key may have decided for another project than that in the path."""
    return exchange.key == Key.FOREIGN and may_decide(context)


def may_decide(context: CheckContext) -> bool:
    """Whether the dialect says that a key opens its own project under every path, or may; or says
    nothing of that.
    """
    scope = context.dialect.authentication.key_scope
    return not scope.decided or KeyScope.KEY_DECIDES in scope.allowed
