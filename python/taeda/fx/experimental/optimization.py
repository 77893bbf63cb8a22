"""Making models faster at inference."""

import copy

from ... import nn
from ...nn.utils.fusion import fuse_conv_bn_eval
from .._symbolic_trace import symbolic_trace
from ..graph_module import GraphModule
from ..node import Node

__all__ = ["matches_module_pattern", "replace_node_module", "fuse", "remove_dropout", "extract_subgraph"]

_PAIRS = [(nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d)]


def matches_module_pattern(pattern, node, modules):
    """Whether a node calls a module of the second class of what a call of the first class gives."""
    if not node.args:
        return False
    for expected, at in zip(pattern, (node.args[0], node)):
        if not isinstance(at, Node) or at.op != "call_module" or type(modules.get(at.target)) is not expected:
            return False
    return True


def replace_node_module(node, modules, new_module):
    """Puts another module in the place of the one that a node calls."""
    parent, _, name = node.target.rpartition(".")
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model, inplace=False, no_trace=False):
    """A GraphModule of a model in evaluation mode whose batch norms are part of the convolutions before them."""
    if not inplace:
        model = copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    for pattern in _PAIRS:
        for node in list(traced.graph.nodes):
            if not matches_module_pattern(pattern, node, modules) or len(node.args[0].users) > 1:
                continue
            conv, norm = modules[node.args[0].target], modules[node.target]
            if not norm.track_running_stats:
                continue
            replace_node_module(node.args[0], modules, fuse_conv_bn_eval(conv, norm))
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    traced.recompile()
    return GraphModule(traced, traced.graph)


def remove_dropout(model):
    """The model without its modules of the class Dropout."""
    traced = symbolic_trace(model)
    modules = dict(traced.named_modules())
    for node in list(traced.graph.nodes):
        if node.op == "call_module" and type(modules[node.target]) is nn.Dropout:
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    traced.recompile()
    return GraphModule(traced, traced.graph)


def extract_subgraph(orig_module, nodes, inputs, outputs):
    """A GraphModule of some nodes of a module's graph, from values that other nodes gave to those that are returned."""
    from ..graph import Graph
    graph, made = Graph(), {}
    for node in inputs:
        made[node] = graph.placeholder(node.name)
    for node in nodes:
        made[node] = graph.node_copy(node, lambda n: made[n])
    graph.output([made[n] for n in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)
