"""torch.cuda.memory: what a device's memory holds."""

from . import (  # noqa: F401
    empty_cache, memory_allocated, max_memory_allocated, memory_reserved, max_memory_reserved, memory_stats, memory_summary,
    mem_get_info, reset_peak_memory_stats, reset_accumulated_memory_stats, reset_max_memory_allocated,
    reset_max_memory_cached, memory_cached, max_memory_cached, set_per_process_memory_fraction,
    get_per_process_memory_fraction)
