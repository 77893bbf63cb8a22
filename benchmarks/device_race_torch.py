#!/usr/bin/env python3
"""PyTorch's side of the race on a device: the cases of device_race.cpp, with the same names, shapes, seeds
and lines of JSON. Run by device_race.py."""
import argparse
import json
import math
import os
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

SETS = 3
DTYPES = {"float": (torch.float32, False), "tf32": (torch.float32, True), "half": (torch.float16, False),
          "bfloat16": (torch.bfloat16, False)}
LAYERS = {"resnet_stem": (64, 3, 64, 224, 7, 2, 3), "resnet_56": (64, 64, 64, 56, 3, 1, 1),
          "resnet_14": (64, 256, 256, 14, 3, 1, 1), "lenet_1": (1000, 1, 6, 28, 5, 1, 0)}


def digest(result):
    flat = result.detach().reshape(-1)
    n = flat.numel()
    some = flat[::max(1, n // 4096)].contiguous().cpu().double()
    count = some.numel()
    shown = [some[i * count // 8 % count].item() for i in range(min(8, count))] if count else []
    return [some.abs().mean().item() if count else 0.0] + shown


class Race:
    def __init__(self, args):
        self.args, self.device = args, torch.device(args.device)
        self.cuda = self.device.type == "cuda"
        self.drawn = {}

    def size(self, full, cpu, tiny):
        return {"full": full, "cpu": cpu, "tiny": tiny}[self.args.sizes]

    def randn(self, s, which, sizes, dtype=torch.float32):
        key = (s, which, tuple(sizes))
        if key not in self.drawn:
            if len(self.drawn) >= 12:
                self.drawn.clear()
            torch.manual_seed(1000 * s + which)
            self.drawn[key] = torch.randn(sizes)
        return self.drawn[key].to(self.device, dtype, copy=True)

    def randint(self, s, which, high, sizes):
        torch.manual_seed(1000 * s + which)
        return torch.randint(0, high, sizes).to(self.device)

    def wants(self, name):
        return not self.args.filter or any(name == f[1:] if f.startswith("=") else f in name for f in self.args.filter)

    def run(self, name, make, comparable=True):
        if not self.wants(name):
            return
        if self.args.list:
            print(json.dumps({"name": name}))
            return
        try:
            self.race(name, make, comparable)
        except (RuntimeError, TypeError) as error:  # not implemented for this dtype on the CPU, say
            print(json.dumps({"name": name, "error": str(error).split("\n")[0]}), flush=True)

    def race(self, name, make, comparable):
        if self.cuda:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        steps = [make(s) for s in range(SETS)]
        shown = []
        for step in steps:  # one by one: the replays of a graph write one result
            result = step()
            shown += [digest(result)] if comparable else []
        del result
        print(json.dumps({"name": name, "digest": shown}), flush=True)
        while not self.args.interactive or self.wanted():
            samples = self.measure(steps)
            peak = torch.cuda.max_memory_allocated() / 1e6 if self.cuda else 0
            print(json.dumps({"name": name, "median_us": samples[len(samples) // 2], "min_us": samples[0],
                              "samples": len(samples), "peak_mb": peak}), flush=True)
            if not self.args.interactive:
                return

    @staticmethod
    def wanted():
        """Whether the other end asks for the time of the case."""
        word = sys.stdin.readline()
        if not word:
            sys.exit(1)  # nobody is left to ask
        return word.strip() == "time"

    def measure(self, steps):
        position = 0

        def batch_time(n):
            nonlocal position
            if self.cuda:
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
            start = time.perf_counter()
            for _ in range(n):
                steps[position % SETS]()
                position += 1
            if not self.cuda:
                return (time.perf_counter() - start) * 1e6
            end.record()
            end.synchronize()
            return begin.elapsed_time(end) * 1e3

        n = SETS
        while batch_time(n) < 2000 and n < 1 << 16:
            n *= 2
        samples, spent = [], 0.0
        # Five samples, unless they take seconds.
        while spent < self.args.seconds * 1e6 or (len(samples) < 5 and spent < 2e6):
            t = batch_time(n)
            spent += t
            samples.append(t / n)
        return sorted(samples)


def unary(r, name, sizes, dtype, f, comparable=True):
    def make(s):
        x = r.randn(s, 0, sizes, dtype)
        return lambda: f(x)
    r.run(name, make, comparable)


def elementwise(r):
    n = r.size(1 << 26, 1 << 22, 1 << 12)

    def copy(s):
        x = r.randn(s, 0, [n])
        y = torch.empty_like(x)
        return lambda: y.copy_(x)
    r.run("elementwise/copy", copy)

    def add(dtype, size=n):
        def make(s):
            x, y = r.randn(s, 0, [size], dtype), r.randn(s, 1, [size], dtype)
            return lambda: x + y
        return make
    r.run("elementwise/add", add(torch.float32))
    r.run("elementwise/add_half", add(torch.float16))
    r.run("elementwise/add_bfloat16", add(torch.bfloat16))
    for name, f in (("mul_scalar", lambda x: x * 2.5), ("relu", torch.relu), ("exp", torch.exp),
                    ("tanh", torch.tanh), ("gelu", F.gelu)):
        unary(r, "elementwise/" + name, [n], torch.float32, f)
    unary(r, "elementwise/gelu_half", [n], torch.float16, F.gelu)
    unary(r, "cast/float_to_half", [n], torch.float32, lambda x: x.half())
    unary(r, "cast/half_to_float", [n], torch.float16, lambda x: x.float())
    unary(r, "cast/float_to_bfloat16", [n], torch.float32, lambda x: x.bfloat16())

    def inplace(s):
        x, y = r.randn(s, 0, [n]), r.randn(s, 1, [n])
        return lambda: x.add_(y, alpha=1e-9)
    r.run("elementwise/add_inplace", inplace)
    unary(r, "random/dropout", [n], torch.float32, lambda x: torch.dropout(x, 0.5, True), False)
    r.run("overhead/add_1", add(torch.float32, 1))


def reductions(r):
    rows, columns = r.size(8192, 2048, 32), r.size(8192, 2048, 48)
    for name, f in (("sum", lambda x: x.sum()), ("sum_dim0", lambda x: x.sum(0)), ("sum_dim1", lambda x: x.sum(1)),
                    ("max_dim1", lambda x: x.max(1)[0]), ("argmax_dim1", lambda x: x.argmax(1))):
        unary(r, "reduce/" + name, [rows, columns], torch.float32, f)
    unary(r, "reduce/sum_half", [rows, columns], torch.float16, lambda x: x.sum(1))
    width = r.size(4096, 1024, 40)
    unary(r, "rows/softmax", [rows, width], torch.float32, lambda x: x.softmax(1))
    unary(r, "rows/softmax_half", [rows, width], torch.float16, lambda x: x.softmax(1))
    unary(r, "rows/log_softmax", [rows, width], torch.float32, lambda x: x.log_softmax(1))

    def norm(s, backward=False):
        x, w, b = r.randn(s, 0, [rows, width]), r.randn(s, 1, [width]), r.randn(s, 2, [width])
        if not backward:
            return lambda: F.layer_norm(x, [width], w, b)
        for t in (x, w, b):
            t.requires_grad_()
        g = r.randn(s, 3, [rows, width])
        y = F.layer_norm(x, [width], w, b)
        return lambda: torch.autograd.grad([y], [x, w, b], [g], retain_graph=True)[0]
    r.run("rows/layer_norm", norm)
    r.run("rows/layer_norm_backward", lambda s: norm(s, True))
    batch, classes = r.size(4096, 512, 24), r.size(32768, 8192, 50)

    def entropy(s):
        x, y = r.randn(s, 0, [batch, classes]).requires_grad_(), r.randint(s, 1, classes, [batch])
        return lambda: torch.autograd.grad(F.cross_entropy(x, y), x)[0]
    r.run("rows/cross_entropy_forward_backward", entropy)


def indexing(r):
    words, width, n = r.size(50000, 20000, 60), r.size(512, 256, 8), r.size(65536, 8192, 100)

    def case(name, index_sizes, call):
        def make(s):
            w, i = r.randn(s, 0, [words, width]), r.randint(s, 1, words, index_sizes)
            return call(w, i, s)
        r.run(name, make)

    def embedding_backward(w, i, s):
        w.requires_grad_()
        g, y = r.randn(s, 2, [n, width]), F.embedding(i, w)
        return lambda: torch.autograd.grad([y], [w], [g], retain_graph=True)[0]
    case("index/embedding", [n], lambda w, i, s: lambda: F.embedding(i, w))
    case("index/embedding_backward", [n], embedding_backward)
    case("index/index_select", [n], lambda w, i, s: lambda: w.index_select(0, i))
    case("index/gather", [n, width], lambda w, i, s: lambda: w.gather(0, i))

    def scatter(s):
        x, i = r.randn(s, 0, [n, width]), r.randint(s, 1, words, [n, width])
        zero = torch.zeros(words, width, device=r.device)
        return lambda: zero.scatter_add(0, i, x)
    r.run("index/scatter_add", scatter)
    unary(r, "sort/one_row", [r.size(1 << 24, 1 << 20, 1 << 10)], torch.float32, lambda x: x.sort()[0])
    rows, columns = r.size(4096, 1024, 16), r.size(4096, 1024, 32)
    unary(r, "sort/rows", [rows, columns], torch.float32, lambda x: x.sort(1)[0])
    unary(r, "sort/topk", [rows, columns], torch.float32, lambda x: x.topk(10, 1)[0])
    unary(r, "sort/cumsum", [rows, columns], torch.float32, lambda x: x.cumsum(1))


def products(r):
    def mm(m, n, k):
        for kind, (dtype, tf32) in DTYPES.items():
            torch.backends.cuda.matmul.allow_tf32 = tf32

            def make(s):
                a, b = r.randn(s, 0, [m, k], dtype), r.randn(s, 1, [k, n], dtype)
                return lambda: a.mm(b)
            r.run(f"matmul/{m}x{n}x{k}_{kind}", make)
    large, middle = r.size(4096, 1024, 48), r.size(1024, 256, 32)
    mm(large, large, large)
    mm(middle, middle, middle)
    mm(r.size(64, 64, 8), large, large)
    torch.backends.cuda.matmul.allow_tf32 = False
    for n in (r.size(1000, 500, 24), r.size(10000, 1500, 40)):
        def product(s):
            a, b = r.randn(s, 0, [n, n]), r.randn(s, 1, [n, n])
            return lambda: a.mm(b)
        r.run(f"seed/product_{n}", product)
    batch, t, d = r.size(128, 8, 4), r.size(512, 256, 16), 64
    for kind in ("float", "half"):
        dtype = DTYPES[kind][0]

        def make(s):
            a, b = r.randn(s, 0, [batch, t, d], dtype), r.randn(s, 1, [batch, d, t], dtype)
            return lambda: a.bmm(b)
        r.run("matmul/batched_" + kind, make)


def convolutions(r):
    for layer, shape in LAYERS.items():
        batch, cin, cout, size, kernel, stride, padding = shape
        batch = r.size(batch, batch // 8, 2)
        if r.args.sizes == "tiny":
            cin, cout, size = min(cin, 4), 4, 14
        for kind in ("float", "half"):
            dtype = DTYPES[kind][0]

            def operands(s):
                return r.randn(s, 0, [batch, cin, size, size], dtype), r.randn(s, 1, [cout, cin, kernel, kernel], dtype)

            def forward(s):
                x, w = operands(s)
                return lambda: F.conv2d(x, w, None, stride, padding)

            def gradient(of_input):
                def make(s):
                    x, w = operands(s)
                    of = (x if of_input else w).requires_grad_()
                    y = F.conv2d(x, w, None, stride, padding)
                    g = torch.ones_like(y)
                    return lambda: torch.autograd.grad([y], [of], [g], retain_graph=True)[0]
                return make
            name = f"conv/{layer}_{kind}"
            r.run(name + "_forward", forward)
            r.run(name + "_backward_input", gradient(True))
            r.run(name + "_backward_weight", gradient(False))


def attention(r):
    b, h, t, d = r.size(16, 2, 2), 8, r.size(512, 256, 16), 64

    def attend(q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):
            return F.scaled_dot_product_attention(q, k, v)
        return torch.matmul((torch.matmul(q, k.transpose(-2, -1)) * 0.125).softmax(-1), v)

    for kind in ("float", "half"):
        for backward in (False, True):
            def make(s):
                parts = [r.randn(s, i, [b, h, t, d], DTYPES[kind][0]).requires_grad_(backward) for i in range(3)]
                if backward:
                    return lambda: torch.autograd.grad(attend(*parts).sum(), parts)[0]
                return lambda: attend(*parts)
            r.run(f"attention/{kind}_forward" + ("_backward" if backward else ""), make)


def transfers(r):
    n = r.size(1 << 24, 1 << 22, 1 << 12)

    def host(s, pinned):
        torch.manual_seed(1000 * s)
        x = torch.randn(n)
        return x.pin_memory() if pinned and r.cuda else x

    for pinned in (False, True):
        def to_device(s):
            x, y = host(s, pinned), torch.empty(n, device=r.device)
            return lambda: y.copy_(x, non_blocking=pinned)

        def to_host(s):
            x, y = host(s, False).to(r.device), host(s, pinned)
            return lambda: y.copy_(x, non_blocking=pinned)
        kind = "pinned" if pinned else "pageable"
        r.run("transfer/to_device_" + kind, to_device)
        r.run("transfer/to_host_" + kind, to_host)
    side = torch.cuda.Stream() if r.cuda else None

    def overlapped(s):
        x, y, work = host(s, True), torch.empty(n, device=r.device), r.randn(s, 1, [r.size(1 << 26, 1 << 22, 1 << 12)])

        def step():
            if side:
                side.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(side):
                    y.copy_(x, non_blocking=True)
            else:
                y.copy_(x)
            torch.exp(work)
            if side:
                torch.cuda.current_stream().wait_stream(side)
            return y
        return step
    r.run("transfer/overlapped_with_exp", overlapped)
    for name, full in (("1k", 256), ("64m", 1 << 24)):
        elements = r.size(full, full, 256)
        r.run("alloc/" + name, lambda s, e=elements: lambda: torch.empty(e, device=r.device), False)


def optimizers(r):
    def race(name, count, elements, make_optimizer):
        def make(s):
            values, grads = r.randn(s, 0, [count, elements]), r.randn(s, 1, [count, elements])
            p = [v.clone().requires_grad_() for v in values]
            for t, g in zip(p, grads):
                t.grad = g.clone()
            optimizer = make_optimizer(p)

            def step():
                optimizer.step()
                return p[0]
            return step
        r.run("optimizer/" + name, make)

    def sgd(p):
        return torch.optim.SGD(p, lr=1e-3, momentum=0.9)
    # PyTorch at its best: one fused kernel where there is one.
    fused = {"fused": True} if r.cuda else {}

    def adam(p):
        return torch.optim.Adam(p, lr=1e-3, **fused)

    def adamw(p):
        return torch.optim.AdamW(p, lr=1e-3, **fused)
    many, large = r.size(1000, 1000, 10), r.size(1 << 24, 1 << 20, 1 << 10)
    race("sgd_many_small", many, 1000, sgd)
    race("adam_many_small", many, 1000, adam)
    race("adamw_many_small", many, 1000, adamw)
    race("sgd_few_large", 4, large, sgd)
    race("adam_few_large", 4, large, adam)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(100, 50), nn.Linear(50, 10)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 12, 5)
        self.fc1, self.fc2, self.out = nn.Linear(192, 120), nn.Linear(120, 60), nn.Linear(60, 10)

    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = F.max_pool2d(torch.relu(self.conv2(x)), 2).flatten(1)
        return self.out(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout)
        self.conv2, self.bn2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False), nn.BatchNorm2d(cout)
        self.down = None
        if stride != 1 or cin != cout:
            self.down = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(y + (self.down(x) if self.down else x))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        self.fc = nn.Linear(512, 1000)  # drawn before the blocks, as on the other side
        blocks, cin = [], 64
        for width in (64, 128, 256, 512):
            for i in range(2):
                blocks.append(Block(cin, width, 2 if width != 64 and i == 0 else 1))
                cin = width
        self.blocks = nn.Sequential(*blocks)

    def forward(self, x):
        x = self.blocks(F.max_pool2d(torch.relu(self.bn(self.conv(x))), 3, 2, 1))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class GptLayer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.ln1, self.ln2 = heads, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj, self.up, self.down = (nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 4 * d),
                                                   nn.Linear(4 * d, d))

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d // self.heads)
            y = torch.matmul(scores.masked_fill(mask, -1e9).softmax(-1), v)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary, context, depth, d, heads):
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, d), nn.Embedding(context, d)
        self.layers = nn.ModuleList(GptLayer(d, heads) for _ in range(depth))
        self.ln, self.head = nn.LayerNorm(d), nn.Linear(d, vocabulary)

    def forward(self, ids):
        t, mask = ids.shape[1], None
        if not hasattr(F, "scaled_dot_product_attention"):
            mask = torch.ones(t, t, dtype=torch.bool, device=ids.device).triu(1)
        x = self.token(ids) + self.position(torch.arange(t, device=ids.device))
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.ln(x))


