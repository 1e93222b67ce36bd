"""The examples of a distributed run are well formed, and hookproof accepts their commands."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
import yaml

from hookproof.load.cli.distributed_options import MASTER_PORT
from hookproof.load.cli.load import load
from tests.source_tree import ROOT

EXAMPLES = ROOT / "hookproof" / "load" / "examples"
VARIABLE = re.compile(r"\$\{(\w+)(?::-(\w+)|:\?[^}]*)?\}")
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
COMPOSE = {
    "type": "object",
    "required": ["services"],
    "additionalProperties": False,
    "properties": {
        "services": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["image", "command"],
                "additionalProperties": False,
                "properties": {
                    "image": TEXT,
                    "command": TEXTS,
                    "environment": {"type": "object", "additionalProperties": TEXT},
                    "volumes": TEXTS,
                    "depends_on": TEXTS,
                    "deploy": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
                },
            },
        }
    },
}
NAMED = {"type": "object", "required": ["name"], "properties": {"name": TEXT}}
CONTAINER = {
    "type": "object",
    "required": ["name", "image", "command", "args"],
    "additionalProperties": False,
    "properties": {
        "name": TEXT,
        "image": TEXT,
        "command": TEXTS,
        "args": TEXTS,
        "env": {"type": "array", "items": NAMED},
        "envFrom": {"type": "array", "items": {"type": "object", "required": ["secretRef"]}},
        "ports": {"type": "array", "items": {"type": "object", "required": ["containerPort"]}},
        "volumeMounts": {"type": "array", "items": {**NAMED, "required": ["name", "mountPath"]}},
    },
}
POD = {
    "type": "object",
    "required": ["restartPolicy", "containers"],
    "properties": {
        "restartPolicy": {"enum": ["Never", "OnFailure"]},
        "containers": {"type": "array", "minItems": 1, "items": CONTAINER},
        "volumes": {"type": "array", "items": NAMED},
    },
}


def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((EXAMPLES / "compose.yaml").read_text()))


def manifests(kind: str) -> list[dict[str, Any]]:
    return [
        manifest
        for manifest in yaml.safe_load_all((EXAMPLES / "kubernetes.yaml").read_text())
        if manifest["kind"] == kind
    ]


def commands() -> Iterator[tuple[str, list[str]]]:
    """Every command of the examples: where it is, and the words after `hookproof load`."""
    for name, service in compose()["services"].items():
        words = [VARIABLE.sub(lambda match: match[2] or "", word) for word in service["command"]]
        if words[0] == "sh":
            words = shlex.split(words[-1].replace("$$(hostname -i)", "192.0.2.1"))
        yield f"compose {name}", words[words.index("load") + 1 :]
    for job in manifests("Job"):
        [container] = job["spec"]["template"]["spec"]["containers"]
        assert container["command"] == ["hookproof", "load"]
        yield (
            f"kubernetes {container['name']}",
            [word.replace("$(POD_IP)", "192.0.2.1") for word in container["args"]],
        )


def test_the_compose_file_has_the_form_of_one() -> None:
    jsonschema.validate(compose(), COMPOSE)


def test_the_jobs_have_the_form_of_jobs_and_their_volumes_exist() -> None:
    for job in manifests("Job"):
        assert (job["apiVersion"], set(job)) == (
            "batch/v1",
            {"apiVersion", "kind", "metadata", "spec"},
        )
        pod = job["spec"]["template"]["spec"]
        jsonschema.validate(pod, POD)
        volumes = {volume["name"] for volume in pod["volumes"]}
        assert {
            mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]
        } <= volumes


def test_the_service_leads_workers_to_the_master() -> None:
    [service] = manifests("Service")
    labels = [job["spec"]["template"]["metadata"]["labels"] for job in manifests("Job")]
    assert service["spec"]["selector"] in labels
    assert service["spec"]["ports"][0]["port"] == MASTER_PORT


@pytest.mark.parametrize(
    "words", [words for _, words in commands()], ids=[place for place, _ in commands()]
)
def test_hookproof_accepts_each_command(words: list[str]) -> None:
    context = load.make_context("load", list(words))
    options = context.params
    assert options["master"] is not options["worker"]
    assert options["i_may_load"] == "target.internal"
    if options["worker"]:
        assert {options["receiver_url"], options["ca_dir"]} == {
            "https://192.0.2.1:8443",
            Path("/ca"),
        }
    else:
        assert options["master_bind"] == f"0.0.0.0:{MASTER_PORT}"


def test_as_many_workers_come_as_the_master_expects() -> None:
    parsed = {place: load.make_context("load", list(words)).params for place, words in commands()}
    workers = next(job for job in manifests("Job") if job["metadata"]["name"].endswith("worker"))
    assert parsed["kubernetes master"]["expect_workers"] == workers["spec"]["parallelism"]
    assert (
        parsed["compose master"]["expect_workers"]
        == compose()["services"]["worker"]["deploy"]["replicas"]
    )


def test_an_option_that_hookproof_does_not_know_would_be_noticed() -> None:
    with pytest.raises(click.NoSuchOption):
        load.make_context("load", ["--expect-worker-s=2"])
