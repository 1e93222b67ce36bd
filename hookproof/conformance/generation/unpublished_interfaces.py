"""What generation uses of Schemathesis and Hypothesis that they do not publish, with what takes its
place where a version has it no more. Nothing else imports such names.
"""

import gzip
import json
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from inspect import signature
from typing import Any, Final

import hypothesis
from schemathesis import APIOperation, BaseSchema, Case, GenerationMode

# The ranges of code points that a codec encodes, and decodes to the same: the first and the last.
# UTF-8 encodes all but surrogates (RFC 3629).
ENCODABLE: Final = {"utf-8": ((0x0, 0xD7FF), (0xE000, 0x10FFFF)), "ascii": ((0x0, 0x7F),)}
# What describes a test of several phases.
OF_A_TEST: Final = ("project", "modes", "settings", "seed", "apply_ci_profile")
# What a name or a module that is gone raises, and a call with arguments that are.
GONE: Final = (ImportError, AttributeError, TypeError)

Operation = APIOperation[Any, Any, Any, Any]


def why_only_fuzzing() -> str | None:
    """In a line, why this version of Schemathesis cannot run all phases; None if it can."""
    try:
        from schemathesis.generation.hypothesis import builder

        signature(builder.HypothesisTestConfig).bind(**dict.fromkeys(OF_A_TEST))
        signature(builder.create_test).bind(operation=None, test_func=None, config=None)
        iter(builder.HypothesisTestMode)
    except GONE as gone:
        return (
            f"Schemathesis {version('schemathesis')} has no phases examples and coverage for"
            f" Hookproof ({gone}): fewer requests are generated, and there is less evidence"
        )
    return None


def run_phases(
    schema: BaseSchema,
    operation: Operation,
    test: Callable[[Case[Any]], None],
    *,
    settings: hypothesis.settings,
    seed: int,
) -> None:
    """Call a test with the cases of an operation, valid and invalid ones, by this seed.

    They are those of the phases examples, coverage and fuzzing; where `why_only_fuzzing` has a
    reason, those of fuzzing, which Schemathesis publishes as a strategy.
    """
    if why_only_fuzzing() is None:
        made = _test_of_phases(schema, operation, test, settings, seed)
    else:
        made = _test_of_fuzzing(operation, test, settings, seed)
    made()


def _test_of_phases(
    schema: BaseSchema,
    operation: Operation,
    test: Callable[[Case[Any]], None],
    settings: hypothesis.settings,
    seed: int,
) -> Callable[[], Any]:
    from schemathesis.generation.hypothesis import builder

    # Where Hypothesis sees the variables of a CI system, its profile would ignore the seed.
    values = (schema.config, list(builder.HypothesisTestMode), settings, seed, False)
    described: dict[str, Any] = dict(zip(OF_A_TEST, values, strict=True))
    config = builder.HypothesisTestConfig(**described)
    return builder.create_test(operation=operation, test_func=test, config=config)


def _test_of_fuzzing(
    operation: Operation,
    test: Callable[[Case[Any]], None],
    settings: hypothesis.settings,
    seed: int,
) -> Callable[[], Any]:
    cases = hypothesis.strategies.one_of(
        [operation.as_strategy(generation_mode=mode) for mode in GenerationMode]
    )

    def fuzz(case: Case[Any]) -> None:
        test(case)

    return hypothesis.seed(seed)(settings(hypothesis.given(case=cases)(fuzz)))


def ignore_local_constants() -> None:
    """Keep words of the source out of what Hypothesis generates, for the whole process.

    It takes some values from the constants of the modules that are loaded, unless these are
    installed. So a change of the source would change what a seed generates, and so would an
    installed package in place of a clone. Hypothesis has no setting for it; without the function
    that looks for them, they are not ignored.
    """
    with suppress(*GONE):
        from hypothesis.internal.conjecture import providers
        from hypothesis.internal.constants_ast import Constants

        none_found = Constants()
        if callable(providers._get_local_constants):  # noqa: SLF001
            providers._get_local_constants = lambda: none_found  # noqa: SLF001


def save_codec_tables() -> None:
    """Save tables of the characters that codecs encode where Hypothesis looks for them.

    It keeps such tables in its storage directory, which is a new one in each run of a generator.
    Without them it tries to encode and decode each of the 1.1 million code points, which takes half
    of the time of a short run, and nothing else.
    """
    with suppress(*GONE):
        from hypothesis.internal.charmap import charmap_file

        for codec, intervals in ENCODABLE.items():
            table = charmap_file(f"codec-v2-{codec}")
            table.parent.mkdir(parents=True, exist_ok=True)
            not_decoded_alike: list[tuple[int, int]] = []
            table.write_bytes(gzip.compress(json.dumps([intervals, not_decoded_alike]).encode()))
