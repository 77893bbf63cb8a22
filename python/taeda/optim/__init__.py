"""torch.optim."""

from . import lr_scheduler, swa_utils
from .elementwise import ASGD, Adadelta, Adafactor, Adamax, Muon, NAdam, RAdam, Rprop, SparseAdam
from .fused import SGD, Adagrad, Adam, AdamW, RMSprop
from .lbfgs import LBFGS
from .optimizer import Optimizer

__all__ = ["ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer",
           "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler", "swa_utils"]
