"""What a run leaves at the target, which has no operation to remove an endpoint."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftEndpoint:
    """An endpoint that was created; `uid` is empty if no answer showed it."""

    project: str
    uid: str
    is_disabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBehind:
    """The endpoints that are left, how many a hook removed, and how many of earlier runs get what
    this one broadcast.
    """

    endpoints: tuple[LeftEndpoint, ...] = ()
    removed: int = 0
    earlier: int = 0

    @property
    def active(self) -> int:
        """How many were created to get deliveries."""
        return sum(not endpoint.is_disabled for endpoint in self.endpoints)

    def with_those_of(self, later: "LeftBehind") -> "LeftBehind":
        """What this and a later repetition leave; to the later one this one is an earlier run."""
        return LeftBehind(
            endpoints=(*self.endpoints, *later.endpoints),
            removed=self.removed + later.removed,
            earlier=self.earlier,
        )
