"""Functions of torch that are written in Python, a file for each family; the others are the extension's own.

A family has functions (`__all__`), methods of tensors (`Methods`) and `SIGNATURES`: {name of an operation: function}. These an
operation asks when no signature of its own fits a call, so they cost other calls nothing. A function gets what the operation
got, a method's tensor first, and gives NotImplemented where the call is wrong in PyTorch, too.
"""

import types

from .. import _C
from .._core.documented import borrow
from .._tensor import Tensor
from . import create, elementwise, index, kinds, linalg, lists, memory, nn, random, reduce, shape, sparse, spectral
from .written import fitting

FAMILIES = create, elementwise, index, kinds, linalg, lists, memory, nn, random, reduce, shape, sparse, spectral

# {name: function of torch}
FUNCTIONS = {name: getattr(family, name) for family in FAMILIES for name in family.__all__}

for _value in FUNCTIONS.values():
    if getattr(_value, "__module__", "").startswith(__name__):  # where programs and their pickles find it
        _value.__module__ = "taeda"
borrow(FUNCTIONS, _C)
for _family in FAMILIES:
    _methods = {name: method for name, method in vars(getattr(_family, "Methods", object)).items()
                if isinstance(method, types.FunctionType)}
    borrow(_methods, types.SimpleNamespace(**{name: FUNCTIONS.get(name) or getattr(_C, name, None) for name in _methods}))
    for _name, _value in _methods.items():
        _value.__qualname__ = f"Tensor.{_name}"
        setattr(Tensor, _name, _value)
_C._set_more_signatures({name: fitting(function) for family in FAMILIES
                         for name, function in getattr(family, "SIGNATURES", {}).items()})
