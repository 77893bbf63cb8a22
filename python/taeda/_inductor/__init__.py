"""torch._inductor: its settings, for programs that set them before they call torch.compile."""

from . import config  # noqa: F401
