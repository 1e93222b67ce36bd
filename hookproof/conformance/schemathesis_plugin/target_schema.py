"""The schema of a target for tests with pytest: its contract, address, project and key."""

import os
import tomllib
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis import BaseSchema, Config

from hookproof.conformance.schemathesis_plugin.deliveries import deliveries_of
from hookproof.conformance.schemathesis_plugin.other_project import OtherProject
from hookproof.conformance.schemathesis_plugin.registration import use_rules
from hookproof.conformance.schemathesis_plugin.rules import Rules
from hookproof.conformance.target.definition import Target
from hookproof.conformance.target.file import target_from
from hookproof.process.exit_codes import CommandError
from hookproof.spec.contract.published import document_of
from hookproof.spec.contract.schemathesis_settings import schemathesis_settings
from hookproof.target.settings import Flags


def schema(target: str | Path) -> BaseSchema:
    """The schema of a target, whose cases are judged by its dialect.

    The target is a target file, or a URL; then HOOKPROOF_PROJECT, HOOKPROOF_API_KEY and
    HOOKPROOF_DIALECT say the rest, as they do for `hookproof check`. Raises ValueError with what is
    wrong in it.
    """
    is_url = "://" in str(target)
    flags = Flags(
        url=str(target) if is_url else None,
        file=None if is_url else Path(target),
        api_key=os.environ.get("HOOKPROOF_API_KEY"),
        project=os.environ.get("HOOKPROOF_PROJECT"),
        dialect=os.environ.get("HOOKPROOF_DIALECT"),
    )
    try:
        described = target_from(flags, os.environ)
    except CommandError as problem:
        raise ValueError(str(problem)) from None
    if not described.projects:
        raise ValueError("the target has no project: give one, with its API key")
    loaded = schemathesis.openapi.from_dict(
        document_of(described.dialect), config=Config.from_dict(_settings(described))
    )
    first, *others = described.projects
    other = OtherProject(others[0], described.dialect) if others else None
    use_rules(loaded, Rules(described.dialect, first, deliveries_of(described), other))
    return loaded


def _settings(target: Target) -> dict[str, Any]:
    """The settings as in schemathesis.toml, with what that reads from the environment."""
    project = target.projects[0]
    settings = tomllib.loads(schemathesis_settings(target.dialect))
    key = target.dialect.authentication.key_format.replace("{key}", project.api_key)
    headers = {"Authorization": key, **dict(target.connection.headers)}
    settings["headers"] = {name: _literal(value) for name, value in headers.items()}
    settings["parameters"]["path.projectID"] = _literal(project.id)
    settings["base-url"] = target.base_url
    del settings["hooks"]  # they are registered
    return settings


def _literal(text: str) -> str:
    """A text in which Schemathesis finds no name of a variable."""
    return text.replace("${", "$${")
