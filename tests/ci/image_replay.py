"""Replays the Dockerfile and compose.yaml without Docker, as `make image-replay`.

The base is a new root of Debian's packages (debootstrap) with python3 and its module venv. Each
stage is a copy of it in which the instructions are run (chroot), the packages of Python come as
they do for pip on this machine. Then the services run in the image, in a network of their own in
which each has an address, in the order and with the conditions of compose.yaml.

This needs root. It shows that the steps work; what a daemon adds, it does not show: layers, the
isolation of containers from each other, volumes.
"""

import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import click

from tests.ci.container_files import Instruction, Stage, services, stages
from tests.project.test_installed_wheel import tracked_files
from tests.source_tree import ROOT

NEEDED: Final = ("debootstrap", "unshare", "chroot", "ip", "apt-get")
PACKAGES: Final = "python3,python3-venv"
# One root is for all services, so the volume of the CA is the folder of that name in it.
NETWORK: Final = "172.30.77."
HEALTHY_WITHIN_S: Final = 120.0
CERTIFICATES: Final = "/etc/ssl/certs/ca-certificates.crt"
# What a step gets where the base says nothing else.
PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
INSIDE: Final = "--inside"


class Failed(Exception):
    """A step did not do what it should."""


def main(arguments: Sequence[str]) -> int:
    try:
        if arguments[:1] == [INSIDE]:
            run_services(Path(arguments[1]))
        else:
            replay()
    except Failed as failure:
        click.echo(f"image replay: {failure}", err=True)
        return 1
    return 0


def replay() -> None:
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if os.geteuid() != 0 or missing:
        lacking = ["root", *missing] if os.geteuid() != 0 else missing
        raise Failed(f"this needs {', '.join(lacking)}")
    with tempfile.TemporaryDirectory(prefix="hookproof-image-") as name:
        folder = Path(name)
        base = folder / "base"
        say(f"base: a root of Debian's packages, with {PACKAGES}")
        run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", release(), base, mirror())
        built: dict[str, Path] = {}
        for number, stage in enumerate(stages()):
            root = folder / (stage.name or str(number))
            run("cp", "--archive", base, root)
            build(stage, root, built)
            built[stage.name] = root
        image = built[stages()[-1].name]
        in_a_network = ("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
        module = (sys.executable, "-m", "tests.ci.image_replay", INSIDE, image)
        run(*in_a_network, *module)
        say("all steps were replayed")


def build(stage: Stage, root: Path, built: Mapping[str, Path]) -> None:
    environment, user, workplace = {"PATH": PATH}, "root", "/"
    for instruction in stage.instructions:
        name, text = instruction.name, instruction.text
        say(f"{stage.name or 'image'}: {name} {text}")
        if name == "ENV":
            key, _, value = text.partition("=")
            environment[key] = value
        elif name == "USER":
            user = text
        elif name == "WORKDIR":
            workplace = text
            inside(root, workplace).mkdir(parents=True, exist_ok=True)
        elif name == "COPY":
            copy(instruction, root, workplace, built)
        elif name == "RUN":
            with reached_network(root) as variables:
                command = ("/bin/sh", "-c", text)
                run(*chrooted(root, command, environment | variables, user, workplace))


def copy(instruction: Instruction, root: Path, workplace: str, built: Mapping[str, Path]) -> None:
    source, target = instruction.text.split()
    if "from" in instruction.options:
        place = inside(root, target)
        place.parent.mkdir(parents=True, exist_ok=True)
        run("cp", "--archive", inside(built[instruction.options["from"]], source), place)
        return
    tops = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    kept = {line[1:] for line in tops if line.startswith("!")}
    for name in tracked_files():
        if name.split("/")[0] in kept:
            place = inside(root, workplace) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place, follow_symlinks=False)


