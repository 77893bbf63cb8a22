"""Distributions: PyTorch's draws, densities, divergences and words."""

import copy
import json
import math
import pathlib
import pickle

import pytest

import taeda as torch
import taeda.distributions as D

GOLDEN = pathlib.Path(__file__).parent / "golden"


def _close(a, b):
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(_close, a, b))
    if isinstance(a, str):
        return a == b
    return a == b or a != a and b != b or abs(a - b) <= 2e-5 * max(1, abs(a))


def test_numbers_are_pytorchs(tmp_path, run_python):
    out = tmp_path / "ours.json"
    run_python("import runpy, sys, taeda.compat; taeda.compat.install(); sys.argv = sys.argv[1:]\n"
               "runpy.run_path(sys.argv[0], run_name='__main__')", str(GOLDEN / "distributions.py"), str(out))
    expected, got = json.loads((GOLDEN / "distributions.json").read_text()), json.loads(out.read_text())
    wrong = []
    for name, wanted in expected.items():
        if not isinstance(wanted, dict):
            wrong += [] if _close(wanted, got[name]) else [name]
            continue
        wrong += [f"{name}.{key}" for key, value in wanted.items() if key != "repr" and not _close(value, got[name].get(key))]
    assert wrong == []


@pytest.mark.parametrize("call, text", [
    (lambda: D.Normal(torch.zeros(1), torch.tensor([-1.0])), "Expected parameter scale"),
    (lambda: D.Bernoulli(), "Either `probs` or `logits` must be specified, but not both."),
    (lambda: D.Categorical(torch.tensor(0.5)), "`probs` parameter must be at least one-dimensional."),
    (lambda: D.Normal("a", 1), "Input arguments must all be instances of Number"),
    (lambda: D.Bernoulli(0.5).log_prob(torch.tensor(2.0)), "to be within the support"),
    (lambda: D.MultivariateNormal(torch.zeros(2)), "Exactly one of covariance_matrix or precision_matrix or scale_tril"),
])
def test_words(call, text):
    with pytest.raises(ValueError) as error:
        call()
    assert text in str(error.value)


@pytest.mark.parametrize("made, text", [
    (lambda: D.Normal(0.0, 1.0), "Normal(loc: 0.0, scale: 1.0)"),
    (lambda: D.Normal(torch.zeros(1), 1.0), "Normal(loc: tensor([0.]), scale: tensor([1.]))"),
    (lambda: D.Normal(torch.zeros(3), 1.0), "Normal(loc: torch.Size([3]), scale: torch.Size([3]))"),
    (lambda: D.Pareto(1.0, 2.0), "Pareto(alpha: 2.0, scale: 1.0)"),
    (lambda: D.MultivariateNormal(torch.zeros(2), precision_matrix=torch.eye(2)),
     "MultivariateNormal(loc: torch.Size([2]), precision_matrix: torch.Size([2, 2]))"),
    (lambda: D.Independent(D.Bernoulli(logits=torch.zeros(2)), 1), "Independent(Bernoulli(logits: torch.Size([2])), 1)"),
    (lambda: D.Uniform.support, "DependentProperty()"),
])
def test_printed(made, text):
    assert repr(made()) == text


def test_policy_gradient():
    logits = torch.zeros(1, 3, requires_grad=True)
    chosen = D.Categorical(logits=logits)
    action = chosen.sample()
    (-chosen.log_prob(action) * 2.0).sum().backward()
    assert action.shape == (1,) and logits.grad[0, action.item()].item() == pytest.approx(-4 / 3)


def test_a_distribution_of_ones_own():
    class Always(D.Distribution):
        def sample(self, sample_shape=()):
            return torch.ones(sample_shape)

        def log_prob(self, value):
            return torch.zeros_like(value)

    @D.register_kl(Always, Always)
    def _none(p, q):
        return torch.tensor(0.0)
    assert Always().sample((2,)).tolist() == [1, 1] and D.kl_divergence(Always(), Always()).item() == 0
    with pytest.raises(NotImplementedError):
        D.kl_divergence(Always(), D.Normal(0.0, 1.0))
    with pytest.raises(NotImplementedError):
        Always().entropy()


def test_checks_can_be_left_out():
    assert D.Normal(torch.zeros(1), -torch.ones(1), validate_args=False).scale.item() == -1
    D.Distribution.set_default_validate_args(False)
    try:
        D.Normal(torch.zeros(1), -torch.ones(1))
    finally:
        D.Distribution.set_default_validate_args(True)


