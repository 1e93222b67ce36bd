"""A shell script that shows a finding again: it sets up, acts, and shows.

It reads keys, credentials and the address of a receiver from the environment, and says where each
of them comes from. What one of its requests creates is used by the later ones under its new uid.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.ledger import Finding
from hookproof.conformance.results.curl_command import MOST_EXCHANGES, VARIABLES, curl
from hookproof.conformance.results.defects import BrokenRequirement
from hookproof.conformance.results.run_file import Header
from hookproof.conformance.target.hooks.noted_calls import AFTER_CREATION
from hookproof.process.terminal_text import printable
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.target.hooks.http_steps import UNIQUE, fill_placeholders
from hookproof.target.masking.quotation_mask import HEADER_VARIABLE, VARIABLE

RECEIVER: Final = "HOOKPROOF_RECEIVER"
UID: Final = "HOOKPROOF_UID"
# Of a step before the call that is accused, of the call itself, and of one after it.
PURPOSES: Final = {-1: "sets up", 0: "acts", 1: "shows"}
CREATION: Final = "createEndpoint"
# The API key with which an endpoint was created.
KEY_VARIABLE: Final = re.compile(rf"\${VARIABLE}(?:_\d+)?")
BROADCAST: Final = "createBroadcastEvent"
# The resources that a path names, each with its variable and its name for people.
RESOURCES: Final = {
    "endpoints": ("HOOKPROOF_ENDPOINT", "an endpoint"),
    "portal-links": ("HOOKPROOF_PORTAL_LINK", "a portal link"),
}
_RESOURCE: Final = re.compile(rf"/({'|'.join(RESOURCES)})/([\w.~-]+)(?=[/?]|$)")
# A body that no command line can hold, and what a command says of it.
_BODY_FILE: Final = re.compile(r" --data-binary @body\.bin  # (\d+ bytes: [\w .]+)$")


def repeat_commands(finding: Finding, header: Header) -> list[str]:
    """Commands that repeat the last few exchanges, and what the hook did for each new endpoint
    without which no delivery comes.
    """
    words = _hook_words(finding, header)
    if not words:
        return curl(finding.exchanges).splitlines()
    commands, variables = [], 0
    for exchange in with_creations(finding.exchanges):
        commands += curl([exchange]).splitlines()
        if _made(exchange) and header.hook_calls:
            variables += 1
            variable = f"{UID}_{variables}"
            commands.append(f"# {AFTER_CREATION}, with the uid of that endpoint in {variable}:")
            commands += [curl([call]) for call, _ in hook_calls(exchange, variable, header)]
    return [*commands, *words] if not variables else commands


def _made(exchange: Exchange) -> bool:
    """Whether an endpoint was created whose uid is known."""
    return exchange.operation_id == CREATION and bool(_uid(exchange))


def _hook_words(finding: Finding, header: Header) -> list[str]:
    """What has to be done besides the requests where deliveries are to come, if a hook did it in
    the run.
    """
    broadcast = any(each.operation_id == BROADCAST for each in finding.exchanges)
    if AFTER_CREATION not in header.hooks or not (broadcast or finding.deliveries):
        return []
    does = f"the hook {AFTER_CREATION} of the target file has to run for each new endpoint"
    return [f"# {does}: without it no delivery may come"]


def hook_calls(
    created: Exchange, uid: str, header: Header
) -> Iterator[tuple[Exchange, Mapping[str, str]]]:
    """The requests of the hook for an endpoint that was created, whose uid is in the variable; and
    for each of them the variables of what is kept of its answer, with its place there.
    """
    sent = dict(created.request_headers)
    key = KEY_VARIABLE.search(sent.get("Authorization", ""))
    shown = created.data if isinstance(created.data, dict) else {}
    values: dict[str, Any] = {
        "project": {"id": created.project, "api_key": key[0] if key else f"${VARIABLE}"},
        "endpoint": {**shown, "uid": f"${uid}"},
        UNIQUE: f"${uid}",
    }
    for call in header.hook_calls:
        headers = [(name, str(fill_placeholders(text, values))) for name, text in call["headers"]]
        own = {name.lower() for name, _ in headers}
        if call["at_target"]:
            further = (pair for pair in sent.items() if pair[1].startswith(f"${HEADER_VARIABLE}"))
            headers += [pair for pair in further if pair[0].lower() not in own]
        body = fill_placeholders(call["body"], values)
        if body is not None:
            headers.append(("Content-Type", "application/json"))
        yield (
            replace(
                created,
                method=call["method"],
                url=str(fill_placeholders(call["url"], values)),
                request_headers=tuple(headers),
                request_body=None if body is None else json.dumps(body).encode(),
            ),
            {f"{uid}_{name.upper()}": path for name, path in call["keep"].items()},
        )
        values |= {name: f"${uid}_{name.upper()}" for name in call["keep"]}


def repeat_script(broken: BrokenRequirement, header: Header) -> str:
    """The script; empty for a finding without exchanges. `header` is that of the run."""
    finding = broken.finding
    listed = with_creations(finding.exchanges)
    if not listed:
        return ""
    exchanges = _with_receiver(listed, finding.deliveries)
    words = _hook_words(finding, header)
    steps = [
        line
        for step in _steps(exchanges, broken.operation, header if words else None)
        for line in step
    ]
    steps += _broadcast(exchanges, finding.deliveries)
    lines = [
        "#!/bin/sh",
        f"# {finding.requirement} {printable(broken.title)}",
        *([] if header.hook_calls and any(map(_made, exchanges)) else words),
        "set -eu",
        *_needs("\n".join(steps), exchanges),
        *steps,
        *_shown(broken),
    ]
    return "\n".join(lines) + "\n"


def with_creations(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """The last few exchanges, and before them what created the resources that they name."""
    listed = list(exchanges[-MOST_EXCHANGES:])
    for earlier in reversed(exchanges[:-MOST_EXCHANGES]):
        uid = _uid(earlier)
        if uid and any(_mentions(later, uid) for later in listed):
            listed.insert(0, earlier)
    return listed


def _needs(steps: str, exchanges: Sequence[Exchange]) -> Iterator[str]:
    """A line for each variable that the steps read, which ends the script if it is not set."""
    for name in dict.fromkeys(re.sub(r"\W", "", variable) for variable in VARIABLES.findall(steps)):
        if not name.startswith(UID):
            yield f': "${{{name}:?{_source(name, exchanges)}}}"'


def _source(name: str, exchanges: Sequence[Exchange]) -> str:
    """Where the value of a variable comes from; without quotes, as it stands within some."""
    if name == RECEIVER:
        return "the https address of a running hookproof receive, whose CA the target trusts"
    for uid, variable in _existing(exchanges).items():
        if name == variable:
            kind = next(kind for start, kind in RESOURCES.values() if name.startswith(start))
            return f"the uid of {kind} of the project; that of the run was {uid}"
    if name.startswith(HEADER_VARIABLE):
        return "the value of a header in target.yaml, whose name this ends in"
    if name.startswith(VARIABLE):
        key = re.compile(rf"\${name}\b")
        project = next((e.project for e in exchanges if key.search(str(e.request_headers))), "")
        words = re.sub(r"[^\w.-]", " ", project)
        return f"the API key of the project {words}"
    return "a credential that the target accepts here; no report holds that of the run"


def _with_receiver(
    exchanges: Sequence[Exchange], deliveries: Sequence[ReceivedDelivery]
) -> list[Exchange]:
    """The exchanges without the address of the run's receiver, which has ended."""
    tokens = "|".join(sorted({re.escape(delivery.token) for delivery in deliveries}))
    if not tokens:
        return list(exchanges)
    address = re.compile(rf"https://[^/\"\s]+(?=/(?:{tokens})\b)".encode())
    return [
        replace(each, request_body=address.sub(f"${RECEIVER}".encode(), each.request_body))
        if each.request_body
        else each
        for each in exchanges
    ]


