"""The forms of the command line's values."""

from ipaddress import ip_network
from typing import Any, Final

import click

from hookproof.mockserver.delivery.http_client.egress import Network
from hookproof.mockserver.notifications.mail import mailbox

_LAST_PORT: Final = 65535


class HostPort(click.ParamType[tuple[str, int]]):
    """An address as HOST:PORT."""

    name = "HOST:PORT"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Host and port."""
        if isinstance(value, tuple):  # click converts a default twice
            return value
        host, _, port = str(value).rpartition(":")
        if not host or not port.isdecimal() or int(port) > _LAST_PORT:
            self.fail(f"{value!r} is not of the form HOST:PORT", param, ctx)
        return host.strip("[]"), int(port)


class NetworkType(click.ParamType[Network]):
    """An IP network in CIDR notation."""

    name = "CIDR"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Network:
        """The network."""
        try:
            return ip_network(value)
        except ValueError as problem:
            self.fail(str(problem), param, ctx)


class MailboxType(click.ParamType[str]):
    """An e-mail address."""

    name = "ADDRESS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The address, as it was given."""
        try:
            mailbox(value)
        except ValueError as problem:
            self.fail(f"{value!r} is no e-mail address: {problem}", param, ctx)
        return str(value)


class ProjectKey(click.ParamType[tuple[str, str]]):
    """A project and its key as ID=KEY."""

    name = "ID=KEY"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Id and key; the message of a refusal does not repeat a key."""
        if isinstance(value, tuple):
            return value
        project, equals, key = str(value).partition("=")
        if not (project and equals and key):
            self.fail("a project is given as ID=KEY", param, ctx)
        return project, key
