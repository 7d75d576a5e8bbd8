"""The errors a user can cause, and the exit code each one ends with.

Raise one of these with a single sentence that says where, what was found and what is accepted; the command
line prints that sentence and exits. Anything else that escapes is a bug and exits with 1.
"""


class EgamError(Exception):
    """A failure we can explain in one sentence."""

    exit_code = 1


class BadInput(EgamError, ValueError):
    """What the user handed in cannot be used."""

    exit_code = 2


class NotInstalled(EgamError, ImportError):
    """An optional package or program is missing; the message names the line that installs it."""

    exit_code = 3


def nearest(word: str, accepted: list[str]) -> str:
    """` (did you mean 'x'?)` for a near miss, else the empty string."""
    import difflib

    close = difflib.get_close_matches(word, accepted, n=1, cutoff=0.5)
    return f" (did you mean '{close[0]}'?)" if close else ""
