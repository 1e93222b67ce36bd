"""Whether a resource is shown alike in two places."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import has_value, sent, shown
from hookproof.conformance.observations.timestamp import name_one_moment
from hookproof.spec.dialect.answer import Undecided
from hookproof.spec.dialect.model import Representation
from hookproof.spec.dialect.vocabulary import TimestampForm
from hookproof.spec.field_roles import shown_as_sent

# What people know an endpoint by, the fields that 2.6-6 names.
IDENTIFYING: Final = ("name", "url", "owner_id")

# What the names of the fields end in that hold a time (section 2).
TIME: Final = "_at"

# The fields of an endpoint that hold credentials, or what leads to somebody (section 2.3).
WITH_CREDENTIALS: Final = frozenset(
    {"authentication", "mtls_client_cert", "secrets", "slack_webhook_url", "support_email"}
)


def differences(
    names: Iterable[str],
    left: Mapping[str, Any],
    right: Mapping[str, Any],
    forms: Representation | None = None,
) -> list[str]:
    """Which of these fields are shown with different values.

    An absent field counts as null. Of the dialect's `forms`, one without a value is as good as the
    other, and what is masked is not compared: a mask stands for no value in particular. A time may
    be cut to fewer digits.
    """
    return [name for name in names if not _agree(left.get(name), right.get(name), name, forms)]


def agreement(
    requirement: str,
    message: str,
    names: Iterable[str],
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    exchanges: Iterable[Exchange],
    forms: Representation | None = None,
) -> Judgement:
    """Whether the fields of these names are shown alike."""
    different = differences(names, expected, actual, forms)
    return judged(
        not different,
        requirement,
        message,
        expected={name: expected.get(name) for name in different},
        actual={name: actual.get(name) for name in different},
        exchanges=exchanges,
    )


def echoes(request: Exchange, answer: Exchange, message: str) -> Iterator[Judgement]:
    """Whether an answer that shows the resource shows each field as the request gives it, of those
    whose requirement says so; the message names the `{field}`.
    """
    for field, requirement in shown_as_sent(request.operation_id or "").items():
        if field in sent(request) and shown(answer):
            yield judged(
                shown(answer).get(field) == sent(request)[field],
                requirement,
                message.format(field=field),
                expected=sent(request)[field],
                actual=shown(answer).get(field, "absent"),
                exchanges=dict.fromkeys([request, answer]),
            )


def _agree(one: Any, other: Any, name: str, forms: Representation | None) -> bool:
    if _comparable(one, name, forms) == _comparable(other, name, forms):
        return True
    are_times = name.endswith(TIME) and isinstance(one, str) and isinstance(other, str)
    return are_times and name_one_moment(one, other, tuple(TimestampForm))


def _is_masked(path: str, forms: Representation) -> bool:
    """Whether a value is masked, or may well be where that is only assumed."""
    try:
        return path in forms.masked
    except Undecided:
        return path.partition(".")[0] in WITH_CREDENTIALS


def _comparable(value: Any, path: str, forms: Representation | None) -> Any:
    """A value without members that are masked or have no value; None if it has none itself."""
    if forms is None:
        return value
    if _is_masked(path, forms):
        return None
    if isinstance(value, Mapping):
        members = {
            name: _comparable(member, f"{path}.{name}", forms) for name, member in value.items()
        }
        value = {name: member for name, member in members.items() if member is not None}
    return value if has_value(value) or not forms.may_be_empty else None