def test_transforms():
    f = D.ComposeTransform([D.AffineTransform(1.0, 2.0), D.ExpTransform()])
    x = torch.tensor([0.5, -1.0])
    assert torch.allclose(f.inv(f(x)), x) and torch.allclose(f.log_abs_det_jacobian(x, f(x)), torch.log(2 * f(x)))
    assert D.constraints.positive.check(torch.tensor([1.0, -1.0])).tolist() == [True, False]


class _Squash(D.transforms.Transform):
    domain, codomain, bijective, sign = D.constraints.real, D.constraints.interval(-1.0, 1.0), True, 1

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return y.atanh()

    def log_abs_det_jacobian(self, x, y):
        return (1 - y ** 2).log()


def test_a_transform_of_ones_own():
    base, value = D.Normal(torch.tensor([0.2, -0.1]), torch.tensor([1.0, 0.5])), torch.tensor([0.3, -0.6])
    own, known = (D.TransformedDistribution(base, [t, D.AffineTransform(1.0, -2.0)]) for t in (_Squash(), D.TanhTransform()))
    assert own._twin is None and known._twin is not None and own.has_rsample
    for ask in (lambda d: d.log_prob(1 - 2 * value), lambda d: d.cdf(1 - 2 * value), lambda d: d.icdf(value.abs()),
                lambda d: D.Independent(d, 1).log_prob(1 - 2 * value), lambda d: d.expand((3, 2)).log_prob(1 - 2 * value)):
        assert torch.allclose(ask(own), ask(known), atol=1e-6)
    torch.manual_seed(1)
    drawn = own.sample((4,))
    torch.manual_seed(1)
    assert torch.equal(drawn, known.sample((4,))) and own.support.check(drawn).all()
    matrix = D.TransformedDistribution(D.Normal(torch.zeros(2, 3), 1.0), [D.IndependentTransform(_Squash(), 1)])
    assert matrix.batch_shape == (2,) and matrix.event_shape == (3,) and matrix.log_prob(torch.zeros(2, 3)).shape == (2,)


def test_a_transform_keeps_its_last_pair():
    far = torch.tensor([30.0])
    for make in (_Squash, D.TanhTransform):
        kept = make(cache_size=1)
        y = kept(far)
        assert y.item() == 1 and kept.inv(y) is far and make().inv(y).isinf()
        assert D.TransformedDistribution(D.Normal(far, 1.0), [make(cache_size=1)]).has_rsample
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        _Squash(cache_size=2)


def test_a_base_of_ones_own():
    class Shifted(D.Normal):
        def log_prob(self, value):
            return super().log_prob(value) + 1

    base = Shifted(torch.zeros(2), torch.ones(2))
    assert D.Independent(base, 1).log_prob(torch.zeros(2)) == base.log_prob(torch.zeros(2)).sum()
    assert torch.equal(D.TransformedDistribution(base, D.ExpTransform()).log_prob(torch.ones(2)), base.log_prob(torch.zeros(2)))


def test_parameters_of_ones_own_are_checked():
    class Level(D.Distribution):
        arg_constraints = {"height": D.constraints.positive}

        def __init__(self, height):
            self.height = height
            super().__init__(height.shape)

    assert repr(Level(torch.tensor([1.0, 2.0]))) == "Level(height: torch.Size([2]))"
    with pytest.raises(ValueError, match="Expected parameter height .* to satisfy the constraint GreaterThan"):
        Level(torch.tensor([1.0, -2.0]))
    with pytest.raises(ValueError, match="expected to be greater than ndim - 1 = 1"):
        D.Wishart(0.5, torch.eye(2))
    with pytest.raises(AssertionError, match="Exactly one of"):
        D.Wishart(3.0)


