"""The command `hookproof ca`."""

from pathlib import Path

import click

from hookproof.process.exit_codes import CommandError
from hookproof.receiver.http.authority import Authority, AuthorityProblem


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def ca(folder: Path) -> None:
    """Make the certificate authority that a target must trust.

    An authority that DIR already holds is kept.
    """
    try:
        click.echo(Authority(folder).certificate_path)
    except AuthorityProblem as problem:
        raise CommandError(str(problem)) from None