class Training:
    def __init__(self, r, model, batches, loss, kind, lr, amp, graph):
        self.model, self.batches, self.loss, self.amp, self.device = model.to(r.device), batches, loss, amp, r.device
        extra = {"capturable": True} if graph else {}
        if r.cuda:
            extra["fused"] = True
        self.optimizer = kind(self.model.parameters(), lr=lr, **extra)

    def step(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        if self.amp:
            with torch.autocast(self.device.type, torch.bfloat16):
                value = self.loss(self.model, x, y)
        else:
            value = self.loss(self.model, x, y)
        value.backward()
        self.optimizer.step()
        return value.detach()


class Captured:
    def __init__(self, training):
        self.x, self.y = (t.clone() for t in training.batches[0])
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                training.step(self.x, self.y)
        torch.cuda.current_stream().wait_stream(side)
        training.optimizer.zero_grad(set_to_none=True)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = training.step(self.x, self.y)


def train(r, name, make):
    def case(graph):
        shared = {}

        def step_of(s):
            if s == 0:
                torch.manual_seed(0)
                shared["training"] = make(graph)
                if graph:
                    shared["captured"] = Captured(shared["training"])
            t, (x, y) = shared["training"], shared["training"].batches[s]
            if not graph:
                return lambda: t.step(x, y)
            c = shared["captured"]

            def replay():
                c.x.copy_(x)
                c.y.copy_(y)
                c.graph.replay()
                return c.loss
            return replay
        r.run(("graph/" if graph else "train/") + name, step_of)
    case(False)
    if r.cuda:
        case(True)


def training(r):
    def entropy(model, x, y):
        return F.cross_entropy(model(x).flatten(0, -2), y)

    def squares(model, x, y):
        return F.mse_loss(model(x)[0], y)

    def classifier(make_model, sizes, classes, amp=False):
        def make(graph):
            model = make_model()
            batches = [(r.randn(s, 0, sizes), r.randint(s, 1, classes, [sizes[0]])) for s in range(SETS)]
            return Training(r, model, batches, entropy, torch.optim.Adam, 1e-3, amp, graph)
        return make

    vocabulary, context, batch = r.size(32000, 8000, 50), r.size(512, 128, 16), r.size(16, 4, 2)
    depth, d = r.size(6, 2, 2), r.size(512, 256, 32)

    def gpt(amp):
        def make(graph):
            model = Gpt(vocabulary, context, depth, d, 8)
            ids = [r.randint(s, 0, vocabulary, [batch, context + 1]) for s in range(SETS)]
            batches = [(i[:, :context].contiguous(), i[:, 1:].reshape(-1)) for i in ids]
            return Training(r, model, batches, entropy, torch.optim.AdamW, 1e-4, amp, graph)
        return make

    width, steps, rows = r.size(512, 128, 16), r.size(128, 64, 8), r.size(64, 32, 4)

    def lstm(graph):
        model = nn.LSTM(width, width, num_layers=2)
        batches = [tuple(r.randn(s, i, [steps, rows, width]) for i in range(2)) for s in range(SETS)]
        return Training(r, model, batches, squares, torch.optim.Adam, 1e-3, False, graph)

    train(r, "mlp_b64", classifier(Mlp, [64, 100], 10))
    for images in (r.size(64, 64, 8), r.size(1000, 1000, 12), r.size(10000, 4000, 16)):
        train(r, f"cnn_b{images}", classifier(LeNet, [images, 1, 28, 28], 10))
    for amp in (False, True):
        # A CPU without instructions for bfloat16 takes seconds for a small image.
        pixels, images = r.size(224, 64 if amp else 224, 64), r.size(64, 4, 4)
        train(r, f"resnet18_{pixels}_b{images}" + ("_amp" if amp else ""),
              classifier(ResNet18, [images, 3, pixels, pixels], 1000, amp))
    for amp in (False, True):
        train(r, f"gpt_{depth}x{d}_t{context}_b{batch}" + ("_amp" if amp else ""), gpt(amp))
    train(r, f"lstm_2x{width}_t{steps}_b{rows}", lstm)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--sizes", choices=("full", "cpu", "tiny"), default="full")
    parser.add_argument("--filter", action="append")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--interactive", action="store_true")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    race = Race(args)
    for group in (elementwise, reductions, indexing, products, convolutions, attention, transfers, optimizers,
                  training):
        group(race)


if __name__ == "__main__":
    main()
