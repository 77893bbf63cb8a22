"""Gradients compressed to matrices of low rank (Vogels, Karimireddy, Jaggi: PowerSGD, NeurIPS 2019)."""

from .... import _C


class PowerSGDState:
    """What the hook remembers from pass to pass. Ranks make it with the same arguments."""

    def __init__(self, process_group=None, matrix_approximation_rank=1, start_powerSGD_iter=1000, min_compression_rate=2,
                 use_error_feedback=True, warm_start=True, orthogonalization_epsilon=0, random_seed=0,
                 compression_stats_logging_frequency=10000, batch_tensors_with_same_shape=False):
        self.process_group, self.matrix_approximation_rank = process_group, matrix_approximation_rank
        self.start_powerSGD_iter, self.min_compression_rate = start_powerSGD_iter, min_compression_rate
        self._state = _C._distributed.PowerSGDState(process_group, matrix_approximation_rank, start_powerSGD_iter,
                                                    min_compression_rate, use_error_feedback, warm_start,
                                                    orthogonalization_epsilon, random_seed)


def powerSGD_hook(state, bucket):
    """For register_comm_hook(PowerSGDState(...), powerSGD_hook), which calls what the library has."""
    raise RuntimeError("powerSGD_hook is called by DistributedDataParallel alone")
