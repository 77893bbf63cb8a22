"""How many floating-point operations a program's products, convolutions and attentions are."""

import ast
import math

from .. import _C
from .module_tracker import ModuleTracker
from .._core.warnings import warn

__all__ = ["FlopCounterMode"]


def _product(shapes, kind):
    """Of [out, a, b, bias]: 2 for each number of `out` and each place that is summed over."""
    out, left, bias = shapes[0], shapes[1], shapes[3] if len(shapes) > 3 else []
    name = "aten.bmm" if len(out) > 2 else "aten.addmm" if bias else "aten.mm"
    return name, 2 * math.prod(out) * left[-1]


def _convolution(shapes, backward):
    """Of [out, input, weight, bias]."""
    return _named(backward), 2 * math.prod(shapes[0]) * math.prod(shapes[2][1:])


def _convolution_of_outputs(shapes, backward):
    """Of [gradient of the input, that of the output, weight], or what a transposed convolution is."""
    return _named(backward), 2 * math.prod(shapes[1]) * math.prod(shapes[2][1:])


def _convolution_of_weights(shapes, backward):
    """Of [gradient of the weight, of the bias, input, gradient of the output]; PyTorch's number, which knows no groups."""
    weight, _, given, out = shapes
    return _named(backward), 2 * math.prod(weight[2:]) * given[1] * math.prod(out)


def _named(backward):
    return "aten.convolution_backward" if backward else "aten.convolution"


def _attention(shapes, backward):
    """Of [out, _, query, key, value]: two products."""
    query, key, value = shapes[2:5]
    return ("aten.scaled_dot_product_attention",
            2 * math.prod(query[:-1]) * key[-2] * (query[-1] + value[-1]))


def _attention_backward(shapes, backward):
    """Of gradients of [query, key, value]: five products, one of them for the second time."""
    query, key, value = shapes[:3]
    return ("aten.scaled_dot_product_attention_backward",
            2 * math.prod(query[:-1]) * key[-2] * (3 * query[-1] + 2 * value[-1]))


_COUNTED = {"matmul": _product, "convolution": _convolution, "convolution_input_grad": _convolution_of_outputs,
            "convolution_weight_grad": _convolution_of_weights, "scaled_dot_product_attention": _attention,
            "scaled_dot_product_attention_backward": _attention_backward}


class _Marks(ModuleTracker):
    """Writes into the profile when other modules run: `states` are the sets of names, by the numbers of the marks."""

    def __init__(self):
        super().__init__()
        self.states = [{"Global"}]

    def _changed(self):
        mark = _C._profiler.Range(f"{_MARK}{len(self.states)}")
        self.states.append(set(self.parents))
        mark.enter()
        mark.leave()


_MARK = "modules that run: "


class FlopCounterMode:
    """`with FlopCounterMode() as counter:` counts what runs in the block, backward passes too; behind it `get_total_flops()`
    gives the number, `get_flop_counts()` that of each operation, by modules ("Net", "Net.body.0") and under "Global", and
    `get_table()` a table of modules down to `depth`, which is printed unless `display` is False.

    What kernels computed is counted, as a profile tells it: also products in recurrent layers, `mv` and `dot`, which PyTorch
    leaves out. No profile may run meanwhile.
    """

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        if custom_mapping:
            raise NotImplementedError("custom_mapping: Taeda counts what its kernels compute")
        if mods is not None:
            warn("mods argument is not needed anymore, you can stop passing it")
        self.depth, self.display, self.flop_counts = depth, display, {}

    def __enter__(self):
        self.flop_counts, self._marks = {}, _Marks()
        self._profile = _C._profiler.Profile(True, False, True, False, False)
        self._profile.start()
        self._marks.__enter__()
        return self

    def __exit__(self, *error):
        self._marks.__exit__()
        self._profile.stop()
        self._count(self._profile.events(), self._marks.states)
        if self.display:
            print(self.get_table(self.depth))

    def _count(self, events, states):
        running = states[0]
        for event in sorted(events, key=lambda e: e.start):
            if event.name.startswith(_MARK):
                running = states[int(event.name[len(_MARK):])]
                continue
            outer = events[event.parent] if event.parent is not None and event.parent >= 0 else None
            count = _COUNTED.get(event.name)
            if count is None or not event.shapes or (outer is not None and outer.name in _COUNTED):
                continue
            name, flops = count(ast.literal_eval(event.shapes), outer is not None and "Backward" in outer.name)
            for module in running:
                counts = self.flop_counts.setdefault(module, {})
                counts[name] = counts.get(name, 0) + flops

    def get_total_flops(self):
        return sum(self.flop_counts.get("Global", {}).values())

    def get_flop_counts(self):
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth=None):
        depth, total, subsumed = self.depth if depth is None else depth, self.get_total_flops(), False
        unit, rows = _unit(total), []
        for module in sorted(self.flop_counts.keys() - {"Global"}):
            level = module.count(".")
            if depth is None or level < depth:
                rows += self._rows(module, level, unit, total)
                subsumed = subsumed or sum(self.flop_counts[module].values()) >= total
        if "Global" in self.flop_counts and not subsumed:
            rows = self._rows("Global", 0, unit, total) + [(" " + name, *cells) for name, *cells in rows]
        rows = [("Module", "FLOP", "% Total"), *(rows or [("Global", "0", "0%")])]
        widths = [max(map(len, column)) for column in zip(*rows)]
        rows.insert(1, tuple("-" * width for width in widths))
        return "\n".join("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths)))
                         for row in rows)

    def _rows(self, module, level, unit, total):
        counts = self.flop_counts[module]
        return [(" " * level + name, _short(flops, unit), f"{100 * flops / total:.2f}%" if total else "0%")
                for name, flops in [(module, sum(counts.values())), *((f" - {key}", flops) for key, flops in counts.items())]]


def _unit(number):
    """The power of 1000 that a number is shown in."""
    return min(len(str(max(number, 1))) - 1, 12) // 3


def _short(number, unit):
    """1.500K, 12.000M."""
    return f"{number / 1000 ** unit:.3f}{['', 'K', 'M', 'B', 'T'][unit]}" if unit else str(number)
