"""What can go wrong: one tree of exceptions, each also the built-in error that callers expect.

Messages are sentences that can be shown to people. After any of them the engine that raised it can be used
on.

>>> from anabranch import Engine
>>> from anabranch.errors import MoveError
>>> engine = Engine()
>>> try:
...     engine.play("e2e5")
... except MoveError as error:
...     print(error)
"e2e5" is an illegal move.
"""


class AnabranchError(Exception):
    """Everything that this package raises on purpose.

    >>> from anabranch import Engine
    >>> try:
    ...     Engine("checkers")
    ... except AnabranchError as error:
    ...     print(type(error).__name__)
    VariantError
    """


class PositionError(AnabranchError, ValueError):
    """A position cannot be read, or is against the rules.

    >>> from anabranch import Engine
    >>> Engine().search("8/8/8/8 w - - 0 1", simulations=1)
    Traceback (most recent call last):
        ...
    anabranch.errors.PositionError: ...
    """


class MoveError(AnabranchError, ValueError):
    """A move cannot be read, or is illegal.

    >>> from anabranch import Engine
    >>> Engine().play("e2e5")
    Traceback (most recent call last):
        ...
    anabranch.errors.MoveError: ...
    """


class GameOverError(AnabranchError, ValueError):
    """The game is already over, so there is nothing to search.

    >>> from anabranch import Engine
    >>> Engine().search("R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 1 1", simulations=1)
    Traceback (most recent call last):
        ...
    anabranch.errors.GameOverError: ...
    """


class VariantError(AnabranchError, ValueError):
    """There is no such variant, or the position belongs to another.

    >>> from anabranch import Engine
    >>> Engine("checkers")
    Traceback (most recent call last):
        ...
    anabranch.errors.VariantError: ...
    """


class GameError(AnabranchError, ValueError):
    """A game that is written in Python does not keep to its contract, or raised.

    >>> from anabranch import Engine
    >>> Engine(game=object())
    Traceback (most recent call last):
        ...
    anabranch.errors.GameError: ...
    """


class SettingError(AnabranchError, ValueError):
    """There is no such setting or preset, or its value is out of range.

    >>> from anabranch import Engine
    >>> Engine(c_init=-1.0)
    Traceback (most recent call last):
        ...
    anabranch.errors.SettingError: ...
    """


class LimitError(AnabranchError, ValueError):
    """A search without a limit, or with one that allows nothing.

    >>> from anabranch import Engine
    >>> Engine().search("startpos")
    Traceback (most recent call last):
        ...
    anabranch.errors.LimitError: ...
    """


class GraphFileError(AnabranchError, ValueError):
    """A file does not hold a sound search graph, or its suffix is that of no format."""


class GraphAccessError(GraphFileError, OSError):
    """A file of a graph cannot be read or written."""


class SuiteError(AnabranchError, ValueError):
    """A test suite cannot be read."""


class ProofError(AnabranchError, ValueError):
    """A certificate is damaged, or does not prove its claim."""


class BookError(AnabranchError, ValueError):
    """A file does not hold a sound opening book."""


class AnnotationError(AnabranchError, ValueError):
    """Games cannot be read or annotated."""


class DataError(AnabranchError, ValueError):
    """Training data cannot be read or made."""


class TrainingError(AnabranchError, ValueError):
    """A training run, its recipe or its checkpoint makes no sense."""


class SelfPlayError(AnabranchError, ValueError):
    """A run of self-play, its plan or its folder makes no sense."""


class NetworkError(AnabranchError, ValueError):
    """A file does not hold a network that can be trusted and used."""


class MatchError(AnabranchError, ValueError):
    """A match, its players or its openings make no sense."""


class JobError(AnabranchError, ValueError):
    """Work that was given out cannot be done, or its folder belongs to something else."""


class WorkerError(JobError):
    """A worker failed."""


class FolderBusyError(JobError):
    """Another process is at work in a folder."""


class ClusterError(JobError):
    """There is no such cluster."""


class ProgramMissingError(JobError):
    """There is no program of that name."""


class StudyError(AnabranchError, ValueError):
    """A study, its experiment or its folder makes no sense."""


class TablebaseError(AnabranchError, ValueError):
    """Tablebases cannot be fetched, or do not know a position."""


class EvaluatorError(AnabranchError, RuntimeError):
    """An evaluator raised, or what it returned cannot be used.

    >>> from anabranch import Engine
    >>> Engine(evaluator=lambda planes: (None, None)).search(simulations=1)
    Traceback (most recent call last):
        ...
    anabranch.errors.EvaluatorError: ...
    """


class QueryError(AnabranchError, ValueError):
    """A message to the analysis server cannot be read. `field` names the part of it."""

    def __init__(self, field: str | None, reason: str) -> None:
        super().__init__(f"{field} {reason}" if field else reason)
        self.field = field


class SearchBusyError(AnabranchError, RuntimeError):
    """A search is under way on this engine, and one at a time is all it does."""


class SearchStateError(AnabranchError, RuntimeError):
    """The call does not fit the state of the search."""


class MissingPackageError(AnabranchError, ImportError):
    """An optional package is not installed."""


class InternalError(AnabranchError, RuntimeError):
    """A fault of the core; please report it."""
