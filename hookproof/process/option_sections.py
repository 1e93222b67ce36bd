"""The options of a command in two sections of its `--help`: those in common use, and the others."""

from collections.abc import Sequence
from typing import Any

import click


class CommonOptionsFirst(click.Command):
    """A command that shows the options that are named in `common` first, and in that order."""

    def __init__(self, *args: Any, common: Sequence[str], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.common = common

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = {
            parameter.opts[-1]: record
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx))
        }
        with formatter.section("Options"):
            formatter.write_dl([records.pop(name) for name in self.common])
        with formatter.section("Further options"):
            formatter.write_dl(list(records.values()))