@contextmanager
def reached_network(root: Path) -> Iterator[dict[str, str]]:
    """Let a step resolve names and reach packages of Python as this machine does; it leaves no
    trace of that in the image.
    """
    variables = {
        name: value
        for name, value in os.environ.items()
        if name.lower().endswith("_proxy") or name in {"PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT"}
    }
    lent = {Path("/etc/resolv.conf"), Path(CERTIFICATES)}
    held = {path: inside(root, str(path)) for path in lent if path.is_file()}
    before = {path: path.read_bytes() if path.is_file() else None for path in held.values()}
    for path, place in held.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    if Path(CERTIFICATES) in held:
        variables["PIP_CERT"] = CERTIFICATES
    try:
        yield variables
    finally:
        for place, content in before.items():
            if content is None:
                place.unlink()
            else:
                place.write_bytes(content)


def run_services(root: Path) -> None:
    """Run the services of compose.yaml in the image; this process is in a network of its own."""
    image = stages()[-1]
    names = list(services())
    run("ip", "link", "set", "lo", "up")
    lines = ["127.0.0.1 localhost"]
    for number, name in enumerate(names, 2):
        run("ip", "address", "add", f"{NETWORK}{number}/32", "dev", "lo")
        lines.append(f"{NETWORK}{number} {name}")
    inside(root, "/etc/hosts").write_text("\n".join([*lines, ""]), "utf-8")
    with ExitStack() as running:
        for name in names:
            service = services()[name]
            say(f"service {name}: hookproof {shlex.join(map(str, service['command']))}")
            command = started(root, image, service)
            if "ports" not in service:
                run(*command)
                continue
            process = subprocess.Popen(command)
            running.callback(process.wait, HEALTHY_WITHIN_S)
            running.callback(process.send_signal, signal.SIGTERM)
            own = service.get("healthcheck", {}).get("test", ["CMD"])[1:]
            until_healthy(root, image, own or image.last("HEALTHCHECK").words, process)


def started(root: Path, image: Stage, service: Mapping[str, Any]) -> list[str]:
    words = [*image.last("ENTRYPOINT").words, *map(str, service["command"])]
    return as_user(root, image, words, service.get("environment", {}))


def as_user(
    root: Path, image: Stage, words: Sequence[str], variables: Mapping[str, str]
) -> list[str]:
    environment = dict(each.text.split("=", 1) for each in image.instructions if each.name == "ENV")
    user, workplace = image.last("USER").text, image.last("WORKDIR").text
    return chrooted(root, words, environment | dict(variables), user, workplace)


def until_healthy(
    root: Path, image: Stage, words: Sequence[str], process: subprocess.Popen[bytes]
) -> None:
    until = time.monotonic() + HEALTHY_WITHIN_S
    command = as_user(root, image, words, {})
    while subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode != 0:
        if process.poll() is not None or time.monotonic() > until:
            raise Failed("the service did not become healthy")
        time.sleep(0.2)
    say("  healthy")


def chrooted(
    root: Path,
    words: Sequence[str],
    environment: Mapping[str, str],
    user: str,
    workplace: str,
) -> list[str]:
    """A command in a root, with /proc, as a user of it."""
    variables = [f"{name}={value}" for name, value in environment.items()]
    enter = 'mount -t proc proc "$0/proc" && exec chroot "$@"'
    script = 'cd "$0" && exec "$@"'
    return [
        *("unshare", "--mount", "sh", "-c", enter, str(root), f"--userspec={user}", str(root)),
        *("env", "-i", *variables, "sh", "-c", script, workplace, *words),
    ]


def inside(root: Path, path: str) -> Path:
    return root / path.removeprefix("/")


def mirror() -> str:
    """The mirror that apt is set up with."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    if not listed:
        raise Failed("apt has no source of packages: run apt-get update")
    return next((address for address in listed if "security" not in address), listed[0])


def release() -> str:
    return platform.freedesktop_os_release()["VERSION_CODENAME"]


def run(*words: str | Path) -> None:
    outcome = subprocess.run([str(word) for word in words], check=False)
    if outcome.returncode:
        raise Failed(f"exit code {outcome.returncode}: {shlex.join(map(str, words))[:500]}")


def say(text: str) -> None:
    click.echo(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
