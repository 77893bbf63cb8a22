"""Settings of a compiler that Taeda has not; programs may set any, and read those that are set most."""

import types

coordinate_descent_tuning = coordinate_descent_check_all_directions = epilogue_fusion = fx_graph_cache = max_autotune = False
triton = types.SimpleNamespace(unique_kernel_names=False, cudagraphs=False, cudagraph_trees=True)
