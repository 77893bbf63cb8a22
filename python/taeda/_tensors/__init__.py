"""What belongs to the class Tensor beside its methods."""
