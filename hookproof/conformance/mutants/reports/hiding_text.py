"""What spoiled servers hide, on the terminal: a line for each server, and a last line."""

from collections.abc import Iterator

from hookproof.conformance.mutants.hiding.measurement import HidingOutcome, Loss


def render_loss(loss: Loss) -> Iterator[str]:
    """One server, with what it hid for no known reason."""
    named = "lost" if loss.spoiler.generated else "named"
    word = "broke" if loss.problems else "UNNAMED" if loss.unnamed else named
    yield (
        f"{word:8}{len(loss.lost):4} of {loss.exercised} ({loss.share:.0%})  {loss.spoiler.name}"
        f"{'  TOO MUCH' if loss.is_too_much else ''}"
    )
    yield from (f"        {problem}" for problem in loss.problems)
    if loss.unnamed:
        yield f"        for no reason that is named: {' '.join(loss.unnamed)}"
    elif loss.is_too_much:
        yield f"        {' '.join(loss.lost)}"


def render_hiding(outcome: HidingOutcome) -> str:
    """The last line."""
    unnamed = sum(bool(loss.unnamed) for loss in outcome.losses)
    word = "WITHIN BOUNDS" if outcome.is_within_bounds else "BEYOND BOUNDS"
    return (
        f"{'INTERRUPTED' if outcome.interrupted else word}  servers {len(outcome.losses)}"
        f" · lost {outcome.mean_share:.1%} on average"
        f" · too much {sum(loss.is_too_much for loss in outcome.losses)}"
        f" · with losses that are not named {unnamed} · {outcome.duration_s:.0f} s"
    )
