"""torch.fx: functions and modules as graphs that Python changes.

`symbolic_trace` runs a function or module once with proxies in the place of tensors, notes what is done with them as a
`Graph` of `Node`s, and gives a `GraphModule`: a module whose code is made from the graph, and made anew when the graph was
changed and `recompile()` called. It may be run, trained, copied and pickled as any other.

    traced = torch.fx.symbolic_trace(model)
    for node in traced.graph.nodes:
        if node.target is torch.relu:
            node.target = torch.nn.functional.gelu
    traced.recompile()
    print(traced.code)

| module | holds |
|---|---|
| `_symbolic_trace` | `Tracer`, which decides what becomes a node; `symbolic_trace`, `wrap`, `PH` |
| `proxy` | what stands for values meanwhile |
| `graph`, `node` | the steps, and which uses what |
| `_codegen` | a graph as the text of a function |
| `graph_module` | modules that run that code |
| `interpreter` | running a graph node by node: `Interpreter`, and `Transformer`, which makes a graph of what it does |
| `subgraph_rewriter` | `replace_pattern` |
| `passes`, `experimental` | `ShapeProp`; `fuse`, which puts batch norms into convolutions |

A graph is a straight line: what decides by a tensor's value (`if x.sum() > 0`, `len(x)`, `for row in x`) raises `TraceError`.
Values that are known while tracing, `concrete_args` among them, decide as ever.
"""

from . import graph, immutable_collections, node, passes, proxy  # noqa: F401
from ._symbolic_trace import PH, Tracer, symbolic_trace, wrap
from .graph import CodeGen, Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy, TraceError
from .subgraph_rewriter import replace_pattern

__all__ = ["PH", "Tracer", "symbolic_trace", "wrap", "CodeGen", "Graph", "GraphModule", "Interpreter", "Transformer", "Node",
           "has_side_effect", "map_arg", "Proxy", "TraceError", "replace_pattern"]


def __getattr__(name):
    if name == "experimental":
        import importlib
        return importlib.import_module(f"{__name__}.experimental")
    from .._core.missing import attribute
    return attribute(__name__, name)
