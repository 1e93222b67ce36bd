"""Which requirements a run judges, and which checks and experiments it needs for that."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.experiment_registry import Experiment, experiments_of
from hookproof.conformance.model.profile import Profile
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import Catalogue, Level, Requirement
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.spec.strict_yaml.reader import read_text
from hookproof.spec.strict_yaml.schema_wording import did_you_mean

# A run that judges a level also judges the levels before it.
LEVELS: Final = (Level.STATED, Level.OPEN, Level.HYGIENE)

# Light experiments in which an oracle, which judges every exchange, sees those of an operation, and
# those in which it sees most of what a section is about: pages, refused requests.
SHOWN_BY: Final = {
    "createEndpoint": "round_trip",
    "getEndpoint": "round_trip",
    "expireEndpointSecret": "roll_answers",
    "listPortalLinks": "portal_links",
    "getPortalLink": "portal_links",
    "updatePortalLink": "portal_links",
    "listSources": "isolation",
    "createBroadcastEvent": "broadcast_answers",
}
SHOWN_MOST_BY: Final = {"2.2": ("paging",), "7": ("refusals", "hostile")}
# The law that any acceptable request shows, whatever the experiment that sends it.
SHOWN_BY_ANY: Final = "succeeds"
# The same for single requirements: an event has records of endpoints once there are active ones,
# and the isolation of projects is not where a request for sources has to succeed.
SHOWN_ONLY_BY: Final = {"2.8-7": ("broadcast",), "4.7-1": ("paging",)}


@dataclass(frozen=True, slots=True)
class Selector:
    """The id of a requirement, or a section, in which `*` stands for any text.

    One of a file has its `place`, the file and the line, and may have a `reason`.
    """

    text: str
    reason: str = ""
    place: str = ""


def selectors(given: Sequence[str]) -> tuple[Selector, ...]:
    """The selectors of an option; `@FILE` stands for those of a file, one a line.

    There `#` begins the reason, or a comment if nothing is before it. Raises CommandError for a
    file that cannot be read.
    """
    return tuple(
        selector
        for text in given
        for selector in (_of_file(Path(text[1:])) if text.startswith("@") else (Selector(text),))
    )


def _of_file(path: Path) -> Iterator[Selector]:
    try:
        lines = read_text(path).splitlines()
    except FileProblems as wrong:
        raise CommandError(str(wrong)) from None
    for number, line in enumerate(lines, 1):
        text, _, reason = line.partition("#")
        if text.strip():
            yield Selector(text.strip(), reason.strip(), f"{path}:{number}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The requirements to judge: those of a `requirement_set` and earlier ones, or all."""

    only: tuple[Selector, ...] = ()
    exclude: tuple[Selector, ...] = ()
    level: Level = Level.HYGIENE
    requirement_set: str = ""

    @property
    def is_everything(self) -> bool:
        return not self.only and not self.exclude and self.level is LEVELS[-1]

    @property
    def is_light(self) -> bool:
        """Whether what any exchange shows is looked at in a few experiments: where few requirements
        are asked for by name.
        """
        return bool(self.only)

    def requirements(self, catalogue: Catalogue) -> tuple[Requirement, ...]:
        """The selected requirements in document order; raises CommandError if there are none."""
        newer = {requirement.id for requirement in self.newer(catalogue)}
        chosen = set(self._matching(self.only, catalogue) if self.only else catalogue.requirements)
        chosen -= newer | self.excluded(catalogue).keys()
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

    def newer(self, catalogue: Catalogue) -> tuple[Requirement, ...]:
        """Those that came after its set; raises CommandError if no set has its name."""
        if not self.requirement_set:
            return ()
        sets = sorted({requirement.since for requirement in catalogue.requirements.values()})
        if self.requirement_set not in sets:
            raise CommandError(
                f"no set of requirements is named {self.requirement_set!r}; there"
                f" {'is' if len(sets) == 1 else 'are'} {', '.join(sets)}"
            )
        return tuple(
            requirement
            for requirement in catalogue.requirements.values()
            if requirement.since > self.requirement_set
        )

    def excluded(self, catalogue: Catalogue) -> dict[str, str]:
        """The ids that are left out on purpose, each with the reason that its file gives."""
        return self._matching(self.exclude, catalogue)

    @staticmethod
    def _matching(given: Sequence[Selector], catalogue: Catalogue) -> dict[str, str]:
        chosen: dict[str, str] = {}
        for selector in given:
            matching = catalogue.select(selector.text)
            if not matching:
                known = [*catalogue.requirements, *catalogue.sections]
                place = f"{selector.place}: " if selector.place else ""
                raise CommandError(
                    f"{place}{selector.text!r} selects no requirement"
                    f"{did_you_mean(selector.text, known)};"
                    " give an id like 4.3-2, a section, or '4.3-*'"
                )
            for requirement in matching:
                chosen[requirement.id] = chosen.get(requirement.id) or selector.reason
        return chosen


def needed_checks(requirements: Sequence[Requirement], checks: Sequence[Check]) -> list[Check]:
    wanted = {requirement.id for requirement in requirements if requirement.untestable is None}
    return [check for check in checks if wanted.intersection(check.requirements)]


def needed_experiments(
    requirements: Sequence[Requirement],
    checks: Sequence[Check],
    experiments: Sequence[Experiment],
    profile: Profile,
    *,
    light: bool = False,
) -> tuple[Experiment, ...]:
    """The experiments of the profile whose evidence the checks of these requirements judge.

    An oracle judges the evidence of all experiments. Where the run is to be `light`, what only
    oracles judge is looked at in a few of them, and so is what any acceptable request shows.
    """
    names: set[str] = set()
    for requirement in requirements:
        judging = needed_checks([requirement], checks)
        is_shown_by_any = requirement.about.law == SHOWN_BY_ANY or all(
            check.is_oracle for check in judging
        )
        if light and judging and is_shown_by_any:
            names.update(shown_by(requirement))
        else:
            names.update(name for check in judging for name in experiments_of(check, experiments))
    return tuple(
        experiment
        for experiment in experiments
        if experiment.profile <= profile and experiment.name in names
    )


def shown_by(requirement: Requirement) -> frozenset[str]:
    """Light experiments in which oracles see what the requirement is about."""
    known = SHOWN_ONLY_BY.get(requirement.id) or SHOWN_MOST_BY.get(requirement.section)
    return frozenset(known or (SHOWN_BY[each] for each in requirement.operations))
