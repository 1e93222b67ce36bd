"""The command `hookproof`, also as `python -m hookproof`."""

from hookproof.process.stop_signals import end_as_by_interrupt


def main() -> None:
    """Run the command line; an interrupt while its modules are imported ends it, too."""
    end_as_by_interrupt()
    from hookproof.cli import main as run_command_line

    run_command_line()


if __name__ == "__main__":
    main()
