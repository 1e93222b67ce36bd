"""What faults violate follows from what requirements are about, and from no wording."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from hookproof.mockserver.faults import registry
from hookproof.mockserver.faults.catalogue import catalogue
from hookproof.mockserver.faults.operators import laws
from hookproof.mockserver.faults.operators.delivery_places import places_of_deliveries
from hookproof.mockserver.faults.operators.generation import OPERATORS
from hookproof.mockserver.faults.operators.places import places_of
from hookproof.spec.catalogue import REQUIREMENTS, Catalogue, load_catalogue
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.reader import load_dialect

REFERENCE = load_dialect("reference")
# Of so many places one is looked at, for the time that the others take.
STEP = 10


def reworded(folder: Path) -> Catalogue:
    """The catalogue with the id of each requirement in place of its sentence."""
    lines: list[str] = []
    name = ""
    for line in REQUIREMENTS.read_text("utf-8").split("\n"):
        if line.startswith("    - id: "):
            name = line.removeprefix("    - id: ")
        lines.append(f"      text: {name}" if line.startswith("      text: ") else line)
    copy = folder / "reworded.yaml"
    copy.write_text("\n".join(lines), "utf-8")
    return load_catalogue(copy)


def violated() -> Mapping[str, tuple[str, ...]]:
    """What faults violate: those that were written by hand, and generated ones of some places."""
    for cached in (laws._requirements_of, laws._about, registry._violated):
        cached.cache_clear()
    found = {name: item.violates for name, item in catalogue().items()}
    places = (*places_of(contract_for(REFERENCE), REFERENCE), *places_of_deliveries())
    for place in places[::STEP]:
        for operator in OPERATORS.values():
            defect = operator.defect(place, operator.parameters[0], REFERENCE)
            if defect is not None:
                found[f"{operator.name}@{place.name}"] = defect.violates
    return found


@pytest.fixture
def _as_it_is() -> Iterator[None]:
    yield
    violated()  # what was found out of a reworded catalogue is forgotten


@pytest.mark.usefixtures("_as_it_is")
def test_rewording_every_sentence_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, other = load_catalogue().requirements, reworded(tmp_path)
    assert {one.text for one in other.requirements.values()} == set(now)
    before = violated()
    for module in (laws, registry):
        monkeypatch.setattr(module, "load_catalogue", lambda: other)
    assert violated() == before
    assert [one.about for one in other.requirements.values()] == [one.about for one in now.values()]


@pytest.mark.parametrize(
    ("name", "violates"),
    [
        ("name_not_updated", ("4.6-5",)),
        ("nothing_required", ("4.9-1", "4.9-3", "4.9-5", "4.9-7")),
        ("count_as_text", ("4.1-3", "4.2-3", "4.3-9", "2.6-10")),
        ("every_seventh_altered", ("6-3",)),
    ],
)
def test_a_fault_violates_what_has_its_laws(name: str, violates: tuple[str, ...]) -> None:
    assert catalogue()[name].violates == violates
