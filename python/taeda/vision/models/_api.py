"""The names by which programs reach what registers models and weights."""

from ._weights import (  # noqa: F401
    _BUILDERS, Weights, WeightsEnum, get_model, get_model_builder, get_model_weights, get_weight, list_models)


def register_model(name=None):
    """A decorator for a function that makes a model: `get_model` finds it by its name."""
    def register(function):
        known = function.__name__ if name is None else name
        if known in _BUILDERS:
            raise ValueError(f"An entry is already registered under the name '{known}'.")
        _BUILDERS[known] = function, None
        return function
    return register
