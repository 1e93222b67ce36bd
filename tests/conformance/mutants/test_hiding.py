"""What spoiled servers hide: measured, named with a reason, recorded, and within bounds."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar, Self, cast

import pytest

from hookproof.conformance.mutants.campaign import CLEAN, CampaignPlan, CampaignSettings
from hookproof.conformance.mutants.catalogue import find_dialect, list_faults
from hookproof.conformance.mutants.generated import GeneratedOrder, plan_generated
from hookproof.conformance.mutants.hiding import measurement
from hookproof.conformance.mutants.hiding.hiding_servers import (
    Hiding,
    HidingServer,
    read_hiding_servers,
)
from hookproof.conformance.mutants.hiding.measurement import (
    HidingOutcome,
    Loss,
    measure_hiding,
    read_losses,
    record_losses,
    spoiled_servers,
)
from hookproof.conformance.mutants.reports.text import render_hiding, render_loss
from hookproof.conformance.mutants.results import NOT_RUN, VariantOutcome
from hookproof.spec.catalogue import Level, load_catalogue
from hookproof.spec.strict_yaml.file_problem import FileProblems
from tests.conformance.command import run_command

OPERATION = re.compile(r"operation=(\w+)")
MOST_OF_HUNDRED = 15
# That valid requests succeed, by operation: the one of its section, and others.
SUCCESSES = {
    "createEndpoint": {"4.1-1", "3-4", "9-1"},
    "getEndpoint": {"4.2-1"},
    "expireEndpointSecret": {"4.3-1"},
    "listPortalLinks": {"4.4-1"},
    "getPortalLink": {"4.5-1"},
    "updatePortalLink": {"4.6-1", "9-2"},
    "listSources": {"4.7-1"},
    "createBroadcastEvent": {"4.8-1", "4.8-6", "4.8-7"},
}


def hiding_server(
    name: str = "null_data", *, hides: str = "2.8-*", whole: bool = False
) -> HidingServer:
    return HidingServer(
        name=name,
        deviations=("--fault", f"fault_of_{name}"),
        whole_operation=whole,
        hides=(Hiding(because="nothing is shown", requirements=(hides,)),),
    )


def loss(*lost: str, exercised: int = 100, whole: bool = False) -> Loss:
    return Loss(server=hiding_server(whole=whole), lost=lost, exercised=exercised)


def outcome(*losses: Loss) -> HidingOutcome:
    return HidingOutcome(losses=losses, duration_s=1.0, interrupted=False)


def test_a_loss_is_named_by_a_pattern_of_its_hiding_server_and_by_nothing_else() -> None:
    assert loss("2.8-1", "2.8-9").unnamed == ()
    assert loss("2.8-1", "4.3-2").unnamed == ("4.3-2",)
    assert not outcome(loss("4.3-2")).is_within_bounds


def test_two_hiding_servers_together_may_hide_what_each_hides() -> None:
    both = hiding_server("one").together_with(hiding_server("two", hides="4.3-*"))
    assert both.name == "one+two"
    assert both.deviations == ("--fault", "fault_of_one", "--fault", "fault_of_two")
    assert both.may_hide("2.8-1")
    assert both.may_hide("4.3-1")
    assert not both.may_hide("4.2-1")


def test_one_server_may_hide_less_than_15_percent_unless_a_whole_operation_fails() -> None:
    lost = tuple(f"2.8-{number}" for number in range(15))
    others = [loss() for _ in range(9)]
    assert outcome(loss(*lost[1:]), *others).is_within_bounds
    assert not outcome(loss(*lost), *others).is_within_bounds
    assert outcome(loss(*lost, whole=True), *others).is_within_bounds


def test_two_hiding_servers_together_may_hide_twice_as_much() -> None:
    both = hiding_server("one").together_with(hiding_server("two"))
    lost = tuple(f"2.8-{number}" for number in range(30))
    others = [loss() for _ in range(9)]
    assert outcome(Loss(server=both, lost=lost[1:], exercised=100), *others).is_within_bounds
    assert not outcome(Loss(server=both, lost=lost, exercised=100), *others).is_within_bounds


def test_less_than_5_percent_may_be_lost_on_average_unless_an_operation_fails() -> None:
    lost = tuple(f"2.8-{number}" for number in range(5))
    assert outcome(loss(*lost[1:]), loss(*lost)).is_within_bounds
    assert not outcome(loss(*lost), loss(*lost)).is_within_bounds
    assert not outcome(loss(*lost), loss(*lost), loss(whole=True)).is_within_bounds
    assert outcome(loss(*lost, whole=True)).is_within_bounds


def test_servers_that_were_picked_are_held_to_no_average() -> None:
    lost = tuple(f"2.8-{number}" for number in range(15))
    assert replace(outcome(loss(*lost[1:])), picked=True).is_within_bounds
    assert not outcome(loss(*lost[1:])).is_within_bounds
    assert not replace(outcome(loss(*lost)), picked=True).is_within_bounds


def test_an_error_of_hookproof_is_never_within_bounds() -> None:
    broken = Loss(server=hiding_server(), lost=(), exercised=100, problems=("it broke",))
    assert not outcome(broken).is_within_bounds
    assert "it broke" in "\n".join(render_loss(broken))


def test_a_generated_fault_may_hide_a_little_and_need_not_name_it() -> None:
    made = replace(hiding_server(), generated=True)
    little, much = (
        replace(loss(*map(str, range(count))), server=made) for count in (4, MOST_OF_HUNDRED)
    )
    assert outcome(little).is_within_bounds
    assert [line.split()[0] for line in render_loss(little)] == ["lost"]
    assert not outcome(much).is_within_bounds
    assert list(render_loss(much))[1].split() == list(much.lost)


def test_what_generated_faults_hide_is_measured_by_their_sample() -> None:
    settings = CampaignSettings(dialects=("reference",))
    plan = plan_generated(settings, GeneratedOrder(size=2, at_once=3))
    servers = spoiled_servers(plan, ())
    assert [server.name for server in servers] == [each.name for each in plan.faults["reference"]]
    assert {(server.faults, server.generated) for server in servers} == {(3, True)}


class ScriptedServers:
    """Runs nothing; a server hides what the script says of it, in the first run and later ones."""

    interrupted = False
    hides: ClassVar[dict[str, list[set[str]]]] = {}
    ran: ClassVar[list[list[str]]] = []

    def __init__(self, *_arguments: object) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None: ...

    def run_all(self, orders: Mapping[VariantOutcome, object]) -> Iterator[VariantOutcome]:
        self.ran.append([subject.name for subject in orders])
        for subject in orders:
            hidden = self.hides[subject.name].pop(0)
            result = replace(NOT_RUN, exercised=frozenset({"1-1", "1-2", "1-25", "2.8-1"} - hidden))
            yield replace(subject, result=result)


def test_a_server_that_hid_what_is_not_named_runs_again_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known, late, bad = (hiding_server(name, hides="2.8-*") for name in ("known", "late", "bad"))
    hides = {
        CLEAN: [set[str]()],
        "known": [{"2.8-1"}],
        "late": [{"2.8-1", "1-25"}, {"2.8-1", "1-2"}],
        "bad": [{"1-1", "1-25"}, {"1-1"}],
    }
    monkeypatch.setattr(ScriptedServers, "hides", hides)
    monkeypatch.setattr(ScriptedServers, "ran", [])
    monkeypatch.setattr(measurement, "WorkerPool", ScriptedServers)
    plan = cast(
        "CampaignPlan",
        SimpleNamespace(
            settings=SimpleNamespace(jobs=2),
            dialects=[SimpleNamespace(name="reference")],
            experiment_names=(),
            order=lambda *_arguments: None,
        ),
    )
    told: list[Loss] = []
    measured = measure_hiding(plan, (known, late, bad), told.append)
    assert ScriptedServers.ran == [[CLEAN], ["known", "late", "bad"], ["late"], ["bad"]]
    assert tuple(told) == measured.losses
    assert {each.server.name: (each.lost, each.unnamed) for each in told} == {
        "known": (("2.8-1",), ()),
        "late": (("2.8-1",), ()),
        "bad": (("1-1",), ("1-1",)),
    }


def test_what_is_not_named_is_printed() -> None:
    (line, unnamed) = render_loss(loss("2.8-1", "4.3-2"))
    assert line == "UNNAMED    2 of 100 (2%)  null_data"
    assert unnamed.endswith("4.3-2")
    assert render_hiding(outcome(loss("4.3-2"))).startswith("BEYOND BOUNDS  servers 1 · lost 1.0%")


def test_a_record_keeps_the_servers_that_did_not_run(tmp_path: Path) -> None:
    path = tmp_path / "lost.json"
    record_losses(outcome(loss("2.8-1")), path)
    other = Loss(server=hiding_server("other"), lost=("4.3-2",), exercised=100)
    record_losses(outcome(other), path)
    assert read_losses(path).lost == {"null_data": ["2.8-1"], "other": ["4.3-2"]}


def test_a_file_of_hiding_servers_with_a_mistake_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "hiding_servers.yaml"
    path.write_text("servers:\n  a: {fault: x, hidden: []}\nfaults: {}\n", encoding="utf-8")
    with pytest.raises(FileProblems, match=r"servers\.yaml:2.*hidden"):
        read_hiding_servers(path)


def test_faults_of_the_catalogue_hide_what_the_file_says_and_others_nothing(tmp_path: Path) -> None:
    path = tmp_path / "hiding_servers.yaml"
    hides = "[{because: nothing arrives, requirements: ['6-*']}]"
    path.write_text(f"servers: {{}}\nfaults:\n  some: {hides}\n", encoding="utf-8")
    known = read_hiding_servers(path)
    assert known.of_fault("some").may_hide("6-1")
    assert not known.of_fault("other").may_hide("6-1")
    assert known.of_fault("other").deviations == ("--fault", "other")


def test_a_server_that_is_not_known_is_refused_in_one_line(tmp_path: Path) -> None:
    done = run_command(tmp_path, "mutants", "--hiding", "--fault", "no_such")
    assert (done.code, done.out) == (64, "")
    assert done.err.startswith("hookproof mutants: no hiding server or fault is named no_such")
    assert done.err.count("\n") == 1


def test_every_hiding_server_is_recorded_and_every_recorded_loss_is_named() -> None:
    known, lost = read_hiding_servers(), read_losses().lost
    servers = {server.name: server for server in (*known.servers, *known.pairs)}
    assert {server.name for server in known.servers} <= lost.keys()
    unnamed = {
        f"{name}: {requirement}"
        for name, requirements in lost.items()
        for requirement in requirements
        if not servers.get(name, known.of_fault(name)).may_hide(requirement)
    }
    assert unnamed == set()
    assert lost.keys() - servers.keys() <= _fault_names()


def test_where_an_operation_always_fails_nothing_passes_that_is_about_its_effect() -> None:
    lost = read_losses().lost
    for server in read_hiding_servers().servers:
        if server.whole_operation:
            operation = OPERATION.search(" ".join(server.deviations))
            assert operation is not None
            judged = _stated_requirements_of(operation[1]) - set(lost[server.name])
            assert judged <= SUCCESSES[operation[1]], server.name


def test_what_every_fault_hides_is_recorded() -> None:
    faults = list_faults(find_dialect("reference"))
    measured = {fault.name for fault in faults if fault.applies and not fault.is_variant}
    missing = sorted(measured - read_losses().lost.keys())
    assert missing == [], "hookproof mutants --hiding --record --fault " + " --fault ".join(missing)


def test_every_reason_is_about_requirements_and_faults_that_exist() -> None:
    catalogue, known = load_catalogue(), read_hiding_servers()
    assert known.faults.keys() <= _fault_names()
    names = {server.name for server in known.servers}
    assert all(each.one | each.other <= names for each in known.together)
    alone = [hiding for item in (*known.servers, *known.faults.values()) for hiding in item.hides]
    for hiding in (*alone, *known.together):
        for pattern in hiding.requirements:
            assert list(catalogue.select(pattern)), pattern


def test_servers_that_leave_every_operation_alone_are_recorded_within_bounds() -> None:
    record, known = read_losses(), read_hiding_servers()
    servers = {server.name: server for server in (*known.servers, *known.pairs)}
    losses = tuple(
        Loss(
            server=servers.get(name, known.of_fault(name)),
            lost=tuple(lost),
            exercised=record.exercised,
        )
        for name, lost in record.lost.items()
    )
    assert set(servers) <= set(record.lost)
    recorded = HidingOutcome(losses=losses, duration_s=0.0, interrupted=False)
    assert recorded.is_within_bounds, recorded.mean_share


def test_no_hiding_server_that_leaves_every_operation_alone_is_recorded_to_hide_a_third() -> None:
    record = read_losses()
    whole = {server.name for server in read_hiding_servers().servers if server.whole_operation}
    shares = {
        name: len(lost) / record.exercised
        for name, lost in record.lost.items()
        if not whole.intersection(name.split("+"))
    }
    assert max(shares.values()) < 1 / 3, max(shares, key=lambda name: shares[name])


def _stated_requirements_of(operation: str) -> set[str]:
    """The stated requirements in the section of an operation, and others about it alone."""
    (section,) = {name.partition("-")[0] for name in SUCCESSES[operation] if "." in name}
    return {
        requirement.id
        for requirement in load_catalogue().requirements.values()
        if requirement.level is Level.STATED
        and (requirement.section == section or requirement.operations == (operation,))
    }


def _fault_names() -> set[str]:
    return {fault.name for fault in list_faults(find_dialect("reference"))}
