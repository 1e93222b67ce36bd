"""Kills the server while it writes and looks for what it had acknowledged.

Run it as `python -m tests.mockserver.store.kill_during_writes [CYCLES]`. In each cycle a server
with `--db FILE` runs as a process, several clients create endpoints, roll secrets, rename portal
links and broadcast events, the process is killed (SIGKILL) at a random time and started again, and
everything that was ever acknowledged is requested. Progress goes to standard error. The exit code
is 1 if anything is missing.
"""

import asyncio
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from tests.mockserver.server_process import server_process

CLIENTS = 16
LONGEST_LIFE_S = 0.4
DEFAULT_CYCLES = 200
REPORT_EVERY = 10
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
    writes = AcknowledgedWrites()
    lost: list[str] = []
    for cycle in range(cycles):
        async with server_process("--db", str(path)) as (process, addresses):
            clients = [
                asyncio.create_task(_client(addresses["api"], writes, random.Random(rng.random())))
                for _ in range(CLIENTS)
            ]
            # Nothing is waited for: the moment of the kill is to be random.
            await asyncio.sleep(rng.uniform(0.02, LONGEST_LIFE_S))
            process.kill()
            await process.wait()
            await asyncio.gather(*clients)
        async with server_process("--db", str(path)) as (_, addresses):
            missing = await _missing(addresses["api"], writes)
        lost += [f"cycle {cycle + 1}: {loss}" for loss in missing]
        if (cycle + 1) % REPORT_EVERY == 0:
            report_progress(f"{cycle + 1} of {cycles} kills, {len(lost)} lost so far\n")
    return KillReport(cycles=cycles, acknowledged=writes.count, lost=tuple(lost))


async def _client(base: str, writes: AcknowledgedWrites, rng: random.Random) -> None:
    """Write until the server is killed."""
    async with aiohttp.ClientSession(base, headers=HEADERS) as session:
        actions = (_create, _create, _roll, _rename, _broadcast, _broadcast)
        try:
            while True:
                await rng.choice(actions)(session, writes, rng)
        except (aiohttp.ClientError, ConnectionError):
            return


async def _create(
    session: aiohttp.ClientSession, writes: AcknowledgedWrites, rng: random.Random
) -> None:
    body = {
        "name": "n",
        "url": "https://receiver.invalid/",
        "is_disabled": True,
        "secret": f"{rng.getrandbits(128):x}",
    }
    created = await _call(session, "POST", f"{PROJECT}/endpoints", body)
    writes.secrets[created["uid"]] = [body["secret"]]


async def _roll(
    session: aiohttp.ClientSession, writes: AcknowledgedWrites, rng: random.Random
) -> None:
    candidates = [uid for uid in writes.secrets if uid not in writes.unsure]
    if not candidates:
        return
    uid = rng.choice(candidates)
    writes.unsure.add(uid)
    secret = f"{rng.getrandbits(128):x}"
    await _call(
        session,
        "PUT",
        f"{PROJECT}/endpoints/{uid}/expire_secret",
        {"secret": secret, "expiration": 60},
    )
    writes.secrets[uid].append(secret)
    writes.unsure.discard(uid)


async def _rename(
    session: aiohttp.ClientSession, writes: AcknowledgedWrites, rng: random.Random
) -> None:
    links = (await _call(session, "GET", f"{PROJECT}/portal-links"))["content"]
    candidates = [link["uid"] for link in links if link["uid"] not in writes.unsure]
    if not candidates:
        return
    uid = rng.choice(candidates)
    writes.unsure.add(uid)
    name = f"{rng.getrandbits(64):x}"
    await _call(session, "PUT", f"{PROJECT}/portal-links/{uid}", {"name": name})
    writes.names[uid] = name
    writes.unsure.discard(uid)


async def _broadcast(
    session: aiohttp.ClientSession, writes: AcknowledgedWrites, rng: random.Random
) -> None:
    key = f"{rng.getrandbits(64):x}"
    body = {"event_type": "t", "data": {"key": key}, "idempotency_key": key}
    event = await _call(session, "POST", f"{PROJECT}/events/broadcast", body)
    writes.events[key] = event["uid"]


async def _missing(base: str, writes: AcknowledgedWrites) -> list[str]:
    """Return what was acknowledged but is missing.

    An unanswered change may have happened or not, until it is seen.
    """
    missing: list[str] = []
    async with aiohttp.ClientSession(base, headers=HEADERS) as session:
        for uid, secrets in writes.secrets.items():
            async with session.get(f"{PROJECT}/endpoints/{uid}") as response:
                data = (await response.json()).get("data") or {"secrets": []}
            stored = [secret["value"] for secret in data["secrets"]]
            if stored[: len(secrets)] != secrets:
                missing.append(
                    f"secrets of endpoint {uid}: {len(secrets)} acknowledged, {len(stored)} stored"
                )
            writes.secrets[uid] = stored
        for uid, name in writes.names.items():
            link = await _call(session, "GET", f"{PROJECT}/portal-links/{uid}")
            if link["name"] != name and uid not in writes.unsure:
                missing.append(f"name of portal link {uid}")
            writes.names[uid] = link["name"]
        for key in writes.events:
            body = {"event_type": "t", "data": {}, "idempotency_key": key}
            event = await _call(session, "POST", f"{PROJECT}/events/broadcast", body)
            if not event["is_duplicate_event"]:
                missing.append(f"event with the key {key}")
    writes.unsure.clear()
    writes.events.clear()
    return missing


async def _call(session: aiohttp.ClientSession, method: str, path: str, body: Any = None) -> Any:
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
