"""Training data: positions with policy and value targets, made by a teacher engine or read from games."""

from importlib.util import find_spec

from anabranch.errors import MissingPackageError

if find_spec("pyarrow") is None:
    raise MissingPackageError("training data needs pyarrow: pip install 'anabranch[data]'")
