"""Which experiments wait for which others where the target has fewer projects than experiments."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.model.experiment_registry import Experiment, Sharing
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.run.plan import RunPlan
from hookproof.conformance.run.schedule import (
    AROUND_S,
    CONFIRMED_ALONE,
    ExperimentSchedule,
    schedule_of,
)
from hookproof.conformance.target.definition import Project, Target
from hookproof.conformance.target.project_assignment import projects_needed
from tests.conformance.canned_evidence import context

KINDS = MappingProxyType(
    {
        "a": Sharing.FIRST,
        "b": Sharing.BESIDE,
        "c": Sharing.CONFIRMED,
        "d": Sharing.ALONE,
        "e": Sharing.QUIET,
        "f": Sharing.LATE,
        "g": Sharing.LATE,
        "h": Sharing.EARLY,
        "i": Sharing.FIRST,
        "j": Sharing.CONFIRMED,
    }
)


def experiment(name: str, sharing: Mapping[Profile, Sharing]) -> Experiment:
    async def gather(_context: object) -> None: ...

    return Experiment(
        name=name,
        gather=gather,  # type: ignore[arg-type]
        observes=(),
        profile=Profile.STANDARD if name == "f" else Profile.QUICK,
        busy=name in "be",
        sharing=sharing,
    )


def projects(count: int) -> list[Project]:
    return [Project(id=f"p{number}", api_key="k") for number in range(1, count + 1)]


def schedule(
    count: int, *, names: str = "abcd", fresh: bool = False, profile: Profile = Profile.QUICK
) -> ExperimentSchedule:
    """The schedule of experiments of all kinds in so many projects."""
    check_context = context()
    every = {
        name: experiment(name, dict.fromkeys(Profile, KINDS[name])) for name in {*"abcd", *names}
    }
    plan = RunPlan(
        subject=Target(
            base_url="http://x", projects=tuple(projects(count)), dialect=check_context.dialect
        ),
        experiments=[every[name] for name in names],
        every_experiment=[every[name] for name in sorted(every)],
        dialect=check_context.dialect,
        contract=check_context.contract,
        profile=profile,
        seed=0,
        nonce="",
    )
    return schedule_of(plan, projects(count), fresh=fresh)


def names(experiments: tuple[Experiment, ...]) -> list[str]:
    return [each.name for each in experiments]


def test_experiments_with_a_project_each_all_begin_at_once() -> None:
    plan = schedule(projects_needed(4))
    assert (names(plan.first), names(plan.beside), names(plan.last)) == ([], list("abcd"), [])
    assert not plan.is_shared
    assert not any(map(plan.is_confirmed, plan.experiments))


def test_in_one_project_some_go_first_and_some_wait_for_all_others() -> None:
    plan = schedule(1)
    assert (names(plan.first), names(plan.beside), names(plan.last)) == (["a"], ["b", "c"], ["d"])
    assert names(tuple(filter(plan.is_confirmed, plan.experiments))) == ["a", "c"]
    assert plan.is_shared


def test_what_broadcasts_nothing_begins_before_the_other_busy_ones() -> None:
    plan = schedule(1, names="abce")
    assert names(plan.at_once) == ["a", "c", "e", "b"]
    assert names(plan.busy) == ["b", "e"]
    assert names(plan.senders) == ["b"]


def test_the_early_ones_begin_after_the_loud_ones_before_all_others() -> None:
    plan = schedule(1, names="abhi")
    assert (names(plan.early), names(plan.first)) == (["h"], ["a", "i"])
    assert names(plan.at_once) == ["h", "a", "i", "b"]
    assert not any(map(plan.goes_ahead, plan.early))
    assert names(plan.senders_before(plan.early[0])) == ["b"]
    assert names(tuple(filter(plan.is_confirmed, plan.experiments))) == ["a", "h", "i"]
    slow_early = {"a": 1.0, "b": 2.0, "h": 9.0, "i": 1.0}
    assert plan.expected_s(slow_early) == AROUND_S + 2.0 + 9.0


def test_late_ones_begin_by_profile_and_are_confirmed() -> None:
    plan = schedule(1, names="abfg")
    assert [names(alike) for alike in plan.late] == [["g"], ["f"]]
    assert names(plan.at_once) == ["a", "b"]
    assert plan.last == ()
    assert names(tuple(filter(plan.is_confirmed, plan.experiments))) == ["a", "f", "g"]
    assert names(schedule(9, names="abfg").at_once) == ["a", "f", "g", "b"]


def test_the_loud_ones_go_before_the_others_of_their_project() -> None:
    plan = schedule(1, names="abej")
    before = {each.name: names(plan.senders_before(each)) for each in plan.experiments}
    assert before == {"a": ["b"], "b": [], "e": [], "j": ["b"]}
    assert names(tuple(filter(plan.is_confirmed, plan.experiments))) == ["a", "j"]
    slow = {"a": 1.0, "b": 2.0, "e": 1.0, "j": 3.0}
    assert plan.expected_s(slow) == AROUND_S + 2.0 + 3.0
    for alone in (schedule(2, names="abj"), schedule(9, names="abj")):
        assert not any(map(alone.senders_before, alone.experiments))


def test_an_experiment_that_has_its_project_for_itself_needs_no_confirmation() -> None:
    assert names(schedule(1, names="d").beside) == ["d"]
    assert names(schedule(2, names="ad", fresh=True).first) == ["a"]
    assert names(schedule(3, names="ad", fresh=True).beside) == ["a", "d"]


def test_the_expected_time_grows_with_what_is_alone_and_follows_an_earlier_run() -> None:
    alone, together = schedule(1), schedule(5)
    assert alone.expected_s({}) > together.expected_s({})
    assert alone.expected_s(dict.fromkeys("abcd", 1.0)) < together.expected_s({})
    slow = dict.fromkeys("abcd", 30.0)
    # What is busy and sends goes before, what has to be alone afterwards.
    assert alone.expected_s(slow) == together.expected_s(slow) + 30.0 + 30.0
    assert alone.expected_s(slow, sending_s=500.0) > 500.0
    late = schedule(1, names="abfg")
    assert late.expected_s({"a": 1.0, "b": 2.0, "f": 3.0, "g": 4.0}) == AROUND_S + 2.0 + 3.0 + 4.0


def test_every_experiment_says_how_it_shares_in_every_profile() -> None:
    for each in all_experiments():
        assert set(each.sharing) == set(Profile)


def test_what_the_document_states_is_confirmed_wherever_projects_are_shared() -> None:
    shared, own = schedule(1, names="abeh"), schedule(projects_needed(6), names="abeh")
    assert names(tuple(filter(shared.is_confirmed_if_stated, shared.experiments))) == list("abeh")
    assert not any(map(own.is_confirmed_if_stated, own.experiments))
    generated = replace(shared.experiments[1], generates=True)
    assert not shared.is_confirmed_if_stated(generated)


def test_access_and_the_flood_are_gathered_again_like_others() -> None:
    sharing = {each.name: each.sharing for each in all_experiments()}
    for name in ("access", "flood"):
        assert sharing[name][Profile.QUICK] in CONFIRMED_ALONE