def _steps(
    exchanges: Sequence[Exchange], operation: str, hooked: Header | None
) -> Iterator[list[str]]:
    """The commands, each with a line that says what it is for and how it was answered; after the
    creation of an endpoint those of the hook, if it is of a run that is `hooked`.
    """
    calls = [place for place, each in enumerate(exchanges) if each.operation_id == operation]
    acting = calls[-1] if calls else len(exchanges) - 1
    made, existing = dict[str, str](), _existing(exchanges)
    for place, exchange in enumerate(exchanges):
        purpose = PURPOSES[(place > acting) - (place < acting)]
        name = exchange.operation_id or exchange.method
        answer = printable(str(exchange.status or exchange.problem))
        command, needed = _with_body_file(
            curl([_of_the_reader(_with_uids(exchange, made), existing)]), place
        )
        uid = _uid(exchange)
        calls_hook = _made(exchange) and hooked is not None and bool(hooked.hook_calls)
        if calls_hook or (uid and any(_mentions(later, uid) for later in exchanges[place + 1 :])):
            made[uid] = f"{UID}_{len(made) + 1}"
            command = _kept(command, {made[uid]: "data.uid"})
        yield ["", f"# {purpose}: {name}, which was answered {answer}", *needed, command]
        if calls_hook and hooked is not None:
            for call, kept in hook_calls(exchange, made[uid], hooked):
                yield ["", f"# sets up: the hook {AFTER_CREATION}", _kept(curl([call]), kept)]


