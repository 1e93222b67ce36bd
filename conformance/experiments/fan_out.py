"""One broadcast to endpoints of every kind: does it reach those that it should, each once (sections 1, 3 and 4.8)?

Cases: `one project` and `two projects`. The sentinel is a second event: where it has arrived and the quiet time is
over, nothing of the first one is still under way.
"""

import contextlib
from collections.abc import AsyncIterator
from typing import Final

from conformance.evidence import Case
from conformance.experiments.bench import Bench, Obstacle, experiment
from conformance.experiments.scene import Scene, played
from receiver.script import Reply

SHORT_TIMEOUT_S: Final = 2


@experiment("fan_out")
async def fan_out(bench: Bench) -> AsyncIterator[Case]:
    """Broadcast to endpoints that answer, fail, hang, are gone, are disabled, have no owner, or belong elsewhere."""
    async for case in played(bench, {"one project": one_project, "two projects": two_projects}):
        yield case


async def one_project(scene: Scene) -> Case:
    """An event and a sentinel to endpoints of every kind in one project."""
    owner = scene.bodies.word("owner")
    failing, hanging = [Reply(status=500)], [Reply(hang=True)]
    timeout = max(SHORT_TIMEOUT_S, scene.dialect.requests.http_timeout_minimum)
    await scene.destination("failing", replies=failing)
    await scene.destination("hanging", replies=hanging, http_timeout=timeout)
    with contextlib.suppress(Obstacle):  # a service may refuse a host that does not exist
        await scene.endpoint("gone", await unused_token(scene), url=f"https://{scene.bodies.word('gone')}.invalid/")
    await scene.destination("disabled", is_disabled=True)
    reached = [
        await scene.destination("healthy", owner_id=owner),
        await scene.destination("of the same owner", owner_id=owner),
        await scene.destination("enabled by hand", is_disabled=False),
    ]
    if "owner_id" not in scene.dialect.requests.create_endpoint_requires:
        await scene.destination("without owner", owner_id=None)
    for name in ("event", "sentinel"):
        event = await scene.broadcast(name)
        await scene.await_everywhere(reached, event)
    await scene.quiet()
    return await scene.case()


async def two_projects(scene: Scene) -> Case:
    """An event in each of two projects, each of which has an endpoint."""
    if len(scene.bench.projects) < 2:  # noqa: PLR2004
        raise Obstacle("one project shows no isolation; name a second project of the target")
    here, there = scene.bench.projects[:2]
    owner = scene.bodies.word("owner")
    ours = await scene.destination("here", project=here, owner_id=owner)
    theirs = await scene.destination("there", project=there, owner_id=owner)
    event = await scene.broadcast("event here", project=here)
    sentinel = await scene.broadcast("event there", project=there)
    await scene.await_arrival(ours, event)
    await scene.await_arrival(theirs, sentinel)
    await scene.quiet()
    return await scene.case()


async def unused_token(scene: Scene) -> str:
    """A token that no endpoint leads to."""
    return (await scene.bench.receiver.new_token()).token
