"""Makes corners.json: what PyTorch 2.15 gives for functions that few programs call. Each case is a function; its values, or
the class of its error, are kept."""

import importlib
import json
import sys
import warnings

import torch
import torch.distributions as D
from torch.distributions import biject_to, constraints, transform_to
from torch.distributions import transforms as T
from torch.distributions import utils as U
from torch.distributions.relaxed_bernoulli import LogitRelaxedBernoulli
from torch.distributions.relaxed_categorical import ExpRelaxedCategorical
from torch.nn.attention.flex_attention import and_masks, create_block_mask, create_mask, flex_attention, or_masks


def t(*values):
    return torch.tensor(values, dtype=torch.float32)


def drawn(*shape, seed=3, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def plain(value):
    """What JSON holds of a value."""
    if isinstance(value, torch.Tensor):
        value = value.detach()
        flat = torch.view_as_real(value.resolve_conj()) if value.is_complex() else value
        return {"dtype": str(value.dtype), "shape": list(value.shape), "values": flat.to(torch.float64).flatten().tolist()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    return value if isinstance(value, (int, float, str, bool, type(None))) else repr(value)


# Constraints and the transforms into them

SETS = {
    "real": constraints.real, "positive": constraints.positive, "nonnegative": constraints.nonnegative,
    "greater_than": constraints.greater_than(2.0), "greater_than_eq": constraints.greater_than_eq(-1.0),
    "less_than": constraints.less_than(3.0), "interval": constraints.interval(-1.0, 2.0),
    "half_open": constraints.half_open_interval(1.0, 4.0), "unit": constraints.unit_interval, "simplex": constraints.simplex,
    "lower_cholesky": constraints.lower_cholesky, "corr_cholesky": constraints.corr_cholesky,
    "positive_definite": constraints.positive_definite, "positive_semidefinite": constraints.positive_semidefinite,
    "real_vector": constraints.real_vector, "independent": constraints.independent(constraints.positive, 1),
    "cat": constraints.cat([constraints.positive, constraints.unit_interval], dim=-1, lengths=[1, 2]),
    "stack": constraints.stack([constraints.positive, constraints.interval(0.0, 3.0), constraints.real], dim=-1),
    "boolean": constraints.boolean, "one_hot": constraints.one_hot, "integers": constraints.integer_interval(0, 3),
    "counts": constraints.multinomial(3), "lower_triangular": constraints.lower_triangular, "square": constraints.square,
    "symmetric": constraints.symmetric, "positive_integer": constraints.positive_integer,
}
MATRICES = ("lower_cholesky", "positive_definite", "positive_semidefinite", "lower_triangular", "square", "symmetric")


def about_a_set(name):
    c = SETS[name]
    square = torch.tensor([[[2.0, 0], [0.5, 1.0]], [[2.0, 0.5], [0.5, 1.0]], [[1.0, 0], [0.6, 0.8]], [[0.0, 0], [0, -1]]])
    probe = square if name in MATRICES + ("corr_cholesky",) else torch.tensor([
        [0.0, 0, 1], [0.2, 0.3, 0.5], [-1, 2, 3], [1.5, float("nan"), 0], [1, 1, 1]])
    return [repr(c), c.event_dim, c.is_discrete, c.check(probe)]


def into_a_set(registry, name):
    f, x = registry(SETS[name]), drawn(2, 3, 3) if name in MATRICES else drawn(4, 3)
    y = f(x)
    out = [y, f.inv(y) if name != "simplex" or registry is biject_to else None, f.bijective, f.domain.event_dim,
           f.codomain.event_dim, bool(SETS[name].check(y).all()), list(f.forward_shape(x.shape)),
           list(f.inverse_shape(y.shape))]
    if name in MATRICES or not f.bijective or registry is transform_to:
        return out
    return out + [f.log_abs_det_jacobian(x, y)]


PARAMETERS = ["Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet",
              "Exponential",
              "FisherSnedecor", "Gamma", "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
              "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
              "LowRankMultivariateNormal",
              "MixtureSameFamily", "Multinomial", "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical",
              "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "RelaxedBernoulli", "RelaxedOneHotCategorical",
              "StudentT",
              "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart"]


def about_a_family(name):
    kind = getattr(D, name)
    limits = kind.arg_constraints if isinstance(kind.arg_constraints, dict) else {}
    shown = {k: "dependent" if constraints.is_dependent(c) else repr(c) for k, c in limits.items()}
    support = kind.support
    said = "dependent" if constraints.is_dependent(support) or isinstance(support, property) else repr(support)
    of_objects = name in ("Gumbel", "Independent", "Pareto", "TransformedDistribution", "Weibull")
    flags = None if of_objects else [kind.has_rsample, kind.has_enumerate_support]
    return [{} if name in ("Uniform", "Wishart") else shown, said, flags, issubclass(kind, D.ExponentialFamily)]


class Own(D.ExponentialFamily):
    """The exponential distribution by its natural parameter."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    _mean_carrier_measure = 0

    def __init__(self, rate, validate_args=None):
        self.rate = rate
        super().__init__(rate.shape, validate_args=validate_args)

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -torch.log(-x)


class Lazy(D.Distribution):
    arg_constraints = {"scale": constraints.positive, "log_scale": constraints.real}

    def __init__(self, scale, validate_args=None):
        self.scale, = U.broadcast_all(scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @U.lazy_property
    def log_scale(self):
        return self.scale.log()

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.interval(0.0, self.scale)


def of_pareto(concentration):
    d = D.GeneralizedPareto(t(1.0, 0.0), t(2.0, 0.5), concentration)
    q = t(0.25, 0.9)
    x = d.icdf(q)
    torch.manual_seed(1)
    return [d.mean, d.variance, d.mode, d.entropy(), d.log_prob(x), d.cdf(x), x, d.rsample((2,)),
            d.expand((3, 2)).batch_shape[0],
            bool(d.support.check(x).all())]


def with_gradient(function, *tensors):
    tensors = [x.clone().requires_grad_() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in tensors]
    out = function(*tensors)
    (out * torch.linspace(0.1, 1, out.numel()).view(out.shape)).sum().backward()
    return [out] + [x.grad for x in tensors if isinstance(x, torch.Tensor) and x.requires_grad]


def cat_jacobian():
    f, x = T.CatTransform([T.StickBreakingTransform(), T.StickBreakingTransform()], 0, [1, 1]), drawn(2, 3)
    return f.log_abs_det_jacobian(x, f(x))


def of_relaxed(kind):
    torch.manual_seed(2)
    d = kind(t(0.7), logits=t(0.3, -1.0, 0.5))
    x = d.rsample((2,))
    return [x, d.log_prob(x), d.expand((2,) + tuple(d.batch_shape)).batch_shape[0], d.probs, kind(0.5, t(0.2, 0.3, 0.5)).logits]


DISTRIBUTIONS = {
    **{f"set {n}": lambda n=n: about_a_set(n) for n in SETS},
    **{f"biject_to {n}": lambda n=n: into_a_set(biject_to, n) for n in SETS},
    **{f"transform_to {n}": lambda n=n: into_a_set(transform_to, n) for n in SETS},
    **{f"family {n}": lambda n=n: about_a_family(n) for n in PARAMETERS},
    "unregistered": lambda: biject_to(constraints.lower_triangular),
    "registered wrongly": lambda: biject_to.register(3, lambda c: T.ExpTransform()),
    "support of a value": lambda: [repr(D.Uniform(t(0.0), t(2.0)).support.event_dim), repr(D.Categorical(t(1.0, 1)).support),
                                   repr(D.Binomial(3, t(0.5)).support),
                                   D.Independent(D.Normal(t(0.0, 1), 1.0), 1).support.event_dim],
    "support of a mixture": lambda: D.MixtureSameFamily(D.Categorical(t(1.0, 1)), D.Normal(t(0.0, 1), t(1.0, 1))).support.check(
        t(1.0, float("nan"))),
    "transformed support": lambda: repr(D.TransformedDistribution(D.Normal(t(0.0), t(1.0)), T.SigmoidTransform()).support),
    "own family": lambda: [Own(t(0.5, 2)).entropy(), D.kl_divergence(Own(t(0.5, 2)), Own(t(1.0, 1)))],
    "own lazy": lambda: [Lazy(t(2.0)).log_scale, repr(Lazy(3.0)), bool(Lazy(t(2.0)).support.check(t(1.0)))],
    "own wrong": lambda: Lazy(t(-2.0)),
    "pareto": lambda: of_pareto(t(0.2, 0.4)), "pareto bounded": lambda: of_pareto(t(-0.2, -0.4)),
    "pareto exponential": lambda: of_pareto(t(0.0, 0.0)), "pareto heavy": lambda: of_pareto(t(0.6, 1.5)),
    "cumulative": lambda: [T.CumulativeDistributionTransform(D.Normal(0.0, 1.0))(t(0.5)),
                           T.CumulativeDistributionTransform(D.Normal(0.0, 1.0)).inv(t(0.7)),
                           T.CumulativeDistributionTransform(D.Normal(0.0, 1.0)).log_abs_det_jacobian(t(0.5), t(0.5))],
    "cat of vectors": lambda: with_gradient(T.CatTransform([T.ExpTransform(), T.AffineTransform(1.0, 2.0)], 0, [1, 2]),
                                            drawn(3, 2)),
    "cat jacobian": cat_jacobian,
    "stack": lambda: with_gradient(T.StackTransform([T.ExpTransform(), T.identity_transform], 1), drawn(3, 2)),
    "corr gradient": lambda: with_gradient(T.CorrCholeskyTransform(), drawn(2, 6)),
    "equal": lambda: [T.ExpTransform() == T.ExpTransform(), T.ExpTransform() == T.TanhTransform(),
                      T.AffineTransform(0, 1) == T.AffineTransform(0, 2), T.AffineTransform(0, 1) == T.AffineTransform(0, 1),
                      T.ComposeTransform([T.ExpTransform()]) == T.ComposeTransform([T.ExpTransform()])],
    "event_dim": lambda: [T.ExpTransform().event_dim, T.AffineTransform(0, 1, event_dim=2).event_dim],
    "logits": lambda: [U.probs_to_logits(t(0.0, 0.25, 1)), U.probs_to_logits(t(0.25), True), U.logits_to_probs(t(1.0, 2)),
                       U.logits_to_probs(t(1.0, 2), True), U.clamp_probs(t(0.0, 1))],
    "triangles": lambda: [U.tril_matrix_to_vec(torch.arange(9.0).view(3, 3), d) for d in (-2, -1, 0, 1)],
    "triangles back": lambda: [U.vec_to_tril_matrix(torch.arange(float(n)), d) for n, d in ((1, -2), (3, -1), (6, 0), (8, 1))],
    "logit bernoulli": lambda: of_relaxed(LogitRelaxedBernoulli), "exp categorical": lambda: of_relaxed(ExpRelaxedCategorical),
}


# Functions below nn.functional

x4, w4 = drawn(2, 4, 5, 6), drawn(6, 2, 3, 3, seed=5)


def batch_norm(training):
    mean, var = torch.zeros(4), torch.ones(4)
    return [*torch.native_batch_norm(x4, t(1, 2, 3, 4), t(0, 1, 0, 1), mean, var, training, 0.1, 1e-5), mean, var]


def segments(reduce, initial=None, **options):
    def call(x):
        return torch.segment_reduce(x, reduce, initial=initial, **options)
    return with_gradient(call, drawn(6, 2)) if reduce != "prod" else [call(drawn(6, 2))]


LENGTHS = torch.tensor([1, 0, 3, 2])
LOW = {
    "affine grid": lambda: torch.affine_grid_generator(drawn(1, 2, 3), [1, 1, 3, 4], True),
    "as_strided_": lambda: torch.as_strided_(torch.arange(6.0), (2, 2), (1, 2), 1),
    "constant_pad_nd": lambda: torch.constant_pad_nd(t(1, 2, 3), [1, 2], 5.0),
    "pad nd": lambda: torch.constant_pad_nd(x4, [-1, 1, 1]),
    "conv_tbc": lambda: with_gradient(lambda *a: torch.conv_tbc(*a, 1), drawn(5, 2, 3), drawn(3, 3, 4), drawn(4)),
    "convolution": lambda: torch.convolution(x4, w4, None, [2, 1], [1, 0], [1, 1], False, [0, 0], 2),
    "convolution 1": lambda: torch.convolution(drawn(2, 3, 7), drawn(4, 3, 2), t(1, 2, 3, 4), [1], [1], [2], False, [0], 1),
    "convolution back": lambda: torch.convolution(x4, drawn(4, 2, 3, 3), None, [2, 2], [1, 1], [1, 1], True, [1, 1], 1),
    "grid_sampler": lambda: [torch.grid_sampler(x4, drawn(2, 3, 3, 2) / 2, m, p, False) for m in range(3) for p in range(3)],
    "grid_sampler_3d": lambda: torch.grid_sampler_3d(drawn(1, 2, 3, 4, 5), drawn(1, 2, 2, 2, 3) / 2, 0, 1, True),
    "embedding_bag": lambda: torch.embedding_bag(drawn(5, 3), torch.tensor([0, 2, 4, 1]), torch.tensor([0, 1]), False, 2),
    "embedding_bag sum": lambda: torch.embedding_bag(drawn(5, 3), torch.tensor([0, 2, 4, 1]), torch.tensor([0, 1]))[0],
    "embedding_renorm_": lambda: torch.embedding_renorm_(drawn(4, 3), torch.tensor([0, 2]), 0.5, 2.0),
    "batch_norm train": lambda: batch_norm(True), "batch_norm eval": lambda: batch_norm(False),
    "layer_norm": lambda: torch.native_layer_norm(x4, [5, 6], drawn(5, 6), None, 1e-5),
    "layer_norm gradient": lambda: with_gradient(lambda x: torch.native_layer_norm(x, [6], None, None, 1e-5)[0], x4),
    "group_norm": lambda: torch.native_group_norm(x4, t(1, 2, 3, 4), None, 2, 4, 30, 2, 1e-5),
    "native_norm": lambda: [torch.native_norm(t(3, 4).to_sparse()), torch.native_norm(t(3, 4).to_sparse(), 1)],
    "channel_shuffle": lambda: torch.native_channel_shuffle(x4, 2),
    "dropout off": lambda: torch.native_dropout(t(1, 2, 3), 0.5, False),
    "dropout all": lambda: torch.native_dropout(t(1, 2), 1.0, True),
    "dropout": lambda: (torch.manual_seed(4), torch.native_dropout(torch.ones(20), 0.3, True))[1],
    **{f"segment {r}": lambda r=r: segments(r, lengths=LENGTHS) for r in ("sum", "mean", "max", "min", "prod")},
    **{f"segment {r} initial": lambda r=r: segments(r, 0.5, lengths=LENGTHS) for r in ("sum", "mean", "max", "min")},
    "segment offsets": lambda: segments("sum", offsets=torch.tensor([0, 1, 1, 4, 6])),
    "segment rows": lambda: torch.segment_reduce(drawn(2, 4), "max", lengths=torch.tensor([[1, 3], [2, 2]]), axis=1),
    "segment wrong": lambda: torch.segment_reduce(drawn(6), "sum", lengths=torch.tensor([1, 2])),
    "slice_copy": lambda: torch.slice_copy(x4, 2, 1, 5, 2), "slice_copy all": lambda: torch.slice_copy(t(1, 2, 3)),
    "cond": lambda: [torch.cond(p, lambda x: x + 1, lambda x: x * 2, (t(1, 2),)) for p in (True, torch.tensor([False]))],
    "cond wrong": lambda: torch.cond(torch.tensor([True, False]), lambda: 1, lambda: 2, ()),
    "removed": lambda: torch.lstsq(drawn(2, 2), drawn(2, 2)),
    "symbols": lambda: [isinstance(3, torch.SymInt), torch.sym_sqrt(4), torch.has_lapack, torch.is_vulkan_available()],
    "anomaly": lambda: torch.is_anomaly_check_nan_enabled(),
}


# Autocast, graphs, optimizers' functions


def autocast_set():
    before = [torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled()]
    torch.set_autocast_enabled("cpu", True)
    torch.set_autocast_dtype("cpu", torch.float16)
    torch.set_autocast_cache_enabled(False)
    depth = torch.autocast_increment_nesting()
    inside = [torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled(),
              (t(1, 2) @ t(1, 2)).dtype, (torch.ones(2, 2) @ torch.ones(2, 2)).dtype]
    depth = [depth, torch.autocast_decrement_nesting()]
    torch.clear_autocast_cache()
    torch.set_autocast_enabled("cpu", False)
    torch.set_autocast_dtype("cpu", before[1])
    torch.set_autocast_cache_enabled(True)
    return [before, inside, depth, (torch.ones(2, 2) @ torch.ones(2, 2)).dtype]


def refused_hooks():
    with torch.autograd.graph.disable_saved_tensors_hooks("none here"):
        t(1, 2).requires_grad_().exp()
        with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            pass


def stale(change):
    x = t(1, 2).requires_grad_()
    y = x.exp()
    change(y)
    y.sum().backward()
    return x.grad


def mutated():
    x = t(1, 2).requires_grad_()
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        z = y.sin() * y
        y.mul_(3)
        z.sum().backward()
    return x.grad


def edge():
    x = t(1, 2).requires_grad_()
    y = x * 2
    a, b = torch.autograd.graph.get_gradient_edge(y), torch.autograd.graph.get_gradient_edge(x)
    return [a.node.name(), a.output_nr, b.node.name()[-14:], b.output_nr, a.node is y.grad_fn or a.node == y.grad_fn]


PARAMS = [drawn(3, 2, seed=1), drawn(4, seed=2)]
GRADS = [drawn(3, 2, seed=7), drawn(4, seed=8)]


def steps(name, states, **options):
    module = importlib.import_module(f"torch.optim.{name}")
    params = [p.clone() for p in PARAMS]
    made = [[s(p) for p in params] for s in states]
    kept = dict(zip("abcdef", made))
    for _ in range(3):
        getattr(module, name)(params, [g.clone() for g in GRADS], *made, **options)
    return [params, kept]


def zeros(p):
    return torch.zeros_like(p)


def count(p):
    return torch.zeros(())


def one(p):
    return torch.ones(())


ADAM = dict(beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.01, eps=1e-8)
STEPS = {
    "sgd": lambda: steps("sgd", [lambda p: None], weight_decay=0.1, momentum=0.9, lr=0.1, dampening=0.1, nesterov=False,
                         maximize=False),
    "sgd plain": lambda: steps("sgd", [lambda p: None], weight_decay=0.0, momentum=0.0, lr=0.1, dampening=0.0, nesterov=False,
                               maximize=True),
    "adam": lambda: steps("adam", [zeros, zeros, zeros, count], amsgrad=True, maximize=False, **ADAM),
    "adamw": lambda: steps("adamw", [zeros, zeros, zeros, count], amsgrad=False, maximize=False, **ADAM),
    "adagrad": lambda: steps("adagrad", [zeros, count], lr=0.1, weight_decay=0.1, lr_decay=0.1, eps=1e-10, maximize=False),
    "rmsprop": lambda: steps("rmsprop", [zeros, zeros, zeros, count], lr=0.1, alpha=0.9, eps=1e-8, weight_decay=0.1,
                             momentum=0.5,
                             centered=True),
    "adadelta": lambda: steps("adadelta", [zeros, zeros, count], lr=0.5, rho=0.9, eps=1e-6, weight_decay=0.1, maximize=False),
    "adamax": lambda: steps("adamax", [zeros, zeros, count], **ADAM),
    "asgd": lambda: steps("asgd", [zeros, one, lambda p: torch.tensor(0.1), count], lambd=1e-4, lr=0.1, t0=1.0, alpha=0.75,
                          weight_decay=0.1),
    "nadam": lambda: steps("nadam", [zeros, zeros, one, count], momentum_decay=4e-3, **ADAM),
    "radam": lambda: steps("radam", [zeros, zeros, count], **ADAM),
    "rprop": lambda: steps("rprop", [zeros, lambda p: torch.full_like(p, 0.1), count], step_size_min=1e-6, step_size_max=50,
                           etaminus=0.5, etaplus=1.2),
}
GRAPHS = {
    "autocast": autocast_set, "refused hooks": refused_hooks, "mutated": mutated, "edge": edge,
    "stale": lambda: stale(torch.autograd.graph.increment_version), "fresh": lambda: stale(lambda y: None),
    "edge of a constant": lambda: torch.autograd.graph.get_gradient_edge(t(1)), **STEPS,
}


# Attention by functions

Q, K, V = drawn(2, 4, 5, 8, seed=1), drawn(2, 4, 6, 8, seed=2), drawn(2, 4, 6, 3, seed=3)
SLOPES, SEQUENCE = t(0.5, 0.25, 0.125, 0.0625), torch.tensor([[0, 0, 0, 1, 1, 1], [0, 1, 1, 1, 1, 1]])


def causal(b, h, q, kv):
    return q >= kv


def same(b, h, q, kv):
    return SEQUENCE[b, q] == SEQUENCE[b, kv]


def attention(score_mod=None, mask=None, **options):
    heads = 2 if options.get("enable_gqa") else 4  # PyTorch has no gradient of it on the CPU
    return flex_attention(Q, K[:, :heads], V[:, :heads], score_mod, mask, **options)


ATTENTION = {
    "plain": lambda: attention(), "scaled": lambda: attention(scale=0.5), "grouped": lambda: attention(enable_gqa=True),
    "slopes": lambda: attention(lambda score, b, h, q, kv: score + SLOPES[h] * (kv - q)),
    "soft cap": lambda: attention(lambda score, b, h, q, kv: 2 * torch.tanh(score / 2)),
    "where": lambda: attention(lambda score, b, h, q, kv: torch.where(q >= kv, score, -float("inf"))),
    "causal": lambda: attention(mask=create_block_mask(causal, None, None, 5, 6, device="cpu")),
    "documents": lambda: attention(mask=create_block_mask(and_masks(causal, same), 2, None, 5, 6, device="cpu")),
    "masks": lambda: [create_mask(m, 2, 1, 5, 6, device="cpu") for m in (causal, same, and_masks(causal, same),
                                                                         or_masks(causal, same))],
    "blocks": lambda: create_block_mask(causal, None, None, 256, 256, device="cpu").to_dense(),
    "heads": lambda: flex_attention(Q, K[:, :2], V[:, :2]),
}

# What is made and drawn of every dtype, and which are refused

KINDS = {"uint8": torch.uint8, "int16": torch.int16, "int64": torch.int64, "bool": torch.bool, "half": torch.float16,
         "float": torch.float32, "double": torch.float64, "complex": torch.complex64}
MADE = {
    "linspace": lambda d: [torch.linspace(-3, 7.5, 5, dtype=d), torch.linspace(5, 1, 4, dtype=d), torch.linspace(2, 7, 0,
                                                                                                                 dtype=d)],
    "linspace complex": lambda d: torch.linspace(0, 1 + 2j, 3, dtype=d), "logspace": lambda d: torch.logspace(0, 2, 3, dtype=d),
    "arange": lambda d: [torch.arange(3, dtype=d), torch.arange(0.5, 2.9, 0.7, dtype=d)],
    "range": lambda d: torch.range(0, 2, dtype=d), "randperm": lambda d: torch.randperm(5, dtype=d),
    "randint": lambda d: torch.randint(0, 5, (4,), dtype=d), "rand": lambda d: torch.rand(3, dtype=d),
    "randn": lambda d: torch.randn(3, dtype=d),
    "bernoulli": lambda d: torch.bernoulli(torch.tensor([0.0, 1, 1]).to(d)),
    "bernoulli_ of tensor": lambda d: torch.zeros(3, dtype=d).bernoulli_(torch.tensor([0.0, 1, 1])),
    "poisson": lambda d: torch.poisson(torch.ones(3, dtype=d)),
    "normal": lambda d: torch.normal(torch.zeros(3, dtype=d), 1.0),
    "multinomial": lambda d: torch.multinomial(torch.ones(3).to(d), 2),
}
DRAWN = {"exponential_": (2.0,), "bernoulli_": (0.5,), "normal_": (1.0, 2.0), "uniform_": (-1.0, 2.0), "geometric_": (0.5,),
         "cauchy_": (0.0, 1.0), "log_normal_": (1.0, 0.5), "random_": (), "random_ to": (1,), "random_ between": (-2, 5)}
MADE.update({f"{name}": lambda d, name=name, args=args: getattr(torch.zeros(4, dtype=d), name.split()[0])(*args)
             for name, args in DRAWN.items()})
KIND_CASES = {f"{name} of {kind}": lambda f=f, d=d: f(d) for name, f in MADE.items() for kind, d in KINDS.items()}

GROUPS = {"kinds": KIND_CASES, "distributions": DISTRIBUTIONS, "low": LOW, "graphs": GRAPHS, "attention": ATTENTION}


def outcome(function):
    torch.manual_seed(0)
    try:
        return plain(function())
    except Exception as error:
        return type(error).__name__


def compute():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    return {group: {name: outcome(function) for name, function in cases.items()} for group, cases in GROUPS.items()}


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        rows = [f'"{group}": {{\n' + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in cases.items()) + "}"
                for group, cases in compute().items()]
        file.write("{" + ",\n".join(rows) + "}\n")
