"""What changed between two finished runs, of `hookproof check` or of `hookproof load`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hookproof.commands.compare.runs import load_report_at, read_check_run
from hookproof.conformance.cli.stored_run import difference_lines, verdict_line
from hookproof.conformance.reports.behaviour.json import behaviour_json, change_json, run_json
from hookproof.conformance.reports.behaviour.text import behaviour_lines, dialect_lines
from hookproof.conformance.reports.behaviour.two_runs import TwoBehaviours
from hookproof.conformance.results.behaviour.behaviour import read_behaviour
from hookproof.conformance.results.comparison import (
    Change,
    Difference,
    differences,
    differing_settings,
)
from hookproof.conformance.results.run_file import NotARun, Run, run_path
from hookproof.load.figures import FIGURES
from hookproof.load.reports.comparison import better_or_worse, comparison_table
from hookproof.process.exit_codes import CommandError
from hookproof.spec.differing_fields import DifferingField, difference_json, differing_fields

# Members of the header in which comparable runs agree.
SETTINGS: Final = ("target", "tool_version", "dialect", "profile", "seed", "strict")


def compared(places: Sequence[Path], form: str, *, with_behaviour: bool) -> tuple[str, bool]:
    """The comparison of the runs at two places as text or JSON, and whether a verdict got worse.

    Raises CommandError where there is no finished run, or two of different kinds.
    """
    before, after = map(load_report_at, places)
    if before is not None and after is not None and not with_behaviour:
        return _compared_loads(before, after, form), False
    runs = [read_check_run(place) for place in places]
    changed = list(differences(runs[0].ledger, runs[1].ledger, strict=runs[1].header.strict))
    both = _behaviours(places) if with_behaviour else None
    if form == "json":
        text = f"{json.dumps(_document(runs, changed, both), indent=1)}\n"
    else:
        text = "".join(f"{line}\n" for line in _lines(runs, changed, both))
    return text, any(difference.change is Change.WORSE for difference in changed)


def _compared_loads(before: Mapping[str, Any], after: Mapping[str, Any], form: str) -> str:
    if form != "json":
        return f"{comparison_table(before, after)}\n"
    pairs = {name: (before["figures"].get(name), after["figures"].get(name)) for name in FIGURES}
    figures = {
        name: {"before": old, "after": new, "change": better_or_worse(name, old, new)}
        for name, (old, new) in pairs.items()
        if old is not None or new is not None
    }
    verdicts = {"before": before["verdict"], "after": after["verdict"]}
    profiles = {"before": before["profile"], "after": after["profile"]}
    document = {"profile": profiles, "verdict": verdicts, "figures": figures}
    return f"{json.dumps(document, indent=1)}\n"


def differing_conditions(before: Run, after: Run) -> Iterator[str]:
    """What makes two runs hard to compare, in words."""
    # The embedded server listens at another port in each run.
    both_embedded = before.header.embedded and after.header.embedded
    yield from differing_settings(before, after, SETTINGS[1:] if both_embedded else SETTINGS)
    if before.header.everything != after.header.everything:
        yield "the selection of requirements differs"


def _behaviours(places: Sequence[Path]) -> TwoBehaviours:
    try:
        first, second = (read_behaviour(run_path(place)) for place in places)
    except NotARun as error:
        raise CommandError(str(error)) from None
    return TwoBehaviours(before=first, after=second)


def _lines(
    runs: Sequence[Run], changed: Sequence[Difference], both: TwoBehaviours | None
) -> Iterator[str]:
    for words in _notes(*runs):
        yield f"Note: {words}."
    yield from difference_lines(changed)
    if not changed:
        yield "No requirement has another verdict."
    for name, run in zip(("before", "after"), runs, strict=True):
        yield f"{name:<7} {verdict_line(run.ledger, strict=run.header.strict)}"
    if both is not None:
        yield ""
        yield from dialect_lines(_differing_answers(runs))
        yield from behaviour_lines(both)


def _document(
    runs: Sequence[Run], changed: Sequence[Difference], both: TwoBehaviours | None
) -> dict[str, Any]:
    return {
        "before": run_json(runs[0]),
        "after": run_json(runs[1]),
        "notes": list(_notes(*runs)),
        "verdicts": [change_json(difference) for difference in changed],
        "dialects": [difference_json(difference) for difference in _differing_answers(runs)],
        "behaviour": None if both is None else behaviour_json(both),
    }


def _notes(before: Run, after: Run) -> Iterator[str]:
    yield from differing_conditions(before, after)
    for name, run in (("first", before), ("second", after)):
        if run.footer.cut:
            yield f"the {name} run ended early: {run.footer.cut}"


def _differing_answers(runs: Sequence[Run]) -> list[DifferingField]:
    return list(differing_fields(runs[0].header.answers, runs[1].header.answers))
