"""Monte-Carlo graph search for AlphaZero-style play.

Lines of play that part and meet again share what they learned, like the arms of a river.
"""

from importlib.metadata import version

__version__ = version("anabranch")

__all__ = ["__version__"]
