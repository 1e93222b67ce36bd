"""The Dockerfile and compose.yaml: what they say, and that their commands can be given.

`make image-replay` runs their steps without Docker.
"""

import fnmatch
import ipaddress
import re
from typing import Any

import click
import pytest
import yaml

from hookproof.cli import SUBCOMMANDS, cli
from tests.ci.container_files import COMPOSE, arguments, services, stages
from tests.project.test_installed_wheel import tracked_files
from tests.source_tree import ROOT


def parsed(words: list[str]) -> dict[str, Any]:
    """The parameters of a hookproof command, as click reads them; raises what click refuses."""
    name, *arguments_ = words
    assert name in SUBCOMMANDS
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return command.make_context(name, arguments_).params


def health_port(words: list[str]) -> int:
    (port,) = re.findall(r"http://127\.0\.0\.1:(\d+)/health", " ".join(words))
    return int(port)


def control_port(words: list[str]) -> int:
    return int(words[words.index("--control") + 1].rpartition(":")[2])


def test_every_stage_has_the_base_that_can_be_chosen() -> None:
    assert list(arguments()) == ["BASE"]
    assert [stage.base for stage in stages()] == ["${BASE}", "${BASE}"]


def test_the_image_runs_as_a_user_without_rights() -> None:
    image = stages()[-1]
    user = image.last("USER").text
    assert user == "hookproof"
    (created,) = [each.text for each in image.instructions if each.text.startswith("useradd ")]
    assert created.endswith(f" {user}")
    assert image.instructions.index(image.last("USER")) > max(
        place for place, each in enumerate(image.instructions) if each.name in {"RUN", "COPY"}
    )


def test_only_what_was_installed_gets_into_the_image() -> None:
    copied = [each for stage in stages()[1:] for each in stage.instructions if each.name == "COPY"]
    assert [(each.options, each.text) for each in copied] == [
        ({"from": stages()[0].name}, "/opt/hookproof /opt/hookproof")
    ]


def test_the_image_serves_by_default_and_its_health_is_that_of_the_server() -> None:
    image = stages()[-1]
    assert image.last("ENTRYPOINT").words == ["hookproof"]
    default = image.last("CMD").words
    assert parsed(default)["host"] == "0.0.0.0"
    assert str(parsed(default)["port"]) == image.last("EXPOSE").text
    assert health_port(image.last("HEALTHCHECK").words) == control_port(default)


def test_the_context_of_a_build_is_what_the_installation_needs() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    kept = {line[1:] for line in lines if line.startswith("!")}
    assert lines[1] == "*"
    assert kept == {
        *("hookproof", "LICENSE", "MANIFEST.in", "README.md", "constraints.txt", "pyproject.toml"),
        "setup.py",
    }
    tops = {name.split("/")[0] for name in tracked_files()}
    assert not [name for name in kept if not fnmatch.filter(tops, name)]


@pytest.mark.parametrize("name", sorted(services()))
def test_the_command_of_a_service_can_be_given(name: str) -> None:
    parsed([str(word) for word in services()[name]["command"]])


def test_the_services_of_servers_are_healthy_when_they_answer() -> None:
    mock, receiver = services()["mock"], services()["receiver"]
    image = stages()[-1]
    assert "healthcheck" not in mock
    assert control_port(mock["command"]) == health_port(image.last("HEALTHCHECK").words)
    assert control_port(receiver["command"]) == health_port(receiver["healthcheck"]["test"])


def test_a_service_has_the_base_that_can_be_chosen_and_starts_after_the_ca() -> None:
    default = arguments()["BASE"]
    for name, service in services().items():
        assert service["build"] == {"context": ".", "args": {"BASE": f"${{BASE:-{default}}}"}}
        assert service["volumes"][0].startswith("ca:/ca")
        assert name == "ca" or set(service["depends_on"]) & {"ca", "mock"}


def test_the_check_waits_for_the_server_that_it_tests() -> None:
    check, mock = services()["check"], services()["mock"]
    options = parsed(check["command"])
    assert options["url"] == "http://mock:5005"
    keys = dict(pair.split("=") for pair in mock["environment"]["HOOKPROOF_PROJECTS"].split())
    assert dict(zip(options["projects"], options["api_keys"], strict=True)) == keys
    assert check["depends_on"] == {"mock": {"condition": "service_healthy"}}
    assert check["profiles"] == ["check"]


def test_the_certificates_are_for_the_names_of_the_services() -> None:
    names = parsed(services()["ca"]["command"])
    assert set(names["names"]) == {"receiver", "check"} <= set(services())


def test_ports_are_published_on_this_machine_alone() -> None:
    ports = [port for service in services().values() for port in service.get("ports", ())]
    assert ports
    assert all(ipaddress.ip_address(port.split(":")[0]).is_loopback for port in ports)


def test_the_volumes_that_services_use_exist() -> None:
    described = yaml.safe_load(COMPOSE.read_text("utf-8"))
    used = {volume.split(":")[0] for each in services().values() for volume in each["volumes"]}
    assert used == set(described["volumes"])
