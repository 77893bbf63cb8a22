"""torch.distributed.checkpoint: the state of a model by the names that it has unwrapped. Nothing here writes files."""
