"""The hooks that the `provision` of a target.yaml declares."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.spec.strict_yaml.parser import YamlText
from hookproof.target.connection import ApiConnection
from hookproof.target.hooks.http_steps import BASE_URL, HttpStep, http_hook, unknown_placeholders
from hookproof.target.hooks.provision import Hook, Provision
from hookproof.target.hooks.python_class import BadHooks, load_class_hooks


def read_provision(
    content: YamlText,
    path: str,
    folder: Path,
    base_url: str,
    *,
    timeout_s: float,
    connection: ApiConnection,
) -> Provision:
    """The hooks of a target file that has been validated; raises FileProblems.

    A Python file is relative to `folder`; `{base_url}` in a step is the target's, which is reached
    by `connection`.
    """
    written = content.value.get("provision")
    if written is None:
        return Provision()
    if isinstance(written, str):
        file, _, name = written.rpartition(":")
        try:
            return Provision(hooks=load_class_hooks(folder / file, name, timeout_s=timeout_s))
        except BadHooks as bad:
            raise FileProblems(path, [content.problem(("provision",), str(bad))]) from None
    steps = {hook: [_step(step, base_url) for step in listed] for hook, listed in written.items()}
    problems = [
        content.problem(("provision", hook, number), f"nothing gives {{{name}}} a value")
        for hook, listed in steps.items()
        for number, name in unknown_placeholders(hook, listed)
    ]
    if problems:
        raise FileProblems(path, problems)
    hooks: Mapping[str, Hook] = {
        hook: http_hook(hook, listed, timeout_s=timeout_s, connection=connection)
        for hook, listed in steps.items()
    }
    return Provision(hooks=hooks)


def _step(written: Mapping[str, Any], base_url: str) -> HttpStep:
    url = written["url"]
    fields = {
        **written,
        "url": url.replace(BASE_URL, base_url),
        "at_target": url.startswith(BASE_URL),
    }
    return HttpStep(**{**fields, "status": tuple(fields.get("status", ()))})
