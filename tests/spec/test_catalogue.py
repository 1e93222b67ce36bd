"""The catalogue agrees with the document, the contract and the dialect; bad files are refused."""

import re
from collections import Counter
from pathlib import Path

import pytest

from hookproof.spec.catalogue import GAPS, REQUIREMENTS, Level, dialect_fields, load_catalogue
from hookproof.spec.contract.service_contract import OPERATION_IDS
from hookproof.spec.strict_yaml.file_problem import FileProblems
from tests.spec.document_operations import OPERATIONS
from tests.spec.document_tables import SECTIONS

CATALOGUE = load_catalogue()

# The 16 lines in which the document says that it does not show something, and the gaps that each
# leaves.
DECLARED = {
    "1, retries and records of attempts": {"delivery-retries", "attempt-numbers"},
    "2.9, forms of timestamps and identifiers": {"timestamp-form", "identifier-form"},
    "2.9, words of enumerated fields": {
        "endpoint-authentication-types",
        "oauth2-authentication-types",
        "oauth2-expiry-units",
        "portal-auth-types",
        "source-types",
        "source-providers",
        "verifier-types",
        "pub-sub-types",
        "hmac-encodings",
        "kafka-auth-types",
        "endpoint-states",
        "event-states",
    },
    "2.9, what only the service sets": {"service-assigned-fields"},
    "3, states and the ways between them": {
        "endpoint-states",
        "event-states",
        "endpoint-transitions",
    },
    "4.3, unit of expiration": {"expiration-unit"},
    "4.4, names of two filters": {"portal-owner-filter-name", "portal-name-filter-name"},
    "4.8, reach of a broadcast": {"broadcast-reach"},
    "4.9, required fields": {
        "create-endpoint-required",
        "expire-secret-required",
        "update-portal-link-required",
        "broadcast-required",
    },
    "5, form and scope of keys": {"key-format", "key-scope"},
    "6, names and making of signatures": {"signature-header", "signature-algorithm"},
    "6, conditions of notifications": {"notification-conditions"},
    "6, webhooks about own resources": {"own-events"},
    "7, statuses, bodies and causes of errors": {
        "error-body",
        "malformed-body-status",
        "invalid-value-status",
        "unknown-resource-status",
        "unknown-project-status",
        "unknown-path-status",
        "method-status",
        "media-type-status",
        "size-status",
        "slow-request-status",
    },
    "8, unit of the rate limit, page sizes, size limit and bounds": {
        "rate-limit-duration-unit",
        "per-page-bounds",
        "request-size-limit",
        "numeric-bounds",
    },
    "9, policy on deprecation": {"deprecation-policy"},
}


def in_document_order(section: str) -> tuple[int, ...]:
    return tuple(map(int, section.split(".")))


def test_the_gaps_declared_are_those_of_the_documents_16_lines() -> None:
    assert len(DECLARED) == 16
    assert {gap.id for gap in CATALOGUE.gaps.values() if gap.declared} == set().union(
        *DECLARED.values()
    )


@pytest.mark.parametrize("line", DECLARED)
def test_each_line_has_a_gap_in_its_own_section(line: str) -> None:
    section = line.partition(",")[0]
    assert section in {CATALOGUE.gaps[gap].section for gap in DECLARED[line]}


def test_each_field_of_a_dialect_answers_exactly_one_gap() -> None:
    assert Counter(name for gap in CATALOGUE.gaps.values() for name in gap.dialect) == Counter(
        dialect_fields()
    )


def test_the_fields_of_a_dialect_are_found_at_every_depth() -> None:
    assert {
        "policy",
        "retry.attempts",
        "signatures.secret.form",
        "signatures.advanced.header",
    } <= dialect_fields()
    assert not {"name", "summary", "retry", "signatures.advanced"} & dialect_fields()


def test_each_gap_matters_to_a_requirement() -> None:
    assert set(CATALOGUE.gaps) == {
        gap for requirement in CATALOGUE.requirements.values() for gap in requirement.gaps
    }


def test_a_requirement_is_judged_by_answers_to_its_own_gaps() -> None:
    for requirement in CATALOGUE.requirements.values():
        named = [name for _, names in CATALOGUE.depends_on(requirement) for name in names]
        assert requirement.answers is None or sorted(requirement.answers) == sorted(named)
    names = dict(CATALOGUE.depends_on(CATALOGUE.requirements["4.8-9"]))
    assert list(names.values()) == [()]


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_each_operation_succeeds_and_is_refused_without_a_key(operation: str) -> None:
    stated = [
        requirement
        for requirement in CATALOGUE.requirements.values()
        if requirement.operations == (operation,) and requirement.level is Level.STATED
    ]
    sections = {requirement.section for requirement in stated}
    assert {"5", OPERATIONS[operation].section} <= sections


def test_a_requirement_of_all_operations_names_the_eight_of_the_document() -> None:
    assert CATALOGUE.requirements["2.1-1"].operations == OPERATION_IDS
    assert sorted(OPERATION_IDS) == sorted(OPERATIONS)


