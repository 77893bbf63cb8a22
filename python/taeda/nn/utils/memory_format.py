"""Memory orders of convolutions' weights."""


def _convert(module, memory_format, dims):
    from ..modules import conv
    known = tuple(getattr(conv, f"{kind}{dims}d") for kind in ("Conv", "ConvTranspose"))
    if isinstance(module, known):
        module.weight.data = module.weight.detach().clone().contiguous(memory_format=memory_format)
    for child in module.children():
        _convert(child, memory_format, dims)
    return module


def convert_conv2d_weight_memory_format(module, memory_format):
    """Has the weights [out, in, H, W] of the Conv2d and ConvTranspose2d in a module in that memory order; gives the module.

    >>> layer = nn.utils.convert_conv2d_weight_memory_format(nn.Conv2d(2, 3, 3), torch.channels_last)
    >>> layer.weight.is_contiguous(memory_format=torch.channels_last)
    True
    """
    return _convert(module, memory_format, 2)


def convert_conv3d_weight_memory_format(module, memory_format):
    """Has the weights [out, in, D, H, W] of the Conv3d and ConvTranspose3d in a module in that memory order; gives the module.

    >>> layer = nn.utils.convert_conv3d_weight_memory_format(nn.Conv3d(2, 3, 3), torch.channels_last_3d)
    >>> layer.weight.is_contiguous(memory_format=torch.channels_last_3d)
    True
    """
    return _convert(module, memory_format, 3)
