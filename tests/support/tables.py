"""The tablebases of three and four men, which set-up installs."""

import sys
from pathlib import Path

TABLES = Path(sys.prefix) / "share" / "syzygy"
assert TABLES.is_dir(), f"'make test' installs tablebases; or: anabranch tablebases fetch --to {TABLES}"
