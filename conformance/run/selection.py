"""Which requirements a run judges, and which checks and experiments it needs for that."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.experiment_registry import Experiment, experiments_of
from hookproof.conformance.model.profile import Profile
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import Catalogue, Level, Requirement
from hookproof.spec.strict_yaml.schema_wording import did_you_mean

# A run that judges a level also judges the levels before it.
LEVELS: Final = (Level.STATED, Level.OPEN, Level.HYGIENE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The requirements to judge. A selector is the id of a requirement or a section.

    `*` in a selector stands for any text.
    """

    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    level: Level = Level.HYGIENE

    @property
    def is_everything(self) -> bool:
        return not self.only and not self.exclude and self.level is LEVELS[-1]

    def requirements(self, catalogue: Catalogue) -> tuple[Requirement, ...]:
        """The selected requirements in document order; raises CommandError if there are none."""
        chosen = self._matching(self.only, catalogue) if self.only else set(catalogue.requirements)
        chosen -= self._matching(self.exclude, catalogue)
        levels = LEVELS[: LEVELS.index(self.level) + 1]
        selected = tuple(
            requirement
            for requirement in catalogue.requirements.values()
            if requirement.id in chosen and requirement.level in levels
        )
        if not selected:
            raise CommandError(
                "no requirement is left to judge: widen --only, --exclude or --level"
            )
        return selected

    @staticmethod
    def _matching(selectors: Sequence[str], catalogue: Catalogue) -> set[str]:
        chosen: set[str] = set()
        for selector in selectors:
            matching = catalogue.select(selector)
            if not matching:
                known = [*catalogue.requirements, *catalogue.sections]
                raise CommandError(
                    f"{selector!r} selects no requirement{did_you_mean(selector, known)};"
                    " give an id like 4.3-2, a section, or '4.3-*'"
                )
            chosen.update(requirement.id for requirement in matching)
        return chosen


def needed_checks(requirements: Sequence[Requirement], checks: Sequence[Check]) -> list[Check]:
    """The checks that judge any of these requirements."""
    wanted = {requirement.id for requirement in requirements if requirement.untestable is None}
    return [check for check in checks if wanted.intersection(check.requirements)]


def needed_experiments(
    requirements: Sequence[Requirement],
    checks: Sequence[Check],
    experiments: Sequence[Experiment],
    profile: Profile,
) -> tuple[Experiment, ...]:
    """The experiments of the profile whose evidence the checks of these requirements judge.

    An oracle judges the evidence of all experiments.
    """
    names = {
        name
        for check in needed_checks(requirements, checks)
        for name in experiments_of(check, experiments)
    }
    return tuple(
        experiment
        for experiment in experiments
        if experiment.profile <= profile and experiment.name in names
    )
