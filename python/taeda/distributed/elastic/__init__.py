"""torch.distributed.elastic: the names that programs started by torchrun import."""
