"""Parameters as one vector, and back."""

from ... import _C


def parameters_to_vector(parameters):
    """All elements of all parameters, one behind the other."""
    return _C.cat([param.view(-1) for param in _on_one_device(parameters)])


def vector_to_parameters(vec, parameters):
    """Gives parameters the elements of a vector, as views of it."""
    if not isinstance(vec, _C.TensorBase):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    offset = 0
    for param in _on_one_device(parameters):
        n = param.numel()
        param.data = vec[offset:offset + n].view_as(param).data
        offset += n


def _on_one_device(parameters):
    device = None
    for param in parameters:
        if device is not None and param.device != device:
            raise TypeError("Found two parameters on different devices, this is currently not supported.")
        device = param.device
        yield param
