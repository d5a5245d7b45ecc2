"""The private native module of the package."""

__all__: list[str] = []