def test_every_section_has_requirements_and_is_in_the_documents_order() -> None:
    heading_alone = {"2"}
    assert list(CATALOGUE.sections) == sorted(SECTIONS - heading_alone, key=in_document_order)


def test_gaps_are_in_sections_of_the_document() -> None:
    assert {gap.section for gap in CATALOGUE.gaps.values()} <= SECTIONS


def test_the_requirements_of_a_section_are_numbered_without_a_hole() -> None:
    counts = Counter(requirement.section for requirement in CATALOGUE.requirements.values())
    expected = [
        f"{section}-{n}" for section in CATALOGUE.sections for n in range(1, counts[section] + 1)
    ]
    assert list(CATALOGUE.requirements) == expected


def test_no_two_requirements_say_the_same_of_the_same_operations() -> None:
    counts = Counter(
        (requirement.text, requirement.operations, requirement.level)
        for requirement in CATALOGUE.requirements.values()
    )
    assert [content for content, count in counts.items() if count > 1] == []


def test_texts_are_sentences_and_questions_ask() -> None:
    for requirement in CATALOGUE.requirements.values():
        assert re.fullmatch(r"\S.*\.", requirement.text), requirement.id
        assert (requirement.untestable or ".").endswith("."), requirement.id
    for gap in CATALOGUE.gaps.values():
        assert re.fullmatch(r"[A-Z].*\?", gap.question), gap.id


def test_a_requirement_is_read_with_all_its_members() -> None:
    requirement = CATALOGUE.requirements["4.3-7"]
    assert (requirement.section, requirement.level) == ("4.3", Level.OPEN)
    assert requirement.operations == ()
    assert requirement.gaps == ("simple-signing-secret", "expiration-unit")
    assert requirement.untestable is None
    assert CATALOGUE.requirements["6-15"].untestable


def test_the_catalogue_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        del CATALOGUE.requirements["1-1"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("selector", "selected_id", "sections"),
    [
        ("4.3-2", "4.3-2", {"4.3"}),
        ("4.3", "4.3-20", {"4.3"}),
        ("4.3-*", "4.3-20", {"4.3"}),
        ("4.[34]", "4.4-1", {"4.3", "4.4"}),
        ("4-*", "4-1", {"4"}),
        ("2.1*", "2.1-6", {"2.1"}),
    ],
)
def test_a_selector_accepts_ids_and_sections(
    selector: str, selected_id: str, sections: set[str]
) -> None:
    selected = CATALOGUE.select(selector)
    assert selected_id in {requirement.id for requirement in selected}
    assert {requirement.section for requirement in selected} == sections


def test_an_id_selects_itself_alone() -> None:
    assert CATALOGUE.select("4.3-2") == (CATALOGUE.requirements["4.3-2"],)


def test_a_selector_that_matches_nothing_selects_nothing() -> None:
    assert CATALOGUE.select("4.30") == ()


def broken_copy(source: Path, folder: Path, right: str, wrong: str) -> tuple[Path, int]:
    """A copy with the first `right` replaced, and the line on which `wrong` ends there."""
    text = source.read_text("utf-8")
    assert right in text
    before = text.index(right)
    copy = folder / source.name
    copy.write_text(text.replace(right, wrong, 1), "utf-8")
    return copy, text.count("\n", 0, before) + wrong.count("\n") + 1


