"""The state of a model by the names that it has without what wraps modules; no tensor of it lies on several processes."""

import dataclasses

from .. import broadcast_object_list, get_rank, is_initialized
from ..._dynamo import OptimizedModule
from ...nn.parallel import DistributedDataParallel

__all__ = ["StateDictOptions", "get_model_state_dict", "set_model_state_dict"]


@dataclasses.dataclass
class StateDictOptions:
    """What a state has, and where it goes.

    full_state_dict: nothing changes, because all tensors are whole
    cpu_offload: tensors go to the host, with full_state_dict those of rank 0 alone
    ignore_frozen_params: parameters that want no gradient are left out
    keep_submodule_prefixes: whether names of `submodules` begin at the model
    strict: whether names that are missing or too many are errors
    broadcast_from_rank0: all processes set what rank 0 was given, which wants full_state_dict

    >>> from torch.distributed.checkpoint.state_dict import StateDictOptions
    >>> StateDictOptions(cpu_offload=True).strict
    True
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"

    def _checked(self):
        if self.broadcast_from_rank0 and not self.full_state_dict:
            raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
        return self


def _wrapped(module):
    """The name by which a module that wraps another one has it, or nothing."""
    return {DistributedDataParallel: "module", OptimizedModule: "_orig_mod"}.get(type(module), "")


def _plain_names(model):
    """{name in the model's own state: its name without what wraps modules}"""
    wraps = [(path + "." if path else "", part) for path, module in model.named_modules() if (part := _wrapped(module))]

    def plain(name):
        for before, part in reversed(wraps):  # inner ones first: the outer ones' names still hold
            if name.startswith(f"{before}{part}."):
                name = before + name[len(before) + len(part) + 1:]
        return name
    return {name: plain(name) for name in model.state_dict()}


def get_model_state_dict(model, *, submodules=None, options=None):
    """The parameters and buffers of a model by their plain names.

    submodules: a set of modules within it, to take theirs alone
    options: StateDictOptions

    >>> from torch.distributed.checkpoint.state_dict import get_model_state_dict
    >>> list(get_model_state_dict(torch.compile(torch.nn.Linear(1, 1))))
    ['weight', 'bias']
    """
    options = (options or StateDictOptions())._checked()
    names, state = _plain_names(model), model.state_dict()
    if options.ignore_frozen_params:
        frozen = {name for name, parameter in model.named_parameters(remove_duplicate=False) if not parameter.requires_grad}
        state = {name: value for name, value in state.items() if name not in frozen}
    state = {names[name]: value for name, value in state.items()}
    if submodules:
        prefixes = [path + "." for path, module in model.named_modules() if module in submodules]
        state = {name if options.keep_submodule_prefixes else name[len(prefix):]: value
                 for prefix in prefixes for name, value in state.items() if name.startswith(prefix)}
    if not options.cpu_offload:
        return state
    if options.full_state_dict and is_initialized() and get_rank():
        return {}
    return {name: value.cpu() if hasattr(value, "cpu") else value for name, value in state.items()}


def set_model_state_dict(model, model_state_dict, *, options=None):
    """Loads what get_model_state_dict gave, and returns what Module.load_state_dict does.

    model_state_dict: {plain name: tensor}
    options: StateDictOptions

    >>> from torch.distributed.checkpoint.state_dict import get_model_state_dict, set_model_state_dict
    >>> set_model_state_dict(torch.compile(torch.nn.Linear(1, 1)), get_model_state_dict(torch.nn.Linear(1, 1)))
    <All keys matched successfully>
    """
    options = (options or StateDictOptions())._checked()
    if options.broadcast_from_rank0 and is_initialized():
        sent = [model_state_dict]
        broadcast_object_list(sent, src=0)
        model_state_dict = sent[0]
    if not model_state_dict:
        return model.load_state_dict({}, strict=False)
    own = {plain: name for name, plain in _plain_names(model).items()}
    state = {own.get(name, name): value for name, value in model_state_dict.items()}
    return model.load_state_dict(state, strict=options.strict)
