"""By which rules exchanges of Schemathesis are judged, and what they violate.

The same checks judge as in `hookproof check`: the oracles, and the laws of what can be seen of one
resource, or of one event.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

from hookproof.conformance.checks import all_checks
from hookproof.conformance.grading.assumptions import standing, violated_in
from hookproof.conformance.grading.grader import most_lenient
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Exchange, NotExaminedError, Observation
from hookproof.conformance.model.judgement import Judgement, quoting
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.answer import (
    Kind,
    resources,
    sent,
    was_accepted,
)
from hookproof.conformance.observations.preparation import GeneratedExchange
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.schemathesis_plugin.creations import Creations
from hookproof.conformance.schemathesis_plugin.deliveries import EXPERIMENT, Deliveries
from hookproof.conformance.schemathesis_plugin.histories import Histories
from hookproof.conformance.schemathesis_plugin.other_project import OtherProject
from hookproof.conformance.schemathesis_plugin.walks import Walks
from hookproof.conformance.subjects.arrival.evidence import (
    BroadcastFlood,
    PayloadBroadcasts,
    SigningFormats,
)
from hookproof.conformance.subjects.events.evidence import (
    BroadcastAnswer,
    is_flagged,
)
from hookproof.conformance.subjects.lists.evidence import PageWalk
from hookproof.conformance.subjects.reach.evidence import FanOut
from hookproof.conformance.subjects.sequences.evidence import ModeledOperations
from hookproof.conformance.target.definition import Project
from hookproof.spec.catalogue import Requirement, load_catalogue
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.answer import Undecided, noted_preferences
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.field_roles import shown_as_sent

# The checks, other than oracles, that can find something in what is known of one resource, and the
# requirements of each that one resource can show violated; None for all of them.
OF_RESOURCES: Final[Mapping[str, tuple[str, ...] | None]] = {
    "a_created_endpoint_shows_what_was_sent": None,
    "created_at_never_changes": None,
    "a_sequence_agrees_with_its_model": (
        *("4.2-5", "4.2-6", "4.3-11"),
        *("4.6-5", "4.6-6", "4.6-7", "4.6-8", "4.6-9"),
    ),
}
# The same for the answer to one broadcast.
OF_EVENTS: Final[Mapping[str, tuple[str, ...] | None]] = {
    "a_broadcast_is_taken_with_every_field": ("4.8-4",),
    "the_bytes_of_an_event_are_the_data_sent": None,
    "the_headers_of_an_event_hold_the_custom_ones": None,
}
# The same for walks over the pages of a list.
OF_LISTS: Final[Mapping[str, tuple[str, ...] | None]] = {
    "a_page_that_claims_a_next_one_leads_to_it": None,
    "the_cursor_of_a_page_is_taken": None,
    "a_page_that_claims_no_next_one_is_the_last": None,
    "a_page_that_was_stepped_back_to_claims_the_next_one": None,
    "the_first_page_claims_no_previous_one_when_stepped_back_to": None,
    "a_page_claims_a_previous_one_exactly_if_there_is_one": None,
    "one_page_forward_and_one_back_is_the_page_one_had": None,
    "going_forward_meets_nothing_twice": None,
    "pages_of_different_sizes_show_the_same_order": None,
    "per_page_is_kept_and_reported": None,
    "sort_is_descending_by_default_and_ascending_is_its_reverse": None,
    "the_order_is_that_of_the_sort_key": None,
    "a_filter_leaves_exactly_what_matches_on_every_page": None,
}
# The same for deliveries: what arrived of the latest broadcasts, how it was signed and which
# credentials it shows, whether any was lost on its way to one endpoint, and whether any went to one
# that it does not reach.
OF_DELIVERIES: Final[Mapping[str, tuple[str, ...] | None]] = {
    "a_delivery_asks_for_the_path_and_query_of_its_url": None,
    "a_broadcast_arrives_once_where_it_is_answered_with_success": None,
    "the_body_is_the_data_that_was_sent": None,
    "numbers_keep_their_digits_until_they_arrive": None,
    "deliveries_are_declared_with_the_content_type_of_the_endpoint": None,
    "a_delivery_carries_the_custom_headers_of_its_event": None,
    "a_delivery_carries_no_custom_header_of_another_event": None,
    "a_delivery_names_its_event": None,
}
OF_SIGNATURES: Final[Mapping[str, tuple[str, ...] | None]] = {
    "every_attempt_is_signed_in_the_format_of_its_endpoint": None,
    "an_endpoint_without_advanced_signatures_gets_the_simple_format": None,
    "the_secret_that_is_shown_is_the_one_that_signs": None,
    "a_delivery_is_signed_by_no_secret_of_another_endpoint": None,
    "one_living_secret_makes_one_advanced_signature": None,
    "the_time_that_is_signed_is_that_of_the_attempt": None,
    "no_delivery_carries_the_api_key": None,
}
OF_ARRIVAL: Final[Mapping[str, tuple[str, ...] | None]] = {"an_accepted_broadcast_arrives": None}
OF_REACH: Final[Mapping[str, tuple[str, ...] | None]] = {
    "a_broadcast_arrives_at_no_other_endpoint": None
}
LAWS: Final[Mapping[type[Observation], Mapping[str, tuple[str, ...] | None]]] = {
    ModeledOperations: OF_RESOURCES,
    BroadcastAnswer: OF_EVENTS,
    PageWalk: OF_LISTS,
    PayloadBroadcasts: OF_DELIVERIES,
    SigningFormats: OF_SIGNATURES,
    BroadcastFlood: OF_ARRIVAL,
    FanOut: OF_REACH,
}
BROADCAST: Final = "createBroadcastEvent"
# The field that a requirement wants to be shown as it was sent.
SHOWN_FIELDS: Final[Mapping[str, str]] = {
    "2.8-5": "custom_headers",
    **{
        requirement: field
        for operation_id in ("createEndpoint", "updatePortalLink", "createBroadcastEvent")
        for field, requirement in shown_as_sent(operation_id).items()
    },
}
# Of so many identifiers one stays as generated, and of so many resources each is asked for.
UNKNOWN_IN: Final = 5
MOST_KNOWN: Final = 50


@cache
def judging_checks() -> tuple[tuple[type[Observation], Check], ...]:
    """Each check that judges here, with the class of what it judges."""
    checks = {check.name: check for check in all_checks()}
    oracles = [(GeneratedExchange, check) for check in checks.values() if check.is_oracle]
    laws: list[tuple[type[Observation], Check]] = [
        (kind, replace(checks[name], requirements=wanted or checks[name].requirements))
        for kind, names in LAWS.items()
        for name, wanted in names.items()
    ]
    return (*oracles, *laws)


@cache
def judged_requirements() -> tuple[Requirement, ...]:
    """The requirements that can be seen violated here, in the order of the catalogue."""
    names = {name for _, check in judging_checks() for name in check.requirements}
    return tuple(each for each in load_catalogue().requirements.values() if each.id in names)


@dataclass(slots=True)
class Rules:
    """The dialect of a service, with what was seen of the service so far."""

    dialect: Dialect
    project: Project | None = None
    deliveries: Deliveries | None = None
    other: OtherProject | None = None
    context: CheckContext = field(init=False)
    histories: Histories = field(default_factory=Histories)
    walks: Walks = field(init=False)
    creations: Creations = field(init=False)
    _mask: Mask = field(init=False)
    _known: dict[Kind, list[str]] = field(default_factory=dict)
    _asked: int = 0
    _turn: int = 0

    def __post_init__(self) -> None:
        self.walks = Walks(self.dialect)
        self.creations = Creations(self.dialect)
        self.context = CheckContext(dialect=self.dialect, contract=contract_for(self.dialect))
        projects = [self.project, None if self.other is None else self.other.project]
        self._mask = Mask(tuple(filter(None, projects)), self.dialect)

    def violations(
        self, request_id: str, exchange: Exchange, *, is_valid: bool
    ) -> dict[str, list[Judgement]]:
        """What an exchange and those before it violate, by requirement. `is_valid` is whether the
        request was meant to fit the contract.
        """
        found: dict[str, list[Judgement]] = {}
        self._learn_identifiers(exchange)
        for observation in self._observations(request_id, exchange, is_valid=is_valid):
            with quoting(self._quoted_from(observation)), noted_preferences() as preferences:
                for kind, check in judging_checks():
                    if type(observation) is kind:
                        preferences.clear()
                        for each in _failures(check, observation, self.context, preferences):
                            found.setdefault(each.requirement, []).append(each)
        return found

    def _quoted_from(self, observation: Observation) -> Callable[[Any], Any]:
        """What masks quoted values, which may be credentials of these exchanges."""

        def quoted(value: Any) -> Any:
            for exchange in observation.exchanges:
                self._mask.learn_exchange(exchange)
            return self._mask.quoted(value)

        return quoted

    def known_identifier(
        self, kind: Kind, given: str, *, is_linked: bool = False, changes: bool = False
    ) -> str:
        """The identifier to ask for in place of a generated one: in four of five cases one that the
        service has shown, each in its turn or the latest. One that is linked to an earlier answer
        stays if the service has shown it. In every tenth case it is one of another project, unless
        the request `changes` the resource.
        """
        known = self._known.get(kind, [])
        self._asked += 1
        if is_linked and given in known:
            return given
        if self._asked % (2 * UNKNOWN_IN) == 0 and self.other is not None and not changes:
            return self.other.next_uid(kind) or given
        if not known or self._asked % UNKNOWN_IN == 0:
            return given
        self._turn += 1
        # What was shown last is unlikely to have been changed by a request that tells nothing.
        return known[-1] if self._turn % 2 and not changes else known[self._turn % len(known)]

    def _learn_identifiers(self, exchange: Exchange) -> None:
        for resource in resources(exchange):
            uid, known = resource.text("uid"), self._known.setdefault(resource.kind, [])
            if uid is not None and uid not in known:
                known.append(uid)
                del known[:-MOST_KNOWN]

    def _observations(
        self, request_id: str, exchange: Exchange, *, is_valid: bool
    ) -> Iterator[Observation]:
        name = exchange.operation_id or exchange.method
        yield GeneratedExchange(experiment=EXPERIMENT, name=name, exchanges=(exchange,))
        if history := self.histories.add(request_id, exchange, is_valid=is_valid):
            yield ModeledOperations(experiment=EXPERIMENT, name=name, exchanges=history)
        if walk := self.walks.add(request_id, exchange):
            yield walk
        if is_valid and _is_new_event(exchange):
            event = replace(exchange, role="create")
            yield BroadcastAnswer(experiment=EXPERIMENT, name=name, exchanges=(event,))
        if self.deliveries is not None:
            yield from self.deliveries.observed(request_id)


def _is_new_event(exchange: Exchange) -> bool:
    """Whether the answer to a broadcast certainly shows what was sent: one with an idempotency_key
    may show an event of an earlier run.
    """
    return (
        exchange.operation_id == BROADCAST
        and was_accepted(exchange)
        and "idempotency_key" not in sent(exchange)
        and not is_flagged(exchange)
    )


def _is_certain(failure: Judgement) -> bool:
    """Whether a service has to show a field as it was sent: not an empty text, one with spaces
    around it or with control characters, nor names of headers that differ in case alone, nor an
    owner beside the deprecated appID (section 9).
    """
    field = SHOWN_FIELDS.get(failure.requirement)
    if field is None:
        return True
    body = sent(failure.exchanges[0])
    value = body.get(field)
    if isinstance(value, dict):
        distinct = len({name.lower() for name in value}) == len(value)
        return distinct and all(map(_is_plain_text, value.values()))
    return _is_plain_text(value) and not (field == "owner_id" and "appID" in body)


def _is_plain_text(value: object) -> bool:
    return not isinstance(value, str) or (
        value.isprintable() and value.strip() == value and value != ""
    )


def _failures(
    check: Check, observation: Observation, context: CheckContext, preferences: Iterable[int]
) -> Iterator[Judgement]:
    """The failures that stand, as in the grading of a run."""
    judgements: list[Judgement] = []
    with suppress(Undecided, NotExaminedError):  # what was judged until then counts
        judgements.extend(check.judgements(observation, context))
    if not violated_in(judgements):
        return
    lenient = most_lenient(check, observation, judgements, preferences, context)
    for each in standing(check, observation, lenient, context).judgements:
        is_judged = each.verdict is Verdict.FAIL and each.requirement in check.requirements
        if is_judged and _is_certain(each):
            yield each
