"""A switch for tensors that are made without values: Taeda leaves them as they are, whatever it says."""

fill_uninitialized_memory = True
