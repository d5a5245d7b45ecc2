"""Training data: positions with policy and value targets, made by a teacher engine or read from games."""

from importlib.util import find_spec

from anabranch.optional import lacking

if find_spec("pyarrow") is None:
    raise lacking("training data needs the package pyarrow", "data")
