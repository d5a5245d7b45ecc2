"""."""


def bench() -> None:
    """."""