def test_draws_of_matrices():
    torch.manual_seed(2)
    w = D.Wishart(torch.tensor(5.0, requires_grad=True), scale_tril=torch.tensor([[1.0, 0.0], [0.5, 2.0]]))
    drawn = w.rsample((20000,))
    assert torch.allclose(drawn.mean(0), w.mean, rtol=0.05, atol=0.05) and torch.allclose(drawn.var(0), w.variance, rtol=0.1)
    other = D.Wishart(3.5, torch.eye(2))
    between = (w.log_prob(drawn) - other.log_prob(drawn)).mean().item()  # PyTorch 2.15 has another formula, which is off
    assert D.kl_divergence(w, other).item() == pytest.approx(between, rel=0.03) and D.kl_divergence(w, w).item() == 0
    drawn.sum().backward()
    assert w.support.check(drawn).all()
    factors = D.LKJCholesky(3, 2.0).sample((20000,))
    assert torch.allclose((factors @ factors.mT).diagonal(dim1=-2, dim2=-1), torch.ones(3), atol=1e-5)
    # Each correlation is 2 x - 1 of a Beta(concentration + 1/2 (dim - 2), the same) (Joe 2006).
    assert abs((factors @ factors.mT)[:, 0, 2].var().item() - 1 / (2 * 2.5 + 1)) < 0.01


class Bell(D.Distribution):
    """Of a program's own: a normal distribution without its constant, and numbers that it claims."""

    arg_constraints = {}
    support = D.constraints.real

    def __init__(self, loc):
        self.loc = loc
        super().__init__(loc.shape, validate_args=False)

    def sample(self, sample_shape=()):
        return torch.normal(self.loc.expand(self._extended_shape(sample_shape)), 1.0)

    def log_prob(self, value):
        return -(value - self.loc) ** 2 / 2

    def cdf(self, value):
        return torch.sigmoid(value - self.loc)

    def expand(self, batch_shape, _instance=None):
        return Bell(self.loc.expand(batch_shape))

    mean = property(lambda self: self.loc)
    variance = property(lambda self: torch.ones_like(self.loc) * 2)


def test_mixture_of_what_a_program_wrote():
    """PyTorch 2.15's numbers and draws."""
    loc = torch.arange(6.0).view(2, 3).requires_grad_()
    mixture = D.MixtureSameFamily(D.Categorical(torch.tensor([[.2, .3, .5], [.1, .1, .8]])), Bell(loc))
    value = torch.tensor([1.0, 2.0])
    for got, wanted in ((mixture.mean, [1.2999999523162842, 4.699999809265137]),
                        (mixture.variance, [2.6100001335144043, 2.4100000858306885]),
                        (mixture.log_prob(value), [-0.32217490673065186, -2.4880259037017822]),
                        (mixture.cdf(value), [0.4306824207305908, 0.07675513625144958])):
        assert torch.allclose(got, torch.tensor(wanted))
    torch.manual_seed(0)
    assert _close(mixture.sample((4,)).tolist(), [
        [2.566650629043579, 3.4449048042297363], [1.7841367721557617, 5.259627342224121],
        [0.32125377655029297, 5.203223705291748], [1.4819252490997314, 6.706643104553223]])
    mixture.log_prob(value).sum().backward()
    assert loc.grad.abs().sum() > 0
    wider = mixture.expand((3, 2))
    assert wider.batch_shape == (3, 2) and torch.equal(wider.mean[1], mixture.mean)
    vectors = D.MixtureSameFamily(D.Categorical(torch.ones(3)), D.Independent(Bell(torch.arange(6.0).view(3, 2)), 1))
    assert vectors.event_shape == (2,) and vectors.sample((5,)).shape == (5, 2)
    assert torch.allclose(vectors.mean, torch.tensor([2.0, 3.0])) and vectors.log_prob(value).shape == ()


@pytest.mark.parametrize("mixture, components, text", [
    (D.Bernoulli(torch.ones(3)), Bell(torch.zeros(3)), "needs to be an  instance of torch.distributions.Categorical"),
    (D.Categorical(torch.ones(3)), 3, "needs to be an instance of torch.distributions.Distribution"),
    (D.Categorical(torch.ones(2)), Bell(torch.zeros(3)), r"component` \(2\) does not equal"),
    (D.Categorical(torch.ones(2, 3)), Bell(torch.zeros(4, 3)), "is not compatible with"),
])
def test_mixture_errors(mixture, components, text):
    with pytest.raises(ValueError, match=text):
        D.MixtureSameFamily(mixture, components)


