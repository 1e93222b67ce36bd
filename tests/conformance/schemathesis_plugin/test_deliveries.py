"""Deliveries of the events that Schemathesis broadcasts, judged without a service or a receiver."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from hookproof.conformance.model.evidence import Exchange, PreconditionFailed
from hookproof.conformance.schemathesis_plugin.callback_receiver import (
    CallbackReceiver,
    Conditions,
    Received,
)
from hookproof.conformance.schemathesis_plugin.deliveries import (
    AS_GENERATED,
    FAILS_AT_FIRST,
    FAILURES,
    KINDS,
    MARKER,
    TRIES,
    Deliveries,
    deliveries_of,
    tries_again_soon,
)
from hookproof.conformance.schemathesis_plugin.rules import Rules
from hookproof.conformance.target.definition import Project, Target
from hookproof.process.exit_codes import CommandError
from hookproof.receiver.client.control_api import ReceiverToken
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import with_answer
from hookproof.spec.dialect.assumptions import wholly_assumed
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.vocabulary import Excess
from hookproof.target.hooks.http_steps import http_hook
from hookproof.target.hooks.provision import Provision
from hookproof.target.settings import ReceiverSettings
from tests.conformance.canned_evidence import NOW, delivery, exchange

BODY = {"event_type": "order.paid", "data": {"order": 7}}
# What nothing signs violates besides is no matter here.
JUDGED = {"1-1", "4.8-14", "4.8-15", "6-3", "6-4", "6-5", "4.8-16"}
ALL = tuple(kind for kind in KINDS if kind != "disabled")


@dataclass
class FakeReceiver(CallbackReceiver):
    """Keeps what the fake service delivers; waits for nothing."""

    came: dict[str, list[ReceivedDelivery]] = field(default_factory=dict)
    scripts: dict[str, str] = field(default_factory=dict)
    conditions: Conditions = field(default_factory=dict)
    distrusted: bool = False

    def new_token(self) -> ReceiverToken:
        token = f"t{len(self.came)}"
        self.came[token] = []
        return ReceiverToken(token=token, url=f"https://127.0.0.1:8443/{token}")

    def script(self, token: str, replies: Sequence[Reply], *, only_for: str = "") -> None:
        self.scripts[token] = only_for

    def wait_for(self, conditions: Conditions, timeout_s: float) -> Received:
        if self.distrusted:
            raise PreconditionFailed("the target does not trust the receiver's CA")
        self.conditions = conditions
        requests = {token: tuple(self.came[token]) for token in conditions}
        return Received(requests=requests, late_s=0.0, unused_s=None)


@dataclass
class FakeRun:
    """A run whose service delivers as it is told, at a time that each broadcast sets."""

    dialect: Dialect = field(default_factory=lambda: load_dialect("reference"))
    receiver: FakeReceiver = field(default_factory=FakeReceiver)
    now: float = NOW
    tokens: dict[str, str] = field(default_factory=dict)
    broadcasts: int = 0

    def __post_init__(self) -> None:
        project = Project(id="p1", api_key="key-of-p1")
        target = Target(base_url="", projects=(project,), dialect=self.dialect)
        self.deliveries = Deliveries(target, start=lambda _: self.receiver, clock=lambda: self.now)
        self.rules = Rules(self.dialect, project, self.deliveries)
        self.deliveries.listen(self.create)

    def create(self, body: Mapping[str, Any]) -> Exchange:
        uid = f"endpoint-{len(self.tokens)}"
        kind = tuple(KINDS)[len(self.tokens) % len(KINDS)]
        self.tokens[kind] = str(body["url"]).split("/")[3].partition("?")[0]
        return exchange(request=dict(body), data={**body, "uid": uid}, sent_at=self.now)

    def broadcast(
        self,
        *to: str,
        copies: int = 1,
        after_s: float = 1.0,
        alter: Mapping[str, Any] | None = None,
    ) -> set[str]:
        """What is found after a broadcast that is delivered to endpoints of these kinds."""
        self.now += after_s
        self.broadcasts += 1
        name = f"case {self.broadcasts}"
        sent = self.deliveries.broadcast_body(name, BODY) or BODY
        uid = f"event-{self.broadcasts}"
        headers = [
            ("Content-Type", "application/json"),
            (str(self.dialect.delivery.event_id_header), uid),
            *sent.get("custom_headers", {}).items(),
        ]
        for kind in to * copies:
            came = self.receiver.came[self.tokens[kind]]
            came.append(
                delivery(
                    self.tokens[kind],
                    sequence=len(came) + 1,
                    headers=headers,
                    body=json.dumps({**sent["data"], **(alter or {})}).encode(),
                    arrived_at=self.now + 0.1,
                )
            )
        answer = exchange(
            "sweep", "createBroadcastEvent", request=sent, data={"uid": uid}, sent_at=self.now
        )
        self.now += 0.2
        self.deliveries.await_broadcast(name, answer)
        return {*self.rules.violations(name, answer, is_valid=True)} & JUDGED


def test_what_arrives_as_it_was_sent_violates_nothing() -> None:
    run = FakeRun()
    assert [run.broadcast(*ALL) for _ in range(AS_GENERATED - 1)] == [set()] * 4


@pytest.mark.parametrize(
    ("options", "violated"),
    [({"alter": {"order": 8}}, "6-3"), ({"copies": 2}, "4.8-15")],
)
def test_what_is_wrong_with_a_delivery_is_named(options: dict[str, Any], violated: str) -> None:
    assert violated in FakeRun().broadcast(*ALL, **options)


def test_a_second_delivery_is_found_with_the_next_broadcast() -> None:
    run = FakeRun()
    assert "4.8-15" not in run.broadcast(*ALL)
    came = run.receiver.came[run.tokens["simple"]]
    came.append(replace(came[0], sequence=2))
    assert "4.8-15" in run.broadcast(*ALL)


def test_an_endpoint_that_is_not_reached_gets_nothing() -> None:
    assert "4.8-14" in FakeRun().broadcast(*KINDS)


def test_an_event_is_lost_when_its_time_is_over_and_a_later_one_has_arrived() -> None:
    run = FakeRun()
    others = tuple(kind for kind in ALL if kind != "advanced")
    assert "1-1" not in run.broadcast(*others)
    assert "1-1" not in run.broadcast(*ALL)  # it may still come
    assert "1-1" not in run.broadcast(*others, after_s=8.0)
    assert "1-1" in run.broadcast(*ALL, after_s=3.0)


def test_a_new_endpoint_has_the_dialects_time_to_receive() -> None:
    dialect = with_answer(load_dialect("reference"), ("delivery", "visible_within_s"), 5.0)
    run = FakeRun(dialect)
    run.broadcast("simple", after_s=1.0)
    assert "1-1" not in run.broadcast(*ALL, after_s=20.0)


def test_a_service_of_which_nothing_arrives_is_not_accused() -> None:
    run = FakeRun()
    assert [run.broadcast(after_s=30.0) for _ in range(AS_GENERATED + 1)] == [set()] * 6


def test_an_endpoint_whose_secret_is_rolled_is_replaced() -> None:
    run = FakeRun()
    run.deliveries.forget("endpoint-1")
    created = len(run.tokens)
    assert "1-1" not in run.broadcast()
    run.deliveries.listen(run.create)
    assert len(run.receiver.came) == created + 1


def test_a_kind_that_is_refused_is_tried_no_more() -> None:
    run = FakeRun()
    asked = []

    def refuse(body: Mapping[str, Any]) -> Exchange:
        asked.append(body)
        return exchange(status=400, data={})

    run.deliveries.forget("endpoint-0")
    for _ in range(TRIES + 2):
        run.deliveries.listen(refuse)
    assert len(asked) == TRIES


def test_the_data_of_a_broadcast_stays() -> None:
    run = FakeRun()
    body = {"data": {"order": 7, MARKER: "own"}, "idempotency_key": "used before"}
    sent = run.deliveries.broadcast_body("a case", body)
    assert sent is not None
    assert sent["data"] == {"order": 7, MARKER: sent["data"][MARKER]} != body["data"]
    assert "idempotency_key" not in sent
    assert run.deliveries.broadcast_body("another", {"event_type": "a"}) is None
    assert run.deliveries.broadcast_body("a third", "no object") is None


def test_one_endpoint_fails_at_first_and_what_comes_again_is_waited_for() -> None:
    run = FakeRun()
    token = run.tokens[FAILS_AT_FIRST]
    assert {*run.receiver.scripts} == {token}
    waits_for_two = []
    for _ in range(AS_GENERATED - 1):
        run.broadcast(*ALL)
        came = tuple(run.receiver.came[token][-1:])
        waits_for_two.append(bool(came) and not run.receiver.conditions[token](came))
    assert waits_for_two == [True] * FAILURES + [False]


@pytest.mark.parametrize(
    ("answers", "soon"),
    [({}, True), ({"attempts": 1}, False), ({"initial_s": 60.0}, False)],
)
def test_no_endpoint_fails_where_nothing_would_come_again_soon(
    answers: dict[str, Any], soon: bool
) -> None:
    dialect = load_dialect("reference")
    for name, value in answers.items():
        dialect = with_answer(dialect, ("retry", name), Answer(allowed=(value,)))
    assert tries_again_soon(dialect) is soon


def test_a_receiver_that_is_not_trusted_ends_it_in_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = FakeRun(receiver=FakeReceiver(distrusted=True))
    assert run.broadcast(*ALL) == run.broadcast(*ALL, after_s=30.0) == set()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("hookproof: no more deliveries are judged: the target does not trust")


def test_a_receiver_that_cannot_be_started_ends_it_in_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def start(_target: Target) -> CallbackReceiver:
        raise CommandError("the port is taken")

    target = Target(base_url="", projects=(), dialect=load_dialect("reference"))
    deliveries = Deliveries(target, start=start)
    for _ in range(2):
        deliveries.listen(lambda _: pytest.fail("it is created"))
    assert capsys.readouterr().err.splitlines() == [
        "hookproof: no more deliveries are judged: the port is taken"
    ]


def test_deliveries_are_judged_where_they_can_be(tmp_path: Any) -> None:
    known = Target(
        base_url="",
        projects=(Project(id="p1", api_key="k"),),
        dialect=load_dialect("reference"),
        receiver=ReceiverSettings(ca=tmp_path / "ca.pem", ca_key=tmp_path / "ca.key"),
    )
    told = Provision(
        hooks={"after_endpoint_created": http_hook("after_endpoint_created", [], timeout_s=1.0)}
    )
    assert deliveries_of(known) is not None
    for other in (
        replace(known, projects=()),
        replace(known, receiver=ReceiverSettings()),
        replace(known, dialect=load_dialect("undecided")),
        replace(known, dialect=wholly_assumed(known.dialect)),
        replace(known, provision=told),
    ):
        assert deliveries_of(other) is None


@pytest.mark.parametrize(
    ("answers", "drops"),
    [
        ({}, False),
        ({"excess": Excess.DROPPED}, False),
        ({"excess": Excess.DROPPED, "default_rate_limit_duration": 60}, True),
        ({"excess": Excess.WAITS, "default_rate_limit_duration": 60}, False),
    ],
)
def test_what_a_limit_may_drop_is_not_lost(answers: dict[str, Any], drops: bool) -> None:
    dialect = load_dialect("reference")
    for name, value in {"default_rate_limit_duration": 0, **answers}.items():
        dialect = with_answer(dialect, ("delivery", name), Answer(allowed=(value,)))
    run = FakeRun(dialect)
    others = tuple(kind for kind in ALL if kind != "advanced")
    run.broadcast(*others)
    assert ("1-1" not in run.broadcast(*ALL, after_s=20.0)) is drops
