"""One run in one process, which drives Locust and writes the only share of the run.

    python -P -m hookproof.load.locust_worker.runner --control URL --replies FD

The plan is a line of JSON on standard input, and the result is written to the descriptor.
Importing Locust patches the process for gevent, which is why the command never imports this module.
While it runs it prints its progress; Locust's tables follow when the last delivery has arrived.
"""

import locust  # first: it patches what the other imports bring in

# isort: split
import os
import sys
from collections.abc import Callable

import click
import gevent
import msgspec
from gevent.os import make_nonblocking, nb_read
from locust.env import Environment
from locust.stats import print_stats

from hookproof.load.ledger.head_messages import HeadReply, packed
from hookproof.load.ledger.share import RunResult
from hookproof.load.locust_worker.generator import Generator
from hookproof.load.locust_worker.progress import (
    Interrupts,
    drain,
    replying_to,
    report_progress,
    say,
    show_progress,
)
from hookproof.load.locust_worker.slot_user import SlotUser
from hookproof.load.locust_worker.stats_display import serve_web_page, show_tables, stats_csv
from hookproof.load.locust_worker.tracing import OtelProblem, set_up_otel
from hookproof.load.plan import LoadPlan
from hookproof.load.target.settings import KEY_VARIABLE, OTEL_VARIABLE, connection_from
from hookproof.process.standard_streams import STDIN, end_with_parent, use_lasting_streams
from hookproof.receiver.http.address import Address
from hookproof.target.connection import ApiConnection


def run(
    plan: LoadPlan,
    *,
    control_url: str,
    key: str,
    connection: ApiConnection,
    web: Address | None,
    reply: Callable[[HeadReply], None],
) -> RunResult:
    """Carry out a plan; an interrupt ends it early."""
    environment = Environment(user_classes=[SlotUser], host=plan.base_url, events=locust.events)
    runner, interrupts = environment.create_local_runner(), Interrupts()
    generator = Generator(
        plan,
        key=key,
        connection=connection,
        control_url=control_url,
        environment=environment,
        interrupts=interrupts,
    )
    interrupts.listen()
    generator.begin()
    if web is not None:
        say(f"web page at {serve_web_page(environment, web, interrupts.interrupt)}")
    started_at = generator.sending.started_at
    watching = [
        gevent.spawn(
            show_progress, generator.tally, started_at=started_at, duration_s=plan.shape.duration_s
        ),
        gevent.spawn(report_progress, generator.tally, reply),
    ]
    if not interrupts.count:
        runner.start(plan.users, spawn_rate=plan.users)
    generator.wait_for_answers()
    runner.stop()
    drained = drain(generator.tally, interrupts, plan, some_never_come=lambda: plan.may_drop)
    gevent.killall(watching)
    reply(HeadReply(progress=generator.tally()))
    share = generator.conclude()
    if environment.stats.num_requests:
        print_stats(environment.stats, current=False)
    table = stats_csv(environment)
    runner.quit()
    return RunResult(
        started_at=started_at,
        workers=1,
        shares=[share],
        lost_workers=[],
        interrupted=interrupts.count > 0,
        drain=drained,
        table=table,
    )


@click.command()
@click.option("--control", required=True)
@click.option("--replies", required=True, type=int)
@click.option("--web", metavar="H:P")
def main(control: str, replies: int, web: str | None) -> None:
    """Read the plan, carry it out, write the result."""
    use_lasting_streams()
    show_tables()
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):  # the command has ended
        return
    plan = msgspec.json.decode(line, type=LoadPlan)
    make_nonblocking(STDIN)
    gevent.spawn(end_with_parent, nb_read)
    web_address = None if web is None else Address.parse(web)
    reply = replying_to(replies)
    if os.environ.get(OTEL_VARIABLE):
        try:
            set_up_otel("hookproof load")
        except OtelProblem as problem:
            reply(HeadReply(problem=str(problem)))
            return
    outcome = run(
        plan,
        control_url=control,
        key=os.environ.get(KEY_VARIABLE, ""),
        connection=connection_from(os.environ),
        web=web_address,
        reply=reply,
    )
    reply(HeadReply(result=packed(outcome)))


if __name__ == "__main__":
    main()
