"""What a search has proven."""

from anabranch.result import Progress, Solved


def proof_of(result: Progress) -> Solved:
    """The proof of the root, which must be there."""
    assert result.solved is not None
    return result.solved
