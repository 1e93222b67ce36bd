"""Which requirements a run judges, and which checks and experiments it needs for that."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.experiment_registry import Experiment, experiments_of
from hookproof.conformance.model.profile import Profile
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import Catalogue, Level, Requirement

# A run that judges one level judges those before it too.
LEVELS: Final = (Level.STATED, Level.OPEN, Level.HYGIENE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What the command line asks for. A selector is a requirement's id or a section, in which `*`
    is wild.
    """

    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    level: Level = Level.HYGIENE

    @property
    def is_everything(self) -> bool:
        """Whether no requirement is left out."""
        return not self.only and not self.exclude and self.level is LEVELS[-1]

    def requirements(self, catalogue: Catalogue) -> tuple[Requirement, ...]:
        """The selected requirements in the order of the document; raises CommandError if there are none."""
        chosen = self._matching(self.only, catalogue) if self.only else set(catalogue.requirements)
        chosen -= self._matching(self.exclude, catalogue)
        levels = LEVELS[: LEVELS.index(self.level) + 1]
        selected = tuple(
            r for r in catalogue.requirements.values() if r.id in chosen and r.level in levels
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
            found = catalogue.select(selector)
            if not found:
                raise CommandError(
                    f"{selector!r} selects no requirement; give an id like 4.3-2, a section, or '4.3-*'"
                )
            chosen.update(requirement.id for requirement in found)
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
    """The experiments of the profile whose evidence the checks of these requirements judge; an
    oracle judges all.
    """
    names = {
        name
        for check in needed_checks(requirements, checks)
        for name in experiments_of(check, experiments)
    }
    return tuple(one for one in experiments if one.profile <= profile and one.name in names)