def test_gradients_at_logits_of_zero():
    """Where most programs begin."""
    for make, value, wanted in ((lambda x: D.Bernoulli(logits=x), 1.0, 0.5), (lambda x: D.Binomial(3, logits=x), 1.0, -0.5),
                                (lambda x: D.ContinuousBernoulli(logits=x), 0.3, -0.2), (lambda x: D.Geometric(logits=x), 2.0,
                                                                                         -0.5),
                                (lambda x: D.NegativeBinomial(3, logits=x), 1.0, -1.0)):
        logits = torch.zeros(1, requires_grad=True)
        make(logits).log_prob(torch.tensor([value])).backward()
        assert logits.grad.item() == pytest.approx(wanted, abs=1e-3)
    for kind, size in ((D.SigmoidTransform, 1), (D.TanhTransform, 1), (D.StickBreakingTransform, 2)):
        x = torch.zeros(size, requires_grad=True)
        kind().log_abs_det_jacobian(x, kind()(x)).sum().backward()
        assert x.grad.abs().max() < 1e-6


T = D.transforms
t = torch.tensor
COPIED = [D.Normal(0.0, 1.0), D.Bernoulli(probs=t(0.3)), D.Bernoulli(logits=t(0.3)), D.Categorical(logits=t([0.2, 0.8])),
          D.Beta(1.0, 2.0), D.Dirichlet(t([1.0, 2.0])), D.Uniform(0.0, 1.0), D.Poisson(t(2.0)), D.Gumbel(0.0, 1.0),
          D.MultivariateNormal(torch.zeros(2), torch.eye(2)), D.Independent(D.Normal(torch.zeros(2), torch.ones(2)), 1),
          D.TransformedDistribution(D.Normal(0.0, 1.0), [T.ExpTransform(), T.AffineTransform(1.0, 2.0)]),
          D.MixtureSameFamily(D.Categorical(t([0.5, 0.5])), D.Normal(torch.zeros(2), torch.ones(2))),
          D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(2)), D.LKJCholesky(3),
          D.Binomial(10, t(0.3)),
          D.RelaxedOneHotCategorical(t(1.0), t([0.2, 0.8])), D.Wishart(t(3.0), torch.eye(2)), D.Normal(0.0, 1.0).expand((2,))]


@pytest.mark.parametrize("distribution", COPIED, ids=lambda d: type(d).__name__)
def test_they_are_copied_and_pickled(distribution):
    def drawn(from_it):
        torch.manual_seed(0)
        value = from_it.sample()
        return value, from_it.log_prob(value)
    for made in (copy.copy(distribution), copy.deepcopy(distribution), pickle.loads(pickle.dumps(distribution))):
        assert type(made) is type(distribution)
        assert all(map(torch.equal, drawn(made), drawn(distribution)))


@pytest.mark.parametrize("transform", [T.ExpTransform(), T.AffineTransform(1.0, 2.0), T.PowerTransform(t(2.0)),
                                       T.ExpTransform().inv,
                                       T.ComposeTransform([T.ExpTransform(), T.AffineTransform(0.0, 2.0)]),
                                       T.IndependentTransform(T.ExpTransform(), 1), T.ReshapeTransform((2,), (2, 1)),
                                       T.CatTransform([T.ExpTransform()], lengths=[2]), T.StickBreakingTransform()],
                         ids=lambda f: type(f).__name__)
def test_transforms_are_copied_and_pickled(transform):
    x = t([0.25, 0.5])
    for made in (copy.copy(transform), copy.deepcopy(transform), pickle.loads(pickle.dumps(transform))):
        assert type(made) is type(transform) and torch.equal(made(x), transform(x))


def test_a_model_that_holds_one_is_copied():
    model = torch.nn.Linear(2, 2)
    model.prior = D.Normal(model.weight, 1.0)
    made = copy.deepcopy(model)
    assert made.prior.loc is made.weight
    with torch.no_grad():
        made.weight.fill_(2)
    assert made.prior.log_prob(t(2.0)).sum() > made.prior.log_prob(t(5.0)).sum() and model.prior.loc is model.weight


def test_what_is_kept_has_gradients_whoever_asked_first():
    logits = torch.zeros(2, requires_grad=True)
    outcomes, vectors = D.Categorical(logits=logits), D.MultivariateNormal(torch.zeros(2), torch.eye(2, requires_grad=True))
    wishart = D.Wishart(torch.tensor(3.0), torch.eye(2, requires_grad=True))
    with torch.no_grad():
        outcomes.probs, vectors.precision_matrix, vectors.scale_tril, wishart.scale_tril, wishart.precision_matrix
    for kept in (outcomes.probs, vectors.precision_matrix, vectors.scale_tril, wishart.scale_tril, wishart.precision_matrix):
        assert kept.requires_grad


