"""torch.nn."""

from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from .modules import *  # noqa: F403
from . import attention, functional, grad, init, modules, parameter, utils

from .modules import Module
from .parallel import DataParallel
