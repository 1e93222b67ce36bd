"""The options of a user's pytest run, read as `hookproof check` reads its own."""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.results.baseline import Expectation, read_baseline
from hookproof.conformance.run.plan import RunPlan
from hookproof.conformance.run.selection import Selection, needed_experiments
from hookproof.conformance.target.definition import Target
from hookproof.conformance.target.environment import Embedded
from hookproof.conformance.target.file import named_dialect, target_from
from hookproof.conformance.target.project_assignment import projects_needed
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import Catalogue, Level, Requirement, load_catalogue
from hookproof.spec.contract.service_contract import contract_for
from hookproof.target.settings import DEFAULT_DIALECT, Flags, receiver_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """What to judge, and how; every process of a run reads the same settings from its options."""

    subject: Target | Embedded
    catalogue: Catalogue
    requirements: tuple[Requirement, ...]
    profile: Profile
    seed: int
    baseline: tuple[Expectation, ...]

    def experiments(self, requirements: Sequence[Requirement]) -> tuple[Experiment, ...]:
        """The experiments that judging these requirements needs."""
        return needed_experiments(requirements, all_checks(), all_experiments(), self.profile)

    def plan(self, experiments: Sequence[Experiment]) -> RunPlan:
        return RunPlan(
            subject=self.subject,
            experiments=experiments,
            every_experiment=all_experiments(),
            dialect=self.subject.dialect,
            contract=contract_for(self.subject.dialect),
            profile=self.profile,
            seed=self.seed,
            nonce=secrets.token_hex(3),
        )


def read_settings(config: pytest.Config) -> SessionSettings:
    """Raises pytest.UsageError with everything that is wrong with the options."""
    try:
        return _settings(config)
    except CommandError as refusal:
        raise pytest.UsageError(
            *(f"hookproof: {line}" for line in str(refusal).splitlines())
        ) from None


def _settings(config: pytest.Config) -> SessionSettings:
    seed = _seed(config)
    catalogue = load_catalogue()
    highest = _choice(config, "level", [level.value for level in Level], Level.HYGIENE.value)
    profiles = [each.key for each in Profile]
    profile = _choice(config, "profile", profiles, Profile.STANDARD.key)
    baseline = _option(config, "baseline")
    return SessionSettings(
        subject=_subject(config, seed),
        catalogue=catalogue,
        requirements=Selection(level=Level(highest)).requirements(catalogue),
        profile=Profile[profile.upper()],
        seed=seed,
        baseline=() if baseline is None else read_baseline(Path(baseline)),
    )


def _subject(config: pytest.Config, seed: int) -> Target | Embedded:
    flags = Flags(
        url=_option(config, "url"),
        file=_path_option(config, "target"),
        api_key=os.environ.get("HOOKPROOF_API_KEY"),
        project=_option(config, "project") or os.environ.get("HOOKPROOF_PROJECT"),
        dialect=_option(config, "dialect") or os.environ.get("HOOKPROOF_DIALECT"),
        ca_dir=_path_option(config, "ca_dir"),
    )
    if flags.url is not None or flags.file is not None:
        return target_from(flags, os.environ)
    return Embedded(
        dialect=named_dialect(flags.dialect),
        dialect_name=flags.dialect or DEFAULT_DIALECT,
        seed=seed,
        projects=projects_needed(len(all_experiments())),
        receiver=receiver_of(flags),
    )


def _option(config: pytest.Config, name: str) -> str | None:
    value: str | None = config.getoption(f"hookproof_{name}")
    return value


def _path_option(config: pytest.Config, name: str) -> Path | None:
    value = _option(config, name)
    return None if value is None else Path(value)


def _choice(config: pytest.Config, name: str, known: Sequence[str], default: str) -> str:
    value = _option(config, name) or default
    if value not in known:
        raise CommandError(f"--hookproof-{name}: {value!r} is not one of {', '.join(known)}")
    return value


def _seed(config: pytest.Config) -> int:
    value = _option(config, "seed") or "0"
    if not (value.isascii() and value.isdigit()):
        raise CommandError(f"--hookproof-seed: {value!r} is not a number of 0 or more")
    return int(value)
