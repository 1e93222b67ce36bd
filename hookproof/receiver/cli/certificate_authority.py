"""The command `hookproof ca`."""

from pathlib import Path

import click

from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError
from hookproof.process.messages import print_document, print_line
from hookproof.receiver.http.authority import KEY_FILE, Authority, AuthorityProblem


@click.command(
    epilog=examples(
        ("hookproof ca ca", "Make ca/ca.pem, for a receiver on this machine."),
        (
            "hookproof ca ca --name hooks.example.org --name 10.0.0.0/8",
            "Make one for receivers elsewhere, too.",
        ),
    )
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST|CIDR",
    help="A host, address or network of receivers besides this machine; may be repeated.",
)
def ca(folder: Path, names: tuple[str, ...]) -> None:
    """Make the certificate authority that a target must trust.

    An authority that DIR already holds is kept. Who trusts it trusts everybody who can read its
    key, for the names that it is for: trust it in test systems alone.
    """
    try:
        authority = Authority(folder, names)
    except AuthorityProblem as problem:
        raise CommandError(str(problem)) from None
    print_document(str(authority.certificate_path))
    print_line(_meaning(folder, authority), err=True)


def _meaning(folder: Path, authority: Authority) -> str:
    scope = ", ".join(authority.names) or "any name"
    return (
        f"Until {authority.ends_at:%Y-%m-%d} it can vouch for: {scope}. Who trusts it believes"
        f" whoever can read {folder / KEY_FILE}: let test systems alone trust it, and no browser."
    )
