"""The graph of a module written in Python: the modules around its operations, found by running it once."""

from ... import _C


def _stands(model):
    """For each module of the tree what stands for it on the library's side."""
    found = {}
    for path, module in model.named_modules():
        stand = (_C._Stand if path else _C._Root)(type(module).__name__)
        for name, parameter in module.named_parameters(recurse=False):
            stand.add_parameter(name, parameter)
        found[path] = module, stand
        if path:
            parent, _, name = path.rpartition(".")
            found[parent][1].add_child(name, stand)
    return found


def draw(writer, model, inputs):
    """Adds the graph of `model`, called on a tensor or a sequence of tensors, to the writer's file."""
    inputs = [inputs] if isinstance(inputs, _C.TensorBase) else list(inputs)
    stands = _stands(model)
    training = {path: module.training for path, (module, _) in stands.items()}
    wrapped = []
    try:
        model.eval()
        for path, (module, stand) in stands.items():
            if path:
                _wrap(module, stand)
                wrapped.append(module)
        writer.add_graph(stands[""][1], lambda given: model(*given), inputs)
    finally:
        for module in wrapped:
            del module.__dict__["forward"]
        for path, (module, _) in stands.items():
            module.training = training[path]


def _wrap(module, stand):
    """Has the module's forward run as a call of what stands for it."""
    forward = module.forward
    module.__dict__["forward"] = lambda *args, **kwargs: stand.call(lambda: forward(*args, **kwargs))
