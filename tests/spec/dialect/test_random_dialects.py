"""The dialects that are drawn at random: they hold together, and reach every answer."""

from collections import defaultdict
from enum import EnumType
from typing import Any, get_args, get_origin

import pytest

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.reader import load_dialect_mapping
from tests.spec.random_dialects import TOGETHER, answers, candidates, known_of, random_dialect

SEEDS = range(60)


def value_at(mapping: dict[str, Any], path: str) -> Any:
    value: Any = mapping
    for name in path.split("."):
        value = value[name]
    return value


@pytest.mark.parametrize("seed", [3, 8])
def test_a_seed_always_draws_the_same(seed: int) -> None:
    assert random_dialect(seed) == random_dialect(seed)
    assert random_dialect(seed) != random_dialect(seed + 1)


def test_what_is_known_in_part_allows_what_the_service_does() -> None:
    less_known = 0
    for seed in SEEDS:
        drawn = random_dialect(seed)
        done = load_dialect_mapping(drawn, "drawn")
        known = load_dialect_mapping(known_of(drawn, seed), "known")
        for path, kind in answers():
            if get_origin(kind) is Answer:
                group, field = path.rsplit(".", 1)
                does, may = (getattr(_group(dialect, group), field) for dialect in (done, known))
                assert not does.decided or may.allows(does.value), path
                less_known += may.allowed != does.allowed
    assert less_known > len(SEEDS)


def test_every_kind_of_behaviour_is_drawn() -> None:
    drawn = defaultdict(set)
    for seed in SEEDS:
        mapping = random_dialect(seed)
        for path, _ in answers():
            drawn[path].add(str(value_at(mapping, path)))
    together = {path for paths in TOGETHER for path in paths}
    never = {
        path: missing
        for path, kind in answers()
        if get_origin(kind) is Answer and isinstance(get_args(kind)[0], EnumType)
        if path not in together
        if (missing := {*candidates(path, kind)} - drawn[path])
    }
    assert never == {}


def _group(dialect: Any, path: str) -> Any:
    for name in path.split("."):
        dialect = getattr(dialect, name)
    return dialect


def test_no_receiver_on_this_machine_is_refused_as_an_endpoint() -> None:
    for seed in range(20):
        rules = random_dialect(seed)["requests"]
        assert (rules["url_addresses"], rules["url_other_ports"]) == ("taken", "taken")
