"""torch.autograd.profiler: the older names of torch.profiler."""

from ..profiler.profiler import EventList, ProfilerActivity, record_function  # noqa: F401
from ..profiler.profiler import profile as _profile


class profile(_profile):
    """Records in a `with` block, if `enabled`."""

    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, record_shapes=False, with_flops=False,
                 profile_memory=False, with_stack=False, with_modules=False, use_kineto=True, use_cpu=True,
                 experimental_config=None, acc_events=False, custom_trace_id_callback=None):
        device = use_cuda or use_device is not None
        activities = ([ProfilerActivity.CPU] if use_cpu else []) + ([ProfilerActivity.CUDA] if device else [])
        super().__init__(activities=activities, record_shapes=record_shapes, profile_memory=profile_memory,
                         with_modules=with_modules)
        self.enabled = enabled

    def __enter__(self):
        return super().__enter__() if self.enabled else self

    def __exit__(self, *error):
        if self.enabled:
            super().__exit__(*error)


class emit_nvtx:
    """Marks for NVIDIA's tools: accepted, and without effect."""

    def __init__(self, enabled=True, record_shapes=False):
        self.enabled = enabled

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None
