"""torch.optim."""

import sys as _sys

from .._core.missing import modules_of_classes as _modules_of_classes
from . import functional, lr_scheduler, swa_utils
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .rules import (SGD, ASGD, Adadelta, Adafactor, Adagrad, Adam, Adamax, AdamW, AdEMAMix, Lion, Muon, NAdam, RAdam,
                    RMSprop, Rprop, SparseAdam)

__all__ = ["ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdEMAMix", "AdamW", "Adamax", "LBFGS", "Lion", "Muon", "NAdam",
           "Optimizer", "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler", "swa_utils"]

_modules_of_classes(_sys.modules[__name__], {"sparse_adam": "SparseAdam", "_muon": "Muon", "_adafactor": "Adafactor", **{
    name.lower(): name for name in (
        "ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD")}})
for _name in functional.__all__:
    setattr(_sys.modules[f"{__name__}.{_name}"], _name, getattr(functional, _name))
