"""Settings of a compiler that Taeda has not; programs may set any, and read those that are set most."""

cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = 256
suppress_errors = verbose = False
automatic_dynamic_shapes = assume_static_by_default = True
capture_scalar_outputs = capture_dynamic_output_shape_ops = optimize_ddp = False
