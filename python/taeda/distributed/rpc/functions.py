"""Functions that give futures."""

import functools


def async_execution(fn):
    """For a function that returns a torch.futures.Future: its caller gets the value, when it is there, and the thread that
    ran the function runs others meanwhile."""
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)
    wrapper._wrapped_async_rpc_function = fn
    return wrapper
