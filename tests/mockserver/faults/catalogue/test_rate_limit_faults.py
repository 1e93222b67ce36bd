"""The default limit does not apply to a rate_limit of 0, which means no limit in the dialect."""

import asyncio
import time
from pathlib import Path

from hookproof.mockserver.faults.catalogue.deliveries.rate_limits import EverybodyLimited
from tests.mockserver.delivery.engines import dialect
from tests.mockserver.store.file_store import add_endpoint, open_database


def test_only_an_endpoint_without_a_limit_gets_one(tmp_path: Path) -> None:
    async def limits() -> dict[str, int | None]:
        async with open_database(tmp_path) as database:
            add_endpoint(database, "https://receiver.invalid/", uid="without")
            add_endpoint(database, "https://receiver.invalid/", uid="zero", rate_limit=0)
            add_endpoint(database, "https://receiver.invalid/", uid="limited", rate_limit=3)
            deliveries = EverybodyLimited(database, dialect(), time.time)
            settings = {uid: deliveries.endpoint(uid) for uid in ("without", "zero", "limited")}
            return {uid: item.rate_limit for uid, item in settings.items() if item is not None}

    assert asyncio.run(limits()) == {"without": 6, "zero": None, "limited": 3}
