"""The timestamps in responses, whose form is a gap (section 2.9)."""

from datetime import UTC, datetime

from hookproof.spec.dialect.vocabulary import TimestampForm

MILLISECONDS = 1000


def unix_seconds(text: object, form: TimestampForm) -> float | None:
    """The time that a timestamp of this form names, in Unix seconds; None for anything else."""
    if not isinstance(text, str):
        return None
    try:
        if form is TimestampForm.UNIX_MILLISECONDS:
            return int(text) / MILLISECONDS
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