def _kept(command: str, places: Mapping[str, str]) -> str:
    """The command, whose answer gives these variables the values at these places."""
    if not places:
        return command
    silent = command.replace("curl -i", "curl -s", 1)
    if len(places) == 1:
        ((variable, place),) = places.items()
        return f"{variable}=$({silent} | jq -r {_jq(place)})"
    reads = [f'{name}=$(echo "$ANSWER" | jq -r {_jq(place)})' for name, place in places.items()]
    return "\n".join([f"ANSWER=$({silent})", *reads])


def _jq(place: str) -> str:
    """A dotted place as jq reads it: `.data.items[0].uid`."""
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", f".{place}")


def _with_body_file(command: str, place: int) -> tuple[str, list[str]]:
    """The command without a comment, which may be followed by another one, and what ends the script
    if the body that it sends from a file is not there.
    """
    found = _BODY_FILE.search(command)
    if found is None:
        return command, []
    file = f"body_{place + 1}.bin"
    missing = f"test -r {file} || {{ echo '{file} is missing: {found[1]}' >&2; exit 1; }}"
    return f"{command[: found.start()]} --data-binary @{file}", [missing]


def _broadcast(exchanges: Sequence[Exchange], deliveries: Sequence[ReceivedDelivery]) -> list[str]:
    """A broadcast of what was delivered, where the proof has deliveries and no broadcast."""
    calls = {exchange.operation_id: exchange for exchange in exchanges}
    created = calls.get(CREATION)
    if not deliveries or created is None or BROADCAST in calls:
        return []
    data = deliveries[0].body if _is_object(deliveries[0].body) else b"{}"
    body = b'{"event_type":"hookproof.again","data":%s}' % data
    url = f"{created.url.rpartition('/')[0]}/events/broadcast"
    return ["", f"# acts: {BROADCAST}", curl([replace(created, url=url, request_body=body)])]


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


def _uid(exchange: Exchange) -> str:
    """The uid of what a request created."""
    data = exchange.data if exchange.method == "POST" else None
    uid = data.get("uid") if isinstance(data, dict) else None
    return uid if isinstance(uid, str) else ""


def _existing(exchanges: Sequence[Exchange]) -> dict[str, str]:
    """A variable for the uid of each resource that these requests name, find and have not created:
    that of the run may be gone, and another one shows the same.
    """
    named: dict[str, str] = {}
    created: set[str] = set()
    for exchange in exchanges:
        for kind, uid in _RESOURCE.findall(exchange.url) if exchange.succeeded else ():
            if uid not in created:
                named.setdefault(uid, f"{RESOURCES[kind][0]}_{len(named) + 1}")
        created.add(_uid(exchange))
    return named


def _of_the_reader(exchange: Exchange, existing: dict[str, str]) -> Exchange:
    """The exchange with variables in its path in place of what the run found there."""
    url = _RESOURCE.sub(
        lambda match: f"/{match[1]}/${existing[match[2]]}" if match[2] in existing else match[0],
        exchange.url,
    )
    return replace(exchange, url=url)


def _mentions(exchange: Exchange, uid: str) -> bool:
    return uid in exchange.url or uid.encode() in (exchange.request_body or b"")


def _with_uids(exchange: Exchange, made: dict[str, str]) -> Exchange:
    """The exchange with variables in place of what the script has created."""
    url, body = exchange.url, exchange.request_body
    for uid, name in made.items():
        url = url.replace(uid, f"${name}")
        body = None if body is None else body.replace(uid.encode(), f"${name}".encode())
    return replace(exchange, url=url, request_body=body)


def _shown(broken: BrokenRequirement) -> Iterator[str]:
    """What to compare, and where."""
    finding = broken.finding
    yield ""
    if finding.deliveries:
        yield "# shows: hookproof receive lists the deliveries as they arrive"
    yield f"# expected: {printable(finding.expected)}"
    yield f"# actual in the run: {printable(finding.actual)}"