def refused_lines(message: str, **files: Path) -> list[int | None]:
    """The lines of the problems with this message for which the only file given is refused."""
    with pytest.raises(FileProblems) as refusal:
        load_catalogue(**files)
    (path,) = files.values()
    assert refusal.value.path == str(path)
    return [problem.line for problem in refusal.value.problems if message in problem.message]


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("gaps: [key-scope,", "gaps: [key-scpe,", "expected an id of the gaps file"),
        ("gaps: [key-scope,", "gaps: [key-scpe,", "did you mean key-scope?"),
        ("[getEndpoint]", "[getEndpiont]", "did you mean getEndpoint?"),
        ("[getEndpoint]", "[receiveDelivery]", "expected an operationId of openapi.yaml"),
        ("[getEndpoint]", "[getEndpoint, getEndpoint]", "expected each item once"),
        ("operations: all", "operations: every", "expected"),
        ("operations: all", "operations: []", "expected"),
        ("title: Event", 'title: ""', "not empty"),
        ('id: "1-2"', 'id: "1-1"', "1-1 was given before"),
        ('section: "2.3"', 'section: "2.2"', "2.2 was given before"),
        ('id: "4.3-3"', 'id: "4.4-99"', '4.4-99 stands in section 4.3, so it begins with "4.3-"'),
        ('id: "4.3-3"', 'id: "4.3-03"', 'expected an id such as "4.3-2"'),
        ('section: "2.3"', 'section: "2-3"', 'expected a section such as "4" or "4.3"'),
        ("level: stated", "level: stated\n      levle: open", "unknown key"),
        ("level: stated", "level: state", "expected one of: stated, open, hygiene"),
        ("level: stated", "level: stated\n      level: stated", "given twice"),
        ('common_mistakes: ["1-3"]', 'common_mistakes: ["1-4"]', "1-4 names no requirement that"),
        ('common_mistakes: ["1-3"]', 'common_mistakes: ["1-99"]', "1-99 names no requirement that"),
        ('common_mistakes: ["1-3"]', "common_mistakes: []", "expected"),
        ('from: ["2.1-1"]', 'from: ["2.1-99"]', "2.1-99 is no requirement that is tested"),
        ('from: ["2.1-1"]', 'from: ["1-23"]', "1-23 is no requirement that is tested"),
        ('from: ["2.1-1"]', 'from: ["2.1-6"]', "2.1-6 is hygiene, which counts less"),
        ('from: ["2.1-1"]', 'from: ["2.1-5"]', "2.1-5 follows from 2.1-5 itself"),
        ('from: ["2.1-1"]', 'from: ["2.2-1"]', "2.2-1 follows from 2.1-5 itself"),
        ('from: ["2.1-1"]', "from: []", "expected"),
        ("law: retry_after", "law: Hurry up", "expected a law, such as page_size"),
        ("[envelope.message]", "[envelope.mesage]", "did you mean envelope.message?"),
        ("shown: {lists: [pagination]}", "shown: {lsts: [pagination]}", "did you mean lists?"),
        ("shown: {lists: [pagination]}", "shown: {lists: [uuid]}", "lists has no field uuid"),
        ("taken: {createEndpoint: [url]}", "taken: {getEndpoint: [url]}", "has no field url"),
        ("stored: {createEndpoint: [SETTINGS]}", "stored: {createEndpoint: [SETTING]}", "no field"),
    ],
)
def test_wrong_requirements_are_refused_with_the_line(
    tmp_path: Path, right: str, wrong: str, message: str
) -> None:
    path, line = broken_copy(REQUIREMENTS, tmp_path, right, wrong)
    assert refused_lines(message, requirements=path) == [line]


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("[retry.success]", "[retry.sucess]", "did you mean retry.success?"),
        ("[retry.success]", "[name]", "expected a field of a dialect"),
        ("[retry.redirect]", "[retry.success]", "retry.success was given before"),
        ("[retry.success]", "[]", "expected"),
        ("id: attempt-numbers", "id: delivery-retries", "delivery-retries was given before"),
        ("id: attempt-numbers", "id: Attempt_Numbers", "expected words in-kebab-case"),
        ("declared: true", "declared: yes", "expected true or false"),
    ],
)
def test_wrong_gaps_are_refused_with_the_line(
    tmp_path: Path, right: str, wrong: str, message: str
) -> None:
    path, line = broken_copy(GAPS, tmp_path, right, wrong)
    assert refused_lines(message, gaps=path) == [line]


def test_a_requirement_that_is_about_nothing_is_refused(tmp_path: Path) -> None:
    path, _ = broken_copy(REQUIREMENTS, tmp_path, "      about: {law: retry_after}\n", "")
    (line,) = refused_lines("is missing; expected a mapping", requirements=path)
    assert path.read_text().split("\n")[(line or 0) - 1] == '    - id: "1-19"'


def test_an_open_requirement_without_a_gap_is_refused(tmp_path: Path) -> None:
    path, _ = broken_copy(REQUIREMENTS, tmp_path, "      gaps: [cursor-form]\n", "")
    message = "2.2-16 is open, so it names the gap by whose answer it is judged"
    (line,) = refused_lines(message, requirements=path)
    assert path.read_text().split("\n")[(line or 0) - 1] == '    - id: "2.2-16"'


def test_a_gap_that_was_renamed_is_missing_where_its_old_name_is_used(tmp_path: Path) -> None:
    path, _ = broken_copy(GAPS, tmp_path, "id: retry-after\n", "id: retry-later\n")
    with pytest.raises(FileProblems, match="did you mean retry-later") as refusal:
        load_catalogue(gaps=path)
    assert refusal.value.path == str(REQUIREMENTS)


def test_all_problems_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    path, _ = broken_copy(REQUIREMENTS, tmp_path, 'id: "1-14"', 'id: "1-12"')
    path, _ = broken_copy(path, tmp_path, 'id: "1-4"', 'id: "2.1-40"')
    with pytest.raises(FileProblems) as refusal:
        load_catalogue(requirements=path)
    assert len(refusal.value.problems) == 2


def test_a_requirement_follows_from_others_directly_or_through_them() -> None:
    assert CATALOGUE.requirements["2.2-3"].follows_from == ("2.2-2",)
    assert CATALOGUE.upstream("2.2-3") == {"2.2-2", "2.1-5", "2.1-1"}
    assert CATALOGUE.upstream("2.1-1") == frozenset()


def test_requirements_share_the_common_mistakes_of_another() -> None:
    requirements = CATALOGUE.requirements
    (mistake,) = requirements["1-3"].common_mistakes
    assert requirements["1-4"].common_mistakes == (mistake,)
    assert len(requirements["6-9"].common_mistakes) == 2
    texts = [text for requirement in requirements.values() for text in requirement.common_mistakes]
    assert [text for text in texts if re.fullmatch(r"[\d.]+-\d+", text)] == []
