"""What is done with whole graphs."""

from . import shape_prop  # noqa: F401
