"""What the receiver of a run says of itself counts the time in which deliveries arrived."""

import pytest

from hookproof.load.latency import quantiles
from hookproof.load.sidecar.api import OwnLoad, machine_ticks


class Machine:
    """A machine whose clocks a test sets."""

    def __init__(self) -> None:
        self.now = self.used = 0.0
        self.idle = self.whole = self.arrived = 0
        self.load = OwnLoad(
            lambda: self.arrived,
            clock=lambda: self.now,
            cpu=lambda: self.used,
            machine=lambda: (self.idle, self.whole),
        )

    def pass_second(self, *, used: float, idle: int, arrived: int, delay_s: float = 0.0) -> None:
        self.now += 1.0
        self.used += used
        self.idle += idle
        self.whole += 200
        self.arrived += arrived
        self.load.note_delay(delay_s)


def test_seconds_without_arrivals_do_not_dilute_the_shares() -> None:
    machine = Machine()
    machine.pass_second(used=0.9, idle=10, arrived=5)
    for _ in range(30):
        machine.pass_second(used=0.01, idle=200, arrived=0)
    machine.pass_second(used=1.0, idle=0, arrived=5)
    assert machine.load.shares() == (pytest.approx(0.95), pytest.approx(10 / 400))


def test_a_run_in_which_nothing_arrives_has_no_shares() -> None:
    machine = Machine()
    machine.pass_second(used=0.9, idle=10, arrived=0)
    assert machine.load.shares() == (None, None)


def test_a_new_run_begins_anew() -> None:
    machine = Machine()
    machine.pass_second(used=0.9, idle=10, arrived=5, delay_s=0.5)
    machine.load.begin()
    machine.pass_second(used=0.1, idle=190, arrived=5, delay_s=0.002)
    assert machine.load.shares() == (pytest.approx(0.1), pytest.approx(0.95))
    assert quantiles(machine.load.lateness)["max"] == pytest.approx(0.002, rel=0.01)


def test_where_the_machine_says_nothing_its_share_is_not_known() -> None:
    machine = Machine()
    machine.load = OwnLoad(
        lambda: machine.arrived,
        clock=lambda: machine.now,
        cpu=lambda: machine.used,
        machine=lambda: (0, 0),
    )
    machine.pass_second(used=0.5, idle=0, arrived=1)
    assert machine.load.shares() == (pytest.approx(0.5), None)


def test_the_time_of_the_machine_goes_on() -> None:
    idle, whole = machine_ticks()
    assert 0 <= idle <= whole
