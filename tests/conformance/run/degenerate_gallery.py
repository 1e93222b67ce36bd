"""The gallery of degenerate targets: what each is, and what a run says of it.

What was recorded is in `degenerate_targets.yaml`, which was read sentence by sentence: the exit
code, a phrase of what is said, and the stated requirements that are accused (`fail`), that fail
and only follow from others (`follows`), that pass, and that end in an error. To record a target
again: `python -m tests.conformance.run.degenerate_gallery NAME...`, and then read it.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import yaml

from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.target.project_assignment import projects_needed
from tests.conformance.command import check, is_for_lateness, reported_requirements
from tests.conformance.reference_server import reference_server, write_target_file
from tests.conformance.run.misbehaving_targets import MOVED, PAGE, misbehaving, says
from tests.conformance.scripted_target import response
from tests.conformance.spoiling_proxy import ProxyAnswer, Spoil, spoiling_proxy
from tests.source_tree import ROOT

RECORD = Path(__file__).with_name("degenerate_targets.yaml")
# Enough that each experiment has a project of its own.
PROJECTS = [f"p{number}" for number in range(1, projects_needed(len(all_experiments())) + 1)]
BURST = 40
# In the record, for passes that depend on how far a run had come.
VARIES = "varies"


@dataclass(frozen=True, kw_only=True)
class DegenerateServer:
    """The reference server with faults, behind a proxy that spoils its answers.

    `only` are the requirements that are judged, all stated ones by default, where the others would
    show nothing else and take long. Nothing is waited for longer than `delivery_s` seconds.
    """

    faults: tuple[str, ...] = ()
    spoil: Spoil | None = None
    trusts_ca: bool = True
    only: tuple[str, ...] = ()
    delivery_s: float = 6


def changed(member: str, value: str) -> str:
    return f"changed_member:member={member},value={value}"


def bad_gateway(number: int, fetch: Callable[[], ProxyAnswer]) -> ProxyAnswer:
    """Forty good answers, then forty from a proxy without its target, and so on."""
    if number // BURST % 2:
        return ProxyAnswer(status=502, headers=(), body=b"<html>Bad Gateway</html>")
    return fetch()


def dead_after(last: int, number: int, fetch: Callable[[], ProxyAnswer]) -> ProxyAnswer | None:
    return fetch() if number < last else None


def in_utf_16(_number: int, fetch: Callable[[], ProxyAnswer]) -> ProxyAnswer:
    answer = fetch()
    text = answer.body.decode().encode("utf-16")
    return ProxyAnswer(status=answer.status, headers=answer.headers, body=text)


def without_uid(*operations: str) -> tuple[str, ...]:
    return tuple(f"changed_member:operation={name},member=data.uid" for name in operations)


SERVERS: dict[str, DegenerateServer] = {
    "answers in UTF-16": DegenerateServer(spoil=in_utf_16),
    # A whole run sends some 2400 requests.
    "dies after 60 requests": DegenerateServer(spoil=partial(dead_after, 60)),
    "dies after 300 requests": DegenerateServer(spoil=partial(dead_after, 300)),
    "dies after 1200 requests": DegenerateServer(spoil=partial(dead_after, 1200)),
    "dies after 2000 requests": DegenerateServer(spoil=partial(dead_after, 2000)),
    "answers 502 in bursts": DegenerateServer(spoil=bad_gateway),
    "trusts another CA": DegenerateServer(trusts_ca=False, delivery_s=2),
    # It does at once what is asked and says so late, so that deliveries come before the answers.
    "answers 3 s late": DegenerateServer(
        faults=("late:delay_s=3",), only=("2.3-17", "2.5-[36]", "4.8-11", "8-[1378]")
    ),
    "data is null everywhere": DegenerateServer(faults=(changed("data", "null"),)),
    "no uid anywhere": DegenerateServer(
        faults=(
            "changed_member:member=data.uid",
            "changed_member:member=data.content.*.uid",
        )
    ),
    "answers 401 on portal links": DegenerateServer(
        faults=tuple(
            f"server_error:operation={name},status=401"
            for name in ("listPortalLinks", "getPortalLink", "updatePortalLink")
        )
    ),
    "answers 500 on rolls": DegenerateServer(
        faults=("server_error:operation=expireEndpointSecret,status=500",)
    ),
    "answers 500 on updates": DegenerateServer(
        faults=("server_error:operation=updatePortalLink,status=500",)
    ),
}
CONSTANT: dict[str, bytes] = {
    "always 500": response(500),
    "always 200 with a page": PAGE,
    "redirects in a circle": MOVED,
}


def judge(name: str, folder: Path) -> dict[str, Any]:
    """Run `hookproof check` on a target of the gallery; what is recorded of it."""
    server = SERVERS.get(name, DegenerateServer())
    only = [word for selector in server.only for word in ("--only", selector)]
    with target_file(name, server, folder) as path:
        done = check(folder, "--target", path, "--profile", "quick", "--level", "stated", *only)
    said = next((line for line in done.out.splitlines() if line.startswith("The run ended")), "")
    verdicts: dict[str, list[str]] = {"pass": [], "fail": [], "error": []}
    follows: dict[str, list[str]] = {}
    late: list[str] = []
    if (folder / "hookproof-report" / "report.json").exists():  # a busy target may be said, too
        for requirement, reported in reported_requirements(folder).items():
            roots = roots_of(reported)
            late += [requirement] if is_for_lateness(*reported.get("reasons", ())) else []
            if roots:
                follows[requirement] = roots
            else:
                verdicts.setdefault(reported["verdict"], []).append(requirement)
    return {
        "exit_code": done.code,
        "says": said or done.err,
        "fail": verdicts["fail"],
        "follows": follows,
        "pass": verdicts["pass"],
        "error": verdicts["error"],
        "late": late,
    }


def roots_of(reported: dict[str, Any]) -> list[str]:
    """What all findings of a reported requirement follow from; empty if one stands for itself."""
    roots = [finding["follows_from"] for finding in reported["findings"]]
    return list(dict.fromkeys(name for names in roots for name in names)) if all(roots) else []


def target_file(name: str, server: DegenerateServer, folder: Path) -> AbstractContextManager[Path]:
    """A target file for a target of the gallery, which runs within the block."""
    if name in CONSTANT:
        return constant_target(CONSTANT[name], folder)
    return reference_target(server, folder)


@contextmanager
def constant_target(answer: bytes, folder: Path) -> Iterator[Path]:
    with misbehaving(says(answer)) as url:
        path = folder / "target.yaml"
        path.write_text(f"base_url: {url}\nprojects: [{{id: p1, api_key: key-p1}}]\n")
        yield path


@contextmanager
def reference_target(server: DegenerateServer, folder: Path) -> Iterator[Path]:
    faults = tuple(word for fault in server.faults for word in ("--fault", fault))
    with reference_server(
        folder, ROOT, *PROJECTS, options=faults, trusts_ca=server.trusts_ca, stderr=DEVNULL
    ) as ready:
        hooks = {
            f"create_{kind}": [
                {
                    "url": f"{ready['control']}/projects/{{project.id}}/{path}",
                    "body": f"{{{kind}}}",
                    "keep": {"uid": "uid"},
                }
            ]
            for kind, path in (("portal_link", "portal-links"), ("source", "sources"))
        }
        with spoiling_proxy(ready["api"], server.spoil or (lambda _, fetch: fetch())) as url:
            yield write_target_file(
                folder,
                url if server.spoil else ready["api"],
                *PROJECTS,
                provision=hooks,
                budgets={"delivery_s": server.delivery_s, "quiet_s": 1, "total_s": 300},
            )


def main(names: list[str]) -> None:
    """Record targets again. A phrase that is still said, sets that vary and remarks are kept."""
    record = yaml.safe_load(RECORD.read_text()) if RECORD.exists() else {}
    for name in names or [*CONSTANT, *SERVERS]:
        with tempfile.TemporaryDirectory() as folder:
            judged = judge(name, Path(folder))
        if late := judged.pop("late"):
            sys.exit(f"{name}: this machine was too busy for {', '.join(late)}; record it again")
        recorded = record.get(name, {})
        phrase = recorded.get("says")
        if phrase and phrase in judged["says"]:
            judged["says"] = phrase
        if recorded.get("pass") == VARIES:
            judged["pass"] = VARIES
        remarks = {key: recorded[key] for key in ("remarks",) if key in recorded}
        record[name] = {**judged, **remarks}
        ordered = {each: record[each] for each in [*CONSTANT, *SERVERS] if each in record}
        RECORD.write_text(
            yaml.safe_dump(ordered, sort_keys=False, width=98, default_flow_style=None)
        )


if __name__ == "__main__":
    main(sys.argv[1:])
