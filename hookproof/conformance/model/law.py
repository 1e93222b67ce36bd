"""Laws: what is compared for a requirement. `law` makes a check of one, and judges for all of them.

@law("8-12", wrong="Without perPage a page has another size than the dialect's default")
def without_per_page_the_size_is_the_default(
request: DefaultPageSize, context: CheckContext
) -> Seen:
yield Compared(context.dialect.paging.default_per_page.value, size, [request.tried])
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged

# A requirement, or that of each operation, which have one each for the same law.
Requirement = str | Mapping[str, str]


class Compared(NamedTuple):
    """What a law expects, what is there instead, and the exchanges that show it.

    `holds` is whether the law does, where that is not whether the two are equal. A law of several
    requirements names the one that is meant, and what is wrong then. `state` is that of a
    Judgement.
    """

    expected: object
    actual: object
    exchanges: Sequence[Exchange | None]
    holds: bool | None = None
    of: Requirement = ""
    wrong: str = ""
    state: str = ""


# What a law yields; a judgement is given as it is, such as one that says what does not apply.
Seen = Iterator[Compared | Judgement]
Law = Callable[[Any, CheckContext], Seen]
Judge = Callable[[Any, CheckContext], Iterator[Judgement]]


def law(
    *requirements: Requirement,
    wrong: str = "",
    observed: object = None,
    read: Callable[[Any], Any] | None = None,
) -> Callable[[Law], Judge]:
    """Make a check of a law, of the same name; `wrong` is what is reported where it is broken.

    A law of what `read` makes of evidence says which class is `observed`; of what that makes None
    of, it says nothing.
    """

    def register(compare: Law) -> Judge:
        def judge(evidence: Any, context: CheckContext) -> Iterator[Judgement]:
            subject = read(evidence) if read else evidence
            for each in () if subject is None else compare(subject, context):
                if isinstance(each, Judgement):
                    yield each
                    continue
                equal = type(each.expected) is type(each.actual) and each.expected == each.actual
                for requirement in [each.of] if each.of else requirements:
                    judgement = judged(
                        equal if each.holds is None else each.holds,
                        requirement
                        if isinstance(requirement, str)
                        else requirement[evidence.operation_id],
                        each.wrong or wrong,
                        expected=each.expected,
                        actual=each.actual,
                        exchanges=each.exchanges,
                    )
                    yield replace(judgement, state=each.state) if each.state else judgement

        judge.__name__, judge.__doc__ = compare.__name__, compare.__doc__
        judge.__module__ = compare.__module__
        judge.__annotations__["evidence"] = observed or next(iter(compare.__annotations__.values()))
        return check(*dict.fromkeys(chain.from_iterable(map(_ids, requirements))))(judge)

    return register


def _ids(requirement: Requirement) -> tuple[str, ...]:
    return (requirement,) if isinstance(requirement, str) else tuple(requirement.values())
