"""Keeps words of the source out of what Hypothesis generates.

Hypothesis takes some values from the constants of the modules that are loaded, unless these are
installed. So a change of the source would change what a seed generates, and so would an installed
package in place of a clone.
"""

from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants


def ignore_local_constants() -> None:
    """For the whole process; Hypothesis has no setting for it."""
    none_found = Constants()
    providers._get_local_constants = lambda: none_found  # noqa: SLF001
