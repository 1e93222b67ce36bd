"""What was learned, for people: a table on the console, and learned.html."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from hookproof.conformance.learning.learned_answers import Certainty, LearnedAnswer, LearnedAnswers
from hookproof.conformance.learning.learner import Learned
from hookproof.conformance.learning.signatures.reading import FOUND
from hookproof.conformance.reports.summary import earlier_words, left_words
from hookproof.conformance.target.definition import Target
from hookproof.pages import page_source, page_templates, policy_element
from hookproof.process.terminal_text import printable, without_passwords
from hookproof.spec.catalogue import Gap, load_catalogue
from hookproof.target.connection import NOT_VERIFIED

# A sign for each degree of certainty, so that readers need not distinguish colours (WCAG 1.4.1).
SIGNS: Final = {
    Certainty.SEEN: "✓",
    Certainty.SEVERAL: "±",
    Certainty.UNSEEN: "○",
    Certainty.ASSUMED: "?",
}
UNDECIDED: Final = "undecided"
# The words of a reason that leaves something for `check` to find.
LEFT_TO_CHECK: Final = "`hookproof check` judges that"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One field of one question, as reports show it."""

    section: str
    question: str
    field: str
    sign: str
    tone: str
    value: str
    certainty: str
    proof: str


def rows(answers: LearnedAnswers) -> Iterator[Row]:
    """Every field by its question, in the order of the document."""
    for gap, field in _fields(answers):
        answer = answers.answer(field)
        yield Row(
            section=gap.section,
            question=gap.question,
            field=field,
            sign=SIGNS[answer.certainty],
            tone=answer.certainty.name.lower(),
            value=_shown(answer),
            certainty=_how_sure(answer),
            proof=printable(without_passwords(answer.shown_by or answer.reason)),
        )


def _fields(answers: LearnedAnswers) -> Iterator[tuple[Gap, str]]:
    known = set(answers.fields)
    for gap in load_catalogue().gaps.values():
        for field in gap.dialect:
            if field in known:
                yield gap, field


def lines(learned: Learned) -> Iterator[str]:
    """The table on the console: each question with the answers of its fields."""
    question = ""
    for row in rows(learned.answers):
        if row.question != question:
            question = row.question
            yield f"{row.section}  {question}"
        yield f"     {row.sign} {row.field}: {row.value}  ({row.certainty}: {row.proof})"
    left = [row for row in rows(learned.answers) if LEFT_TO_CHECK in row.proof]
    if left:
        yield ""
        yield "Left to `hookproof check`, since the document does not leave it open:"
        yield from (f"     {row.field}: {row.proof}" for row in left)
    found = [row for row in rows(learned.answers) if FOUND in row.proof]
    if found:
        yield ""
        yield "Signatures that nothing explains; give what is assumed of them in the dialect:"
        yield from (f"     {row.field}: {row.value}, {row.proof}" for row in found)
    yield ""
    yield from (f"Your provision hook {failure}" for failure in learned.hooks)
    if learned.limit:
        yield f"{learned.limit[:1].upper()}{learned.limit[1:]}."
    if learned.outage:
        yield f"{learned.outage[:1].upper()}{learned.outage[1:]}."
    yield from left_words(learned.left, "learned.html")
    yield from earlier_words(learned.left)
    yield summary(learned)


def summary(learned: Learned) -> str:
    """How much was learned, and what it left behind, in one line."""
    counts = Counter(answer.certainty for answer in _all_answers(learned.answers))
    summary = " · ".join(f"{certainty} {counts[certainty]}" for certainty in Certainty)
    left = learned.left
    return (
        f"LEARNED  {summary} · {learned.exchanges} requests · {len(left.endpoints)} endpoints"
        f" are left at the target, {left.active} of them active"
        f"{'' if learned.verified else f' · {NOT_VERIFIED}'}"
    )


def page(learned: Learned, target: Target) -> str:
    """learned.html: one page that needs no network, no script and no other file.

    What a target wrote is escaped, and the policy permits nothing but the page's own style.
    """
    templates = page_templates("hookproof.conformance.learning.page")
    style = page_source(templates, "learned.css")
    return templates.get_template("learned.html").render(
        policy=policy_element(styles=[style]),
        style=style,
        target=printable(without_passwords(target.base_url)),
        rows=list(rows(learned.answers)),
        summary=summary(learned),
        left=[
            (printable(without_passwords(each.uid)), each.project, each.is_disabled)
            for each in learned.left.endpoints
        ],
        notes=[*left_words(learned.left), *earlier_words(learned.left)],
    )


def _all_answers(answers: LearnedAnswers) -> list[LearnedAnswer]:
    return [answers.answer(field) for _, field in _fields(answers)]


def _shown(answer: LearnedAnswer) -> str:
    if not answer.values:
        return UNDECIDED
    return printable(" or ".join(_spelled(value) for value in answer.values))


def _spelled(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=1_000_000, allow_unicode=True)
    return text.strip().removesuffix("...").strip()


def _how_sure(answer: LearnedAnswer) -> str:
    if answer.certainty is not Certainty.SEEN:
        return answer.certainty
    return "seen once" if answer.count == 1 else f"seen {answer.count} times"
