"""What is computed inside a network, as outputs: its graph is traced (torch.fx) and cut behind the nodes that are asked for."""

import copy
import re

from ...fx import Graph, GraphModule, Tracer
from ..._core.warnings import warn

__all__ = ["create_feature_extractor", "get_graph_node_names"]

_NUMBERED = re.compile(r"(.+)_[0-9]+$")


class _NamedTracer(Tracer):
    """Notes in each node's `meta` the path of the module that it is in, with the operation's name behind it unless it is a
    module that is called."""

    def trace(self, root, concrete_args=None):
        self._counts = {}
        return super().trace(root, concrete_args)

    def create_node(self, kind, target, *args, **kwargs):
        node = super().create_node(kind, target, *args, **kwargs)
        path = next(reversed(self.module_stack), "")
        if kind != "call_module":
            found = _NUMBERED.fullmatch(str(node))
            path = f"{path}.{found[1] if found else node}".lstrip(".")
        count = self._counts[path] = self._counts.get(path, -1) + 1
        node.meta["path"] = f"{path}_{count}" if count else path
        return node


def _traced(model, training, tracer_kwargs, concrete_args):
    """The graph of a model in one of its modes, in which it was not before perhaps and will not be."""
    before = {module: module.training for module in model.modules()}
    model.train(training)
    try:
        return _NamedTracer(**(tracer_kwargs or {})).trace(model, concrete_args)
    finally:
        for module, mode in before.items():
            module.training = mode


def _both(model, tracer_kwargs, concrete_args):
    if tracer_kwargs and "leaf_modules" in tracer_kwargs:
        raise NotImplementedError("tracer_kwargs['leaf_modules']: derive a torch.fx.Tracer instead")
    return [_traced(model, training, tracer_kwargs, concrete_args) for training in (True, False)]


def _names(graph):
    return [node.meta["path"] for node in graph.nodes if node.op != "output"]


def get_graph_node_names(model, tracer_kwargs=None, suppress_diff_warning=False, concrete_args=None):
    """The names of a network's nodes in training and in evaluation: "layer1.0.conv1", "layer1.0.add", "layer1.0.relu_1"."""
    train, evaluated = map(_names, _both(model, tracer_kwargs, concrete_args))
    if train != evaluated and not suppress_diff_warning:
        warn("The nodes obtained by tracing the model in eval mode are not those of train mode. When choosing nodes "
             "for feature extraction, you may need to specify output nodes for train and eval mode separately.")
    return train, evaluated


def _order_as(module, root):
    """Puts modules in the order that they have in another one."""
    for name, child in root.named_children():
        if name in module._modules:
            mine = module._modules.pop(name)
            module._modules[name] = mine
            if mine is not child:
                _order_as(mine, child)


class _DualGraphModule(GraphModule):
    """A graph for training and one for evaluation."""

    def __init__(self, root, train, evaluated, class_name):
        whole = Graph()  # so that the module has the parts of both
        for graph in (train, evaluated):
            for node in graph.nodes:
                if node.op in ("call_module", "get_attr"):
                    whole.create_node(node.op, node.target)
        whole.output(None)
        super().__init__(root, whole, class_name)
        _order_as(self, root)
        self.__dict__["_graphs"] = {True: train, False: evaluated}
        self.train(root.training)

    def train(self, mode=True):
        made = super().train(mode)
        self.graph = copy.deepcopy(self._graphs[mode])
        return made


def _cut(graph, wanted):
    """The graph with a dict of the nodes that `wanted` names as its result, and without what that needs not."""
    found = {}
    for node in graph.nodes:  # the last in a module is what the module gives
        path = node.meta.get("path", "")
        for name in wanted:
            if node.op != "output" and (path == name or path.startswith(name + ".")):
                found[name] = node
    for name in wanted:
        if name not in found:
            raise ValueError(f"node: '{name}' is not present in model. Hint: use `get_graph_node_names` to make sure the "
                             "`return_nodes` you specified are present. It may even be that you need to specify "
                             "`train_return_nodes` and `eval_return_nodes` separately.")
    for node in list(graph.nodes):
        if node.op == "output":
            graph.erase_node(node)
    graph.output({wanted[name]: node for name, node in found.items()})
    graph.eliminate_dead_code()
    return graph


def create_feature_extractor(model, return_nodes=None, train_return_nodes=None, eval_return_nodes=None, tracer_kwargs=None,
                             suppress_diff_warning=False, concrete_args=None):
    """A module over the network's own parts that gives a dict of what nodes give: `return_nodes` lists their names, or the
    names of modules, whose last node is meant, or maps these to keys of the dict.

    `train_return_nodes` and `eval_return_nodes` differ where the network does. ValueError for a name that the graph has not.
    """
    if all(nodes is None for nodes in (return_nodes, train_return_nodes, eval_return_nodes)):
        raise ValueError("Either `return_nodes` or `train_return_nodes` and `eval_return_nodes` together, should be specified")
    if (train_return_nodes is None) != (eval_return_nodes is None):
        raise ValueError("If any of `train_return_nodes` and `eval_return_nodes` are specified, then both should be specified")
    if (return_nodes is None) == (train_return_nodes is None):
        raise ValueError("If `train_return_nodes` and `eval_return_nodes` are specified, then both should be specified")
    nodes = [return_nodes] * 2 if return_nodes is not None else [train_return_nodes, eval_return_nodes]
    nodes = [dict(n) if isinstance(n, dict) else {str(name): str(name) for name in n} for n in nodes]
    graphs = _both(model, tracer_kwargs, concrete_args)
    if return_nodes is not None and _names(graphs[0]) != _names(graphs[1]) and not suppress_diff_warning:
        warn("The nodes obtained by tracing the model in eval mode are not those of train mode.")
    return _DualGraphModule(model, *(_cut(graph, n) for graph, n in zip(graphs, nodes)), type(model).__name__)