def test_gamma_takes_numbers_as_values():
    assert D.Gamma(2.0, 3.0).log_prob(1.5).item() == pytest.approx(2 * math.log(3) + math.log(1.5) - 4.5)
    assert D.Gamma(torch.tensor(2.0, dtype=torch.float64), 3.0).log_prob(1.5).dtype == torch.float64
    assert D.Normal(0.0, 1.0, validate_args=False).log_prob(0.0).item() == pytest.approx(-0.5 * math.log(2 * math.pi))
    with pytest.raises(ValueError, match="must be a Tensor"):
        D.Normal(0.0, 1.0).log_prob(0.0)


def test_subclasses_of_log_normal_choose_their_base():
    class Own(D.LogNormal):
        def __init__(self, loc, scale):
            super(D.LogNormal, self).__init__(D.Normal(loc, scale), D.ExpTransform())

        def expand(self, batch_shape, _instance=None):
            return super().expand(batch_shape, self._get_checked_instance(Own, _instance))
    own, known = Own(0.5, 2.0).expand([3]), D.LogNormal(0.5, 2.0)
    x = torch.tensor(1.5)
    assert type(own) is Own and own.batch_shape == (3,) and torch.equal(own.log_prob(x), known.log_prob(x).expand(3))
    assert isinstance(known, D.TransformedDistribution) and known.loc == 0.5 and torch.equal(own.mean, known.mean.expand(3))
    assert torch.equal(known.expand([2]).entropy(), known.entropy().expand(2))

    class Careless(D.Normal):
        def __init__(self):
            super().__init__(0.0, 1.0)
    with pytest.raises(NotImplementedError, match="must also define a custom .expand"):
        Careless()._get_checked_instance(D.Normal)


def test_normal_vectors_of_subclasses_with_factors_of_their_own():
    class Lazy(D.MultivariateNormal):
        def __init__(self, loc, factor):
            self.loc, self._factor = loc, factor
            super(D.MultivariateNormal, self).__init__(loc.shape[:-1], loc.shape[-1:], validate_args=False)

        @property
        def _unbroadcasted_scale_tril(self):
            return self._factor
    loc, factor = torch.tensor([1.0, 2.0]), torch.tensor([[1.0, 0.0], [0.5, 2.0]])
    lazy, known = Lazy(loc, factor), D.MultivariateNormal(loc, scale_tril=factor)
    x = torch.zeros(2)
    assert torch.equal(lazy.mean, loc) and torch.equal(lazy.scale_tril, factor)
    assert torch.equal(lazy.log_prob(x), known.log_prob(x)) and torch.equal(lazy.entropy(), known.entropy())


def test_parameters_that_a_program_replaces_count_from_then_on():
    normal = D.Normal(torch.zeros(2), 1.0)
    rows, mapped, copied = D.Independent(normal, 1), D.TransformedDistribution(normal, D.ExpTransform()), copy.deepcopy(normal)
    normal.loc = torch.tensor(100.0)
    moved = D.Normal(torch.full((2,), 100.0), 1.0)
    assert normal.batch_shape == (2,) and (normal.sample() > 90).all() and torch.equal(normal.mean, moved.mean)
    at = torch.tensor([100.0, 101.0])
    for found, known in ((normal, moved), (rows, D.Independent(moved, 1)), (mapped, D.LogNormal(moved.loc, 1.0))):
        assert torch.equal(found.log_prob(at), known.log_prob(at))
    assert D.kl_divergence(normal, moved).sum() == 0 and copied.mean.sum() == 0
    with pytest.raises(ValueError, match="Value is not broadcastable with batch_shape.event_shape: .*3.* vs .*2"):
        normal._validate_sample(torch.ones(3))
    with pytest.raises(ValueError, match="The right-most size of value must match event_shape: .*3.* vs .*2"):
        rows._validate_sample(torch.ones(3))
    half = D.HalfCauchy(1.0)
    half.base_dist.scale = torch.tensor(3.0)
    assert half.scale == 3 and half.log_prob(torch.tensor(1.0)) == D.HalfCauchy(3.0).log_prob(torch.tensor(1.0))
    vector = D.MultivariateNormal(torch.zeros(2), torch.eye(2))
    known = D.MultivariateNormal(torch.ones(2), scale_tril=2 * torch.eye(2))
    vector.loc, vector._unbroadcasted_scale_tril = known.loc, known.scale_tril
    assert torch.equal(vector.log_prob(at), known.log_prob(at)) and torch.equal(vector.expand([3]).mean, known.expand([3]).mean)
    del vector._unbroadcasted_scale_tril
    assert not hasattr(vector, "_unbroadcasted_scale_tril")


