"""torch.cuda.graphs: work that is recorded and replayed."""

from . import CUDAGraph, graph, graph_pool_handle, is_current_stream_capturing  # noqa: F401
