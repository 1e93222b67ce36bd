"""What one project shows of another (section 1)."""

from dataclasses import dataclass

from hookproof.conformance.model.evidence import Exchange, Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAcrossProjects(Observation):
    """An operation on a resource of one project, through the path and with the key of another."""

    operation_id: str

    @property
    def across(self) -> Exchange | None:
        """The request through the other project."""
        return self.exchange("across")

    @property
    def before(self) -> Exchange | None:
        """The resource in its own project, before."""
        return self.exchange("before")

    @property
    def after(self) -> Exchange | None:
        """The same, afterwards."""
        return self.exchange("after")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListsOfTwoProjects(Observation):
    """The first pages of one list in two projects, `projects` by their identifiers."""

    operation_id: str
    projects: tuple[str, str]

    @property
    def pages(self) -> tuple[Exchange, ...]:
        """The pages of both lists."""
        return self.all_exchanges("inventory")


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOwnerInTwoProjects(Observation):
    """A portal link, and an endpoint of another project that has the same owner_id."""

    @property
    def portal_link(self) -> Exchange | None:
        """The portal link, fetched after the endpoints were created."""
        return self.exchange("after")

    @property
    def elsewhere(self) -> Exchange | None:
        """The creation of the endpoint in the other project."""
        return self.exchange("elsewhere")
