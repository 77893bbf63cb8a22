"""Parameters as one vector, and back."""

from ... import _C


def parameters_to_vector(parameters):
    """The elements of all parameters in one vector.

    Shapes: any, of n elements together, to [n]; all must lie on one device, else TypeError.

    >>> nn.utils.parameters_to_vector([torch.ones(2), torch.zeros(1, 1)])
    tensor([1., 1., 0.])
    """
    return _C.cat([param.view(-1) for param in _on_one_device(parameters)])


def vector_to_parameters(vec, parameters):
    """Gives parameters the elements of a vector, as views of it.

    Shapes: [n] and parameters of any shapes, of n elements together; a vec that is no tensor is a TypeError.

    >>> w = torch.zeros(2, 1)
    >>> nn.utils.vector_to_parameters(torch.tensor([1.0, 2.0]), [w])
    >>> w
    tensor([[1.],
            [2.]])
    """
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
