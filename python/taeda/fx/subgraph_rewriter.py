"""Replacing parts of a graph that do what a pattern does."""

import dataclasses
import typing

from .. import nn
from ._symbolic_trace import symbolic_trace
from .graph import Graph, _has_attribute
from .graph_module import GraphModule, _copy_attribute
from .node import Node, map_arg

__all__ = ["Match", "replace_pattern", "ReplacedPatterns", "replace_pattern_with_filters"]


class Match(typing.NamedTuple):
    """A place where the pattern was found: its last node, and each node of the pattern with its counterpart."""

    anchor: Node
    nodes_map: dict


@dataclasses.dataclass
class ReplacedPatterns:
    """A place that was replaced, with the nodes that came in."""

    anchor: Node
    nodes_map: dict
    replacements: list


def replace_pattern(gm, pattern, replacement):
    """Puts `replacement` wherever `gm` does what `pattern` does; both are functions, modules or graphs of the same inputs.

    Matches do not overlap, and nothing outside uses what is inside of one but for its result. Returns a Match for each.
    """
    return [Match(r.anchor, r.nodes_map) for r in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(gm, pattern, replacement, match_filters=None, ignore_literals=False):
    """As replace_pattern, at those places for which each filter(match, graph, pattern's graph) is true."""
    pattern_graph, replacement_graph = _graph_of(pattern), _graph_of(replacement)
    graph = gm.graph
    done, taken, renamed = [], set(), {}
    for match in _matches(graph, pattern_graph, ignore_literals):
        inside = {match.nodes_map[n] for n in pattern_graph.nodes if n.op not in ("placeholder", "output")}
        if inside & taken or not all(f(match, graph, pattern_graph) for f in match_filters or ()):
            continue
        taken |= inside
        done.append(_replace(graph, pattern_graph, replacement_graph, match, inside, renamed))
    gm.recompile()
    if isinstance(replacement, nn.Module):
        for node in replacement_graph.nodes:
            if node.op in ("call_module", "get_attr") and not _has_attribute(gm, node.target):
                _copy_attribute(replacement, gm, node.target)
    gm.delete_all_unused_submodules()
    gm.graph.lint()
    return done


def _graph_of(what):
    if isinstance(what, GraphModule):
        return what.graph
    return what if isinstance(what, Graph) else symbolic_trace(what).graph


def _results(pattern):
    """The nodes that a pattern returns."""
    found = []
    map_arg(pattern.output_node().args[0], lambda n: found.append(n) or n)
    return found


def _matches(graph, pattern, ignore_literals):
    results = _results(pattern)
    for node in list(graph.nodes):
        found = {}
        if node.op in ("placeholder", "output") or not _fits(results[0], node, found, ignore_literals):
            continue
        if len(results) > 1 and not _find_others(graph, results[1:], found, ignore_literals):
            continue
        if _is_closed(found, results):
            yield Match(found[results[0]], found)


def _find_others(graph, results, found, ignore_literals):
    for result in results:
        for node in graph.nodes:
            attempt = dict(found)
            if node not in found.values() and _fits(result, node, attempt, ignore_literals):
                found.update(attempt)
                break
        else:
            return False
    return True


def _is_closed(found, results):
    """Whether what is inside is used inside alone."""
    inside = set(found.values())
    return all(p.op == "placeholder" or p in results or all(user in inside for user in n.users) for p, n in found.items())


def _fits(p, n, found, ignore_literals):
    """Whether a node does what a node of the pattern does; notes counterparts in `found`."""
    if not isinstance(n, Node):
        return False
    if p in found:
        return found[p] is n
    if p.op == "placeholder":
        found[p] = n
        return True
    if p.op != n.op or (p.target != n.target and p.op != "get_attr" and not _same_kind_of_module(p, n)):
        return False
    if len(p.args) != len(n.args) or p.kwargs.keys() != n.kwargs.keys():
        return False
    found[p] = n
    pairs = [*zip(p.args, n.args), *((p.kwargs[k], n.kwargs[k]) for k in p.kwargs)]
    return all(_same(a, b, found, ignore_literals) for a, b in pairs)


def _same_kind_of_module(p, n):
    """Modules are the same if they are of one class and a pattern's module is found elsewhere in the graph's."""
    if p.op != "call_module" or p.graph.owning_module is None or n.graph.owning_module is None:
        return False
    return type(p.graph.owning_module.get_submodule(p.target)) is type(n.graph.owning_module.get_submodule(n.target))


def _same(a, b, found, ignore_literals):
    if isinstance(a, Node):
        if a.op == "placeholder" and not isinstance(b, Node):
            if a in found:
                return found[a] == b
            found[a] = b  # a number where the pattern has an input
            return True
        return _fits(a, b, found, ignore_literals)
    if isinstance(a, (tuple, list)):
        return isinstance(b, (tuple, list)) and len(a) == len(b) and all(
            _same(x, y, found, ignore_literals) for x, y in zip(a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_same(a[k], b[k], found, ignore_literals) for k in a)
    return not isinstance(b, Node) and (ignore_literals or (type(a) is type(b) and a == b))


def _replace(graph, pattern, replacement, match, inside, renamed):
    results = [match.nodes_map[r] for r in _results(pattern)]
    inputs = [match.nodes_map[n] for n in pattern.nodes if n.op == "placeholder"]
    # An earlier replacement may have taken the place of an input.
    inputs = [renamed.get(i, i) if isinstance(i, Node) else i for i in inputs]
    values = dict(zip((n for n in replacement.nodes if n.op == "placeholder"), inputs))
    first = next(n for n in graph.nodes if n in set(results))
    with graph.inserting_before(first):
        before = {n for n in graph.nodes}
        returned = graph.graph_copy(replacement, values)
    made = [n for n in graph.nodes if n not in before]
    new = []
    map_arg(returned, lambda n: new.append(n) or n)
    for old, now in zip(results, new):
        old.replace_all_uses_with(now)
        renamed[old] = now
    for node in reversed(list(graph.nodes)):
        if node in inside and not node.users:
            graph.erase_node(node)
    return ReplacedPatterns(match.anchor, match.nodes_map, made)
