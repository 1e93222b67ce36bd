"""Operations come by weight, and evenly."""

from collections import Counter

from hookproof.load.locust_worker.users import OperationMix


def test_each_operation_gets_its_share_of_every_round() -> None:
    mix = OperationMix({"a": 6, "b": 3, "c": 1})
    for _ in range(3):
        assert Counter(mix.take() for _ in range(10)) == {"a": 6, "b": 3, "c": 1}


def test_no_operation_comes_all_at_once() -> None:
    mix = OperationMix({"a": 1, "b": 1})
    assert "".join(mix.take() for _ in range(6)) in {"ababab", "bababa"}


def test_a_single_operation_is_always_next() -> None:
    mix = OperationMix({"a": 0.5})
    assert [mix.take() for _ in range(3)] == ["a", "a", "a"]
