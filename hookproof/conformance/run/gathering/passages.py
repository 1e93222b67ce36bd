"""Holds back broadcasts that would disturb experiments in the same project."""

import asyncio
from collections.abc import Iterable
from typing import Final

from hookproof.conformance.model.experiment_registry import Sharing
from hookproof.conformance.run.gathering.schedule import ExperimentSchedule
from hookproof.conformance.target.definition import Project

# How long broadcasts are held back at most; what was to be first is gathered again then.
HELD_BACK_S: Final = 6.0
# How long the first broadcasts of the early ones are waited for at most.
EARLY_S: Final = 2.0


class Passages:
    """Lets broadcasts pass when they disturb nothing any more.

    Those of the loud experiments never wait, nor do the first broadcasts of the early ones. Those
    of most others wait for the first and for the second ones; the latter begin when the first
    broadcasts of the early ones are out. Broadcasts that have the `marker` of the run, so that
    their deliveries can be told from anything else, may pass before others. `interrupted` are the
    experiments that took too long. Belongs to one event loop.
    """

    def __init__(
        self, schedule: ExperimentSchedule, projects: Iterable[Project], marker: bytes
    ) -> None:
        def sharing(kind: Sharing) -> dict[str, set[str]]:
            return {project.id: set(schedule.sharing_in(project, kind)) for project in known}

        known = tuple(projects)
        self.interrupted: set[str] = set()
        self._loud = {experiment.name for experiment in schedule.loud}
        self._marker = marker
        self._first = sharing(Sharing.FIRST)
        self._early = sharing(Sharing.EARLY)
        self._second = sharing(Sharing.SECOND)
        self._let_marked_pass: set[str] = set()
        self._change = asyncio.Event()

    async def passed(self, name: str, project: Project, body: bytes) -> None:
        """Wait until this experiment may broadcast this body in this project."""
        while self._are_in_the_way(name, project.id, body):
            await self._change.wait()

    async def early_ones_passed(self, project: Project) -> None:
        """Wait until the first broadcasts of the early ones in this project are out."""
        while self._early.get(project.id):
            await self._change.wait()

    def release(self, name: str, *, only_marked: bool = False) -> None:
        """Let others broadcast, as far as this experiment is concerned."""
        self._let_marked_pass.add(name)
        for names in () if only_marked else self._all():
            names.discard(name)
        self._note_change()

    def release_early(self, project: Project) -> None:
        """Wait no longer for the early ones there, which are like the others from now on."""
        self._early[project.id].clear()
        self._note_change()

    def release_all(self, project: Project) -> None:
        """Let everything pass there, whatever it disturbs."""
        first, second = self._first[project.id], self._second[project.id]
        self.interrupted |= first | second
        for names in (first, second, self._early[project.id]):
            names.clear()
        self._note_change()

    def _are_in_the_way(self, name: str, project: str, body: bytes) -> bool:
        first, second, early = (
            names.get(project, set()) for names in (self._first, self._second, self._early)
        )
        if name in first | second | early | self._loud:
            return False
        waiting_for = first | second
        if self._marker in body:
            waiting_for = waiting_for - self._let_marked_pass
        return bool(waiting_for)

    def _all(self) -> Iterable[set[str]]:
        return (*self._first.values(), *self._early.values(), *self._second.values())

    def _note_change(self) -> None:
        """Wake whoever waits, to look again."""
        self._change.set()
        self._change = asyncio.Event()
