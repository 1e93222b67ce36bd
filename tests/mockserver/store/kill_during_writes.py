"""Kills the server while it writes and looks for what it had acknowledged.

Run it as `python -m tests.mockserver.store.kill_during_writes [CYCLES]`. In each cycle a server
with `--db FILE` runs as a process, several clients create endpoints, roll secrets, rename portal
links and broadcast events, the process is killed (SIGKILL) at a random time and started again, and
everything that was ever acknowledged is requested. Progress goes to standard error. The exit code
is 1 if anything is missing.
"""

import asyncio
import json
import random
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

CLIENTS = 16
LONGEST_LIFE_S = 0.4
READY_S = 180.0
DEFAULT_CYCLES = 200
REPORT_EVERY = 10
COMMAND = "from hookproof.mockserver.cli import serve; serve()"
HEADERS = {"Authorization": "Bearer demo-key"}
PROJECT = "/api/v1/projects/demo"
FAILED = 1


@dataclass(slots=True)
class AcknowledgedWrites:
    """Secrets by endpoint, name by portal link, and event by idempotency key, as acknowledged.

    `unsure` holds endpoints and portal links that an unanswered request may have changed.
    """

    secrets: dict[str, list[str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    events: dict[str, str] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)

    @property
    def count(self) -> int:
        return sum(map(len, self.secrets.values())) + len(self.names) + len(self.events)


@dataclass(frozen=True, slots=True, kw_only=True)
class KillReport:
    cycles: int
    acknowledged: int
    lost: tuple[str, ...]


async def kill_during_writes(
    path: Path, *, cycles: int, seed: int, report_progress: Callable[[str], object] = lambda _: None
) -> KillReport:
    """Run the cycles on a database file and report what was lost."""
    rng = random.Random(seed)
    known = AcknowledgedWrites()
    lost: list[str] = []
    for cycle in range(cycles):
        async with _server(path) as (process, base):
            clients = [
                asyncio.create_task(_client(base, known, random.Random(rng.random())))
                for _ in range(CLIENTS)
            ]
            await asyncio.sleep(rng.uniform(0.02, LONGEST_LIFE_S))
            process.kill()
            await process.wait()
            await asyncio.gather(*clients)
        async with _server(path) as (_, base):
            lost += [f"cycle {cycle + 1}: {loss}" for loss in await _missing(base, known)]
        if (cycle + 1) % REPORT_EVERY == 0:
            report_progress(f"{cycle + 1} of {cycles} kills, {len(lost)} lost so far\n")
    return KillReport(cycles=cycles, acknowledged=known.count, lost=tuple(lost))


@asynccontextmanager
async def _server(path: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    arguments = ("-c", COMMAND, "--port", "0", "--db", str(path), "--json", "--until-stdin-closes")
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        ready = await asyncio.wait_for(process.stdout.readline(), READY_S)
        yield process, json.loads(ready)["api"]
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def _client(base: str, known: AcknowledgedWrites, rng: random.Random) -> None:
    """Write until the server is gone."""
    async with aiohttp.ClientSession(base, headers=HEADERS) as session:
        actions = (_create, _create, _roll, _rename, _broadcast, _broadcast)
        try:
            while True:
                await rng.choice(actions)(session, known, rng)
        except (aiohttp.ClientError, ConnectionError):
            return


async def _create(
    session: aiohttp.ClientSession, known: AcknowledgedWrites, rng: random.Random
) -> None:
    body = {
        "name": "n",
        "url": "https://receiver.invalid/",
        "is_disabled": True,
        "secret": f"{rng.getrandbits(128):x}",
    }
    created = await _ask(session, "POST", f"{PROJECT}/endpoints", body)
    known.secrets[created["uid"]] = [body["secret"]]


async def _roll(
    session: aiohttp.ClientSession, known: AcknowledgedWrites, rng: random.Random
) -> None:
    free = [uid for uid in known.secrets if uid not in known.unsure]
    if not free:
        return
    uid = rng.choice(free)
    known.unsure.add(uid)
    secret = f"{rng.getrandbits(128):x}"
    await _ask(
        session,
        "PUT",
        f"{PROJECT}/endpoints/{uid}/expire_secret",
        {"secret": secret, "expiration": 60},
    )
    known.secrets[uid].append(secret)
    known.unsure.discard(uid)


async def _rename(
    session: aiohttp.ClientSession, known: AcknowledgedWrites, rng: random.Random
) -> None:
    listed = (await _ask(session, "GET", f"{PROJECT}/portal-links"))["content"]
    free = [link["uid"] for link in listed if link["uid"] not in known.unsure]
    if not free:
        return
    uid = rng.choice(free)
    known.unsure.add(uid)
    name = f"{rng.getrandbits(64):x}"
    await _ask(session, "PUT", f"{PROJECT}/portal-links/{uid}", {"name": name})
    known.names[uid] = name
    known.unsure.discard(uid)


async def _broadcast(
    session: aiohttp.ClientSession, known: AcknowledgedWrites, rng: random.Random
) -> None:
    key = f"{rng.getrandbits(64):x}"
    body = {"event_type": "t", "data": {"key": key}, "idempotency_key": key}
    event = await _ask(session, "POST", f"{PROJECT}/events/broadcast", body)
    known.events[key] = event["uid"]


async def _missing(base: str, known: AcknowledgedWrites) -> list[str]:
    """Return what was acknowledged but is missing.

    An unanswered change may have happened or not, until it is seen.
    """
    missing: list[str] = []
    async with aiohttp.ClientSession(base, headers=HEADERS) as session:
        for uid, secrets in known.secrets.items():
            async with session.get(f"{PROJECT}/endpoints/{uid}") as response:
                data = (await response.json()).get("data") or {"secrets": []}
            stored = [secret["value"] for secret in data["secrets"]]
            if stored[: len(secrets)] != secrets:
                missing.append(
                    f"secrets of endpoint {uid}: {len(secrets)} acknowledged, {len(stored)} stored"
                )
            known.secrets[uid] = stored
        for uid, name in known.names.items():
            link = await _ask(session, "GET", f"{PROJECT}/portal-links/{uid}")
            if link["name"] != name and uid not in known.unsure:
                missing.append(f"name of portal link {uid}")
            known.names[uid] = link["name"]
        for key in known.events:
            body = {"event_type": "t", "data": {}, "idempotency_key": key}
            event = await _ask(session, "POST", f"{PROJECT}/events/broadcast", body)
            if not event["is_duplicate_event"]:
                missing.append(f"event with the key {key}")
    known.unsure.clear()
    known.events.clear()
    return missing


async def _ask(session: aiohttp.ClientSession, method: str, path: str, body: Any = None) -> Any:
    async with session.request(method, path, json=body) as response:
        assert response.status < 300, (response.status, await response.text())
        return (await response.json())["data"]


def main() -> int:
    """Return 0 if nothing was lost."""
    cycles = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_CYCLES
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(
            kill_during_writes(
                Path(folder) / "hookproof.db",
                cycles=cycles,
                seed=0,
                report_progress=sys.stderr.write,
            )
        )
    for loss in report.lost:
        sys.stdout.write(f"lost: {loss}\n")
    sys.stdout.write(
        f"{report.cycles} kills, {len(report.lost)} of what was acknowledged is lost\n"
    )
    return FAILED if report.lost else 0


if __name__ == "__main__":
    sys.exit(main())
