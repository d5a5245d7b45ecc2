"""."""


def suite() -> None:
    """."""