@pytest.mark.parametrize("name, arguments, at", [
    ("Gumbel", (0.5, 2.0), 0.7), ("Weibull", (1.5, 2.0), 0.7), ("Pareto", (1.0, 2.0), 1.7), ("Kumaraswamy", (1.5, 2.0), 0.7),
    ("InverseGamma", (1.5, 2.0), 0.7), ("LogisticNormal", (torch.zeros(2), torch.ones(2)), (0.2, 0.3, 0.5)),
    ("LogNormal", (0.5, 2.0), 0.7), ("HalfNormal", (2.0,), 0.7), ("HalfCauchy", (2.0,), 0.7)])
def test_families_that_are_maps_of_others_say_of_which(name, arguments, at):
    family, at = getattr(D, name)(*arguments), torch.tensor(at)
    assert isinstance(family, D.TransformedDistribution)
    for each in (family, family.expand([2]), pickle.loads(pickle.dumps(family))):
        assert each.base_dist.batch_shape == each.batch_shape
        if name.startswith("Half"):  # two values have one absolute value
            mapped = each.base_dist.log_prob(at) + math.log(2)
        else:
            mapped = D.TransformedDistribution(each.base_dist, each.transforms).log_prob(at)
        torch.testing.assert_close(each.log_prob(at), mapped)


def test_the_default_of_checks_counts_when_values_are_checked():
    known, chained = D.Gamma(1.0, 1.0), D.Independent(D.LogNormal(torch.zeros(2), 1.0).expand([2]), 1)
    bad = torch.tensor([-1.0, -1.0])
    with pytest.raises(ValueError, match="to be within the support"):
        known.log_prob(bad)
    try:
        D.Distribution.set_default_validate_args(False)
        known.log_prob(bad), chained.log_prob(bad)
    finally:
        D.Distribution.set_default_validate_args(True)
    for checked in (known, chained):
        with pytest.raises(ValueError, match="to be within the support"):
            checked.log_prob(bad)


def test_relaxed_outcomes_are_maps_of_their_logarithms():
    temperature = t(0.7, requires_grad=True)
    numbers = D.RelaxedBernoulli(temperature, probs=t([0.3, 0.6]))
    vectors = D.RelaxedOneHotCategorical(temperature, probs=t([[0.3, 0.6], [0.1, 0.3]]))
    for made, transform in ((numbers, D.SigmoidTransform), (vectors, D.ExpTransform)):
        assert isinstance(made, D.TransformedDistribution) and isinstance(made.transforms[0], transform)
        assert made.base_dist.probs is made.probs and made.temperature is temperature
        assert made.expand((3, 2)).batch_shape == (3, 2) and type(made.expand((3, 2))) is type(made)
        value, x = made.rsample(), made.base_dist.sample()
        jacobian = made.transforms[0].log_abs_det_jacobian(x, made.transforms[0](x)).detach()
        expected = made.base_dist.log_prob(x) - (jacobian.sum(-1) if made is vectors else jacobian)
        torch.testing.assert_close(made.log_prob(made.transforms[0](x)), expected)
        assert torch.autograd.grad(value.select(-1, 0).sum(), temperature)[0] != 0
    with pytest.raises(ValueError, match=r"within the support \(Interval\(lower_bound=0.0, upper_bound=1.0\)\)"):
        numbers.log_prob(t([0.5, 2.0]))
    with pytest.raises(ValueError, match="Expected parameter probs .* of distribution LogitRelaxedBernoulli"):
        D.RelaxedBernoulli(temperature, probs=t(2.0))


def test_what_is_made_of_others_has_no_parameters_to_check(recwarn):
    made = D.Independent(D.RelaxedBernoulli(t(0.7), probs=t([0.3, 0.6])), 1)
    assert made.arg_constraints == {} and made.log_prob(t([0.2, 0.3])).shape == ()
    assert not recwarn.list
