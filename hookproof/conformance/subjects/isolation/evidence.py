"""What one project shows of another (section 1)."""

from dataclasses import dataclass

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.before_and_after import BeforeAndAfter


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAcrossProjects(BeforeAndAfter):
    """An operation on a resource of one project, through the path and with the key of another.

    The resource is fetched in its own project.
    """

    operation_id: str

    @property
    def across(self) -> Exchange | None:
        """The request through the other project."""
        return self.exchange("across")


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
    """A portal link, and an endpoint of its owner_id in its own and in another project."""

    @property
    def portal_link(self) -> Exchange | None:
        """The portal link, fetched after the endpoints were created."""
        return self.exchange("after")

    @property
    def here(self) -> tuple[Exchange, ...]:
        """The creation of the endpoint in the project of the portal link."""
        return self.all_exchanges("here")

    @property
    def elsewhere(self) -> Exchange | None:
        """The creation of the endpoint in the other project."""
        return self.exchange("elsewhere")
