"""Parsers for the values of `hookproof serve` options."""

from ipaddress import ip_network
from typing import Any, Final

import click

from hookproof.mockserver.delivery.http_client.egress import Network
from hookproof.mockserver.notifications.mail import parse_mailbox

_LAST_PORT: Final = 65535


class HostPort(click.ParamType[tuple[str, int]]):
    name = "HOST:PORT"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        if isinstance(value, tuple):  # click converts a default twice
            return value
        host, _, port = str(value).rpartition(":")
        if not host or not port.isdecimal() or int(port) > _LAST_PORT:
            self.fail(f"{value!r} is not of the form HOST:PORT", param, ctx)
        return host.strip("[]"), int(port)


class NetworkType(click.ParamType[Network]):
    name = "CIDR"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Network:
        try:
            return ip_network(value)
        except ValueError as problem:
            self.fail(str(problem), param, ctx)


class MailboxType(click.ParamType[str]):
    name = "ADDRESS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            parse_mailbox(value)
        except ValueError as problem:
            self.fail(f"{value!r} is not an e-mail address: {problem}", param, ctx)
        return str(value)


class ProjectKey(click.ParamType[tuple[str, str]]):
    name = "ID=KEY"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):  # click converts a default twice
            return value
        project, equals, key = str(value).partition("=")
        if not (project and equals and key):
            # The message does not quote the value: it may be a key.
            self.fail("a project is given as ID=KEY", param, ctx)
        return project, key
