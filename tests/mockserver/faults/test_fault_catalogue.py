"""The catalogue of faults: every requirement has one, and the server can be assembled with each."""

import asyncio
import inspect
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import trustme

from hookproof.mockserver.api.request_pipeline import RequestLimits
from hookproof.mockserver.app import Assembly
from hookproof.mockserver.collaborators import Collaborators
from hookproof.mockserver.delivery.attempt.signing import Signer
from hookproof.mockserver.delivery.engine import EngineDispatch
from hookproof.mockserver.faults.catalogue import catalogue
from hookproof.mockserver.faults.registry import Fault, fault, with_faults
from hookproof.mockserver.faults.renamed import RENAMED
from hookproof.mockserver.randomness import Randomness
from hookproof.mockserver.store.database import IN_MEMORY, Database
from hookproof.spec.catalogue import Level, Requirement, load_catalogue
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping

FAULTS = {name: item for name, item in catalogue().items() if not item.is_variant}
VARIANTS = {name: item for name, item in catalogue().items() if item.is_variant}
# The requirements that need two faults each, by area.
TESTED_TWICE = {
    "signatures": ("6-6", "6-7", "6-8", "6-9", "6-10", "6-11"),
    "rolling": tuple(f"4.3-{number}" for number in range(1, 21)),
    "rate limits": ("8-1", "8-2", "8-3", "8-4", "8-5", "8-6"),
    "paging": tuple(
        name for name in load_catalogue().requirements if name.startswith(("2.2-", "4.4-", "4.7-"))
    ),
    "idempotency": ("2.8-8", "2.8-9", "4.8-8", "4.8-9", "4.8-10", "4.8-11", "4.8-12"),
    "isolation": tuple(f"1-{number}" for number in range(3, 12)),
}


def violable_requirements() -> list[Requirement]:
    requirements = load_catalogue().requirements.values()
    return [
        requirement
        for requirement in requirements
        if requirement.untestable is None and requirement.level is not Level.HYGIENE
    ]


def violation_counts() -> Counter[str]:
    return Counter(name for item in FAULTS.values() for name in item.violates)


def unused_methods(part: type) -> list[str]:
    """The methods of a fault's class that neither replace one nor are called by it."""
    source = inspect.getsource(inspect.getmodule(part) or part)
    return [
        name
        for name, member in vars(part).items()
        if inspect.isfunction(member) and not name.startswith("__")
        if not any(hasattr(base, name) for base in part.__mro__[1:])
        if f".{name}(" not in source and f".{name})" not in source and f".{name}," not in source
    ]


@pytest.mark.parametrize("item", catalogue().values(), ids=lambda item: item.name)
def test_what_a_fault_replaces_is_still_there(item: Fault) -> None:
    assert unused_methods(item.part) == []


def test_a_method_that_replaces_nothing_is_found() -> None:
    class Outdated(Signer):
        def _sign_as_before(self) -> None:
            """The signer has no such method any more."""

    assert unused_methods(Outdated) == ["_sign_as_before"]


def test_there_are_many_faults_and_enough_variants() -> None:
    assert len(FAULTS) >= 120
    assert len(VARIANTS) >= 14


def test_every_requirement_that_can_be_violated_has_a_fault() -> None:
    violated = violation_counts()
    assert [item.id for item in violable_requirements() if not violated[item.id]] == []


@pytest.mark.parametrize("area", TESTED_TWICE)
def test_every_requirement_of_an_area_that_is_tested_twice_has_two_faults(area: str) -> None:
    testable = {item.id for item in violable_requirements()}
    assert [
        name for name in TESTED_TWICE[area] if name in testable and violation_counts()[name] < 2
    ] == []


@pytest.mark.parametrize("item", FAULTS.values(), ids=FAULTS)
def test_a_fault_says_what_is_broken_and_names_requirements_that_can_be_tested(item: Fault) -> None:
    requirements = load_catalogue().requirements
    assert item.broken.endswith(".")
    assert item.violates
    names = item.violates
    assert len(set(names)) == len(names)
    assert [
        name for name in names if name not in requirements or requirements[name].untestable
    ] == []


def test_a_fault_names_the_collaborator_that_it_replaces() -> None:
    assert (FAULTS["expired_secrets_sign"].replaces, FAULTS["expired_secrets_sign"].delivers) == (
        "signer",
        True,
    )
    assert (FAULTS["filters_ignored"].replaces, FAULTS["filters_ignored"].delivers) == (
        "pager",
        False,
    )


def test_a_class_that_replaces_no_collaborator_is_refused() -> None:
    class Unrelated:
        """Replaces nothing."""

    with pytest.raises(ValueError, match="not a subclass of any collaborator"):
        fault("1-1")(Unrelated)


def test_two_faults_of_one_collaborator_are_combined() -> None:
    chosen = [FAULTS["expired_secrets_sign"], FAULTS["simple_signed_as_advanced"]]
    signer = with_faults(Collaborators(), chosen).delivery.signer
    assert all(issubclass(signer, item.part) for item in chosen)


def test_a_fault_leaves_the_other_collaborators_as_they_are() -> None:
    clean, faulty = Collaborators(), with_faults(Collaborators(), [FAULTS["no_overlap"]])
    assert faulty.pipeline is clean.pipeline
    assert faulty.delivery.attempt_sender is clean.delivery.attempt_sender
    assert clean.delivery.signer is Signer
    assert faulty.delivery.signer is FAULTS["no_overlap"].part


@pytest.mark.parametrize("dialect_name", ["reference", "contrary"])
def test_the_server_can_be_assembled_with_every_fault_and_variant(
    dialect_name: str, tmp_path: Path
) -> None:
    dialect, ca_file = load_dialect(dialect_name), tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(str(ca_file))  # the system's authorities take long to read

    async def assemble() -> None:
        database = Database(IN_MEMORY, dialect=dialect_name)
        assembly = Assembly(
            dialect,
            {"one": ["key"]},
            contract=contract_for(dialect),
            database=database,
            randomness=Randomness.from_seed(7),
            clock=time.time,
            steady=time.time,
            limits=RequestLimits(body_bytes=1000, arrival_s=1.0),
            ca_file=ca_file,
            egress=(),
        )
        for item in catalogue().values():
            if item.applies(dialect):
                collaborators = with_faults(Collaborators(), [item])
                dispatch = EngineDispatch(assembly.engine(collaborators))
                assembly.pipeline(collaborators, assembly.service(collaborators, dispatch))
                await dispatch.stop(0)
        database.close()

    asyncio.run(assemble())


def test_the_description_of_a_fault_is_plain_data() -> None:
    description: dict[str, Any] = FAULTS["scheme_ignored"].describe(load_dialect("reference"))
    assert description["violates"] == ["5-13"]
    assert description["applies"] is True
    assert description["innocent"] is False


def test_a_fault_that_depends_on_what_a_dialect_leaves_open_does_not_apply() -> None:
    dialect = load_dialect_mapping(
        {
            "extends": "reference",
            "name": "open",
            "summary": "for one test",
            "retry": {"deactivate_after": {"undecided": "it may change"}},
        },
        "a test",
    )
    assert not FAULTS["never_disabled"].applies(dialect)


def test_a_renamed_fault_exists_under_its_new_name_only() -> None:
    assert set(RENAMED.values()) <= set(catalogue())
    assert not set(RENAMED) & set(catalogue())


def test_the_description_of_a_renamed_fault_has_its_former_names() -> None:
    description = FAULTS["roll_sets_the_timeout"].describe(load_dialect("reference"))
    assert description["former_names"] == ["roll_takes_the_url"]
