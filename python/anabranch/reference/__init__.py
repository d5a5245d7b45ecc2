"""The paper in Python: the executable specification of the search."""

from anabranch.reference.search import *
