"""What programs are written with beside tensors and modules: data, checkpoints, TensorBoard."""
