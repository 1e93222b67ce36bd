"""What a shell may complete an argument to: dialects, requirements and sections.

The functions are for `shell_complete` of click. They import what they need when they are called,
since commands that must start fast name them.
"""

from collections.abc import Sequence
from typing import Any


def complete_dialect(_context: object, _parameter: object, incomplete: str) -> Sequence[Any]:
    """The shipped dialects; files where the text is like none of their names."""
    from click.shell_completion import CompletionItem

    from hookproof.spec.dialect.reader import shipped_dialects

    names = [name for name in shipped_dialects() if name.startswith(incomplete)]
    return names or [CompletionItem(incomplete, type="file")]


def complete_requirement(_context: object, _parameter: object, incomplete: str) -> list[str]:
    """The sections of the document, and the ids of the requirements."""
    from hookproof.spec.catalogue import load_catalogue

    catalogue = load_catalogue()
    known = [*catalogue.sections, *catalogue.requirements]
    return [name for name in known if name.startswith(incomplete)]


def complete_field(_context: object, _parameter: object, incomplete: str) -> list[str]:
    """The fields of a dialect, and their groups."""
    from hookproof.spec.described_fields import described_fields, field_groups

    groups = [group.name for group in field_groups() if group.name]
    known = [*groups, *(field.name for field in described_fields())]
    return [name for name in known if name.startswith(incomplete)]
