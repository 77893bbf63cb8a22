#include "distributions.h"

#include "bindings.h"
#include "taeda/distributions/distributions.h"

namespace taeda::python {

namespace {

using namespace distributions;  // the names below are its classes
using Shared = std::shared_ptr<Distribution>;
using SharedTransform = std::shared_ptr<Transform>;
using Validate = std::optional<bool>;
using Sizes = std::vector<int64_t>;

template <class D, class... Args>
Shared make(Args&&... args) {
  return std::make_shared<D>(std::forward<Args>(args)...);
}
/// pybind11 has no holders of what is const; nothing here changes a distribution or a transform.
Shared shared(std::shared_ptr<const Distribution> d) {
  return std::const_pointer_cast<Distribution>(std::move(d));
}
SharedTransform shared(TransformPtr t) { return std::const_pointer_cast<Transform>(std::move(t)); }

template <class D>
void one(py::module_& m, const char* name) {
  m.def(name, [](const Tensor& a, Validate v) { return make<D>(a, v); });
}
template <class D>
void two(py::module_& m, const char* name) {
  m.def(name, [](const Tensor& a, const Tensor& b, Validate v) { return make<D>(a, b, v); });
}
/// By probabilities, or by logits if `logits`.
Chances chances(const Tensor& p, bool logits) { return logits ? Chances(Logits(p)) : Chances(p); }
template <class D>
void outcomes(py::module_& m, const char* name) {
  m.def(name, [](const Tensor& p, bool l, Validate v) { return make<D>(chances(p, l), v); });
}
template <class D, class First>
void counted_outcomes(py::module_& m, const char* name) {
  m.def(name, [](First first, const Tensor& p, bool logits, Validate v) {
    return make<D>(first, chances(p, logits), v);
  });
}

Tensor draw(const Distribution& d, const Sizes& shape, bool reparameterized) {
  return reparameterized ? d.rsample(shape) : d.sample(shape);
}

void add_base(py::module_& m) {
  py::class_<Constraint>(m, "Constraint")
      .def("check", &Constraint::check)
      .def_property_readonly("event_dim", &Constraint::event_dim)
      .def_property_readonly("is_discrete", &Constraint::is_discrete)
      .def("independent", &Constraint::independent)
      .def("__repr__", &Constraint::str);
  py::class_<Distribution, Shared>(m, "Distribution")
      .def_property_readonly("batch_shape",
                             [](const Distribution& d) { return Sizes(d.batch_shape().vec()); })
      .def_property_readonly("event_shape",
                             [](const Distribution& d) { return Sizes(d.event_shape().vec()); })
      .def_property_readonly("has_rsample", &Distribution::has_rsample)
      .def_property_readonly("has_enumerate_support", &Distribution::has_enumerate_support)
      .def_property_readonly("mean", &Distribution::mean)
      .def_property_readonly("mode", &Distribution::mode)
      .def_property_readonly("variance", &Distribution::variance)
      .def_property_readonly("stddev", &Distribution::stddev)
      .def_property_readonly("support", &Distribution::support)
      .def_property_readonly("probs",
                             [](const Distribution& d) {
                               if (auto* p = dynamic_cast<const TwoOutcomes*>(&d))
                                 return p->probs();
                               return dynamic_cast<const SeveralOutcomes&>(d).probs();
                             })
      .def_property_readonly("logits",
                             [](const Distribution& d) {
                               if (auto* p = dynamic_cast<const TwoOutcomes*>(&d))
                                 return p->logits();
                               return dynamic_cast<const SeveralOutcomes&>(d).logits();
                             })
      .def("draw", &draw)
      .def("log_prob", &Distribution::log_prob)
      .def("cdf", &Distribution::cdf)
      .def("icdf", &Distribution::icdf)
      .def("entropy", &Distribution::entropy)
      .def("perplexity", &Distribution::perplexity)
      .def("enumerate_support", &Distribution::enumerate_support)
      .def("expand", [](const Distribution& d, const Sizes& s) { return shared(d.expanded(s)); })
      .def("__repr__", &Distribution::str);
  m.def("kl_divergence", &kl_divergence);
  m.def("set_default_validate_args", &Distribution::set_default_validate_args);
  m.def("default_validate_args", &Distribution::default_validate_args);
}

void add_constraints(py::module_& m) {
  py::module_ c = m.def_submodule("constraints");
  c.attr("real") = constraints::real();
  c.attr("real_vector") = constraints::real_vector();
  c.attr("positive") = constraints::positive();
  c.attr("nonnegative") = constraints::nonnegative();
  c.attr("unit_interval") = constraints::unit_interval();
  c.attr("boolean") = constraints::boolean();
  c.attr("nonnegative_integer") = constraints::nonnegative_integer();
  c.attr("positive_integer") = constraints::greater_than_eq(1);
  c.attr("simplex") = constraints::simplex();
  c.attr("one_hot") = constraints::one_hot();
  c.attr("lower_cholesky") = constraints::lower_cholesky();
  c.attr("corr_cholesky") = constraints::corr_cholesky();
  c.attr("positive_definite") = constraints::positive_definite();
  c.def("greater_than", [](const Tensor& t) { return constraints::greater_than(t); });
  c.def("greater_than_eq", [](const Tensor& t) { return constraints::greater_than_eq(t); });
  c.def("less_than", [](const Tensor& t) { return constraints::less_than(t); });
  c.def("interval", [](const Tensor& a, const Tensor& b) { return constraints::interval(a, b); });
  c.def("half_open_interval",
        [](const Tensor& a, const Tensor& b) { return constraints::half_open_interval(a, b); });
  c.def("integer_interval",
        [](const Tensor& a, const Tensor& b) { return constraints::integer_interval(a, b); });
  c.def("multinomial", [](const Tensor& t) { return constraints::multinomial(t); });
}

void add_transforms(py::module_& m) {
  py::module_ t = m.def_submodule("transforms");
  py::class_<Transform, SharedTransform>(t, "Transform")
      .def("__call__", [](const Transform& f, const Tensor& x) { return f(x); })
      .def("inv", &Transform::inv)
      .def("log_abs_det_jacobian", &Transform::log_abs_det_jacobian)
      .def_property_readonly("domain", &Transform::domain)
      .def_property_readonly("codomain", &Transform::codomain)
      .def_property_readonly("bijective", &Transform::bijective)
      .def_property_readonly("sign", &Transform::sign)
      .def("forward_shape",
           [](const Transform& f, const Sizes& s) { return Sizes(f.forward_shape(s).vec()); })
      .def("inverse_shape",
           [](const Transform& f, const Sizes& s) { return Sizes(f.inverse_shape(s).vec()); });
  t.def("exp", [] { return shared(transforms::exp()); });
  t.def("affine", [](const Tensor& loc, const Tensor& scale, int64_t event_dim) {
    return shared(transforms::affine(loc, scale, event_dim));
  });
  t.def("sigmoid", [] { return shared(transforms::sigmoid()); });
  t.def("tanh", [] { return shared(transforms::tanh()); });
  t.def("softplus", [] { return shared(transforms::softplus()); });
  t.def("power", [](const Tensor& exponent) { return shared(transforms::power(exponent)); });
  t.def("abs", [] { return shared(transforms::abs()); });
  t.def("softmax", [] { return shared(transforms::softmax()); });
  t.def("stick_breaking", [] { return shared(transforms::stick_breaking()); });
  t.def("lower_cholesky", [] { return shared(transforms::lower_cholesky()); });
  t.def("reshape", [](const Sizes& in, const Sizes& out) {
    return shared(transforms::reshape(DimVector(IntArrayRef(in)), DimVector(IntArrayRef(out))));
  });
  t.def("independent", [](const SharedTransform& f, int64_t dims) {
    return shared(transforms::independent(f, dims));
  });
  t.def("compose", [](const std::vector<SharedTransform>& parts) {
    return shared(transforms::compose(std::vector<TransformPtr>(parts.begin(), parts.end())));
  });
  t.def("inverse", [](const SharedTransform& f) { return shared(transforms::inverse(f)); });
}

void add_of_numbers(py::module_& m) {
  two<Normal>(m, "Normal");
  two<LogNormal>(m, "LogNormal");
  one<HalfNormal>(m, "HalfNormal");
  two<Uniform>(m, "Uniform");
  two<Laplace>(m, "Laplace");
  two<Cauchy>(m, "Cauchy");
  one<HalfCauchy>(m, "HalfCauchy");
  two<Gumbel>(m, "Gumbel");
  one<Exponential>(m, "Exponential");
  two<Weibull>(m, "Weibull");
  two<Pareto>(m, "Pareto");
  two<Kumaraswamy>(m, "Kumaraswamy");
  two<Gamma>(m, "Gamma");
  one<Chi2>(m, "Chi2");
  two<InverseGamma>(m, "InverseGamma");
  two<Beta>(m, "Beta");
  two<FisherSnedecor>(m, "FisherSnedecor");
  two<VonMises>(m, "VonMises");
  two<LogisticNormal>(m, "LogisticNormal");
  m.def("StudentT", [](const Tensor& df, const Tensor& loc, const Tensor& scale, Validate v) {
    return make<StudentT>(df, loc, scale, v);
  });
}

void add_of_outcomes(py::module_& m) {
  outcomes<Bernoulli>(m, "Bernoulli");
  outcomes<Geometric>(m, "Geometric");
  outcomes<Categorical>(m, "Categorical");
  outcomes<OneHotCategorical>(m, "OneHotCategorical");
  outcomes<OneHotCategoricalStraightThrough>(m, "OneHotCategoricalStraightThrough");
  counted_outcomes<Binomial, Tensor>(m, "Binomial");
  counted_outcomes<NegativeBinomial, Tensor>(m, "NegativeBinomial");
  counted_outcomes<Multinomial, int64_t>(m, "Multinomial");
  one<Poisson>(m, "Poisson");
  m.def("ContinuousBernoulli",
        [](const Tensor& p, bool logits, std::pair<double, double> lims, Validate v) {
          return make<ContinuousBernoulli>(chances(p, logits), lims, v);
        });
}

void add_of_vectors(py::module_& m) {
  one<Dirichlet>(m, "Dirichlet");
  m.def("MultivariateNormal",
        [](const Tensor& loc, const Tensor& matrix, const std::string& is, Validate v) {
          if (is == "scale_tril") return make<MultivariateNormal>(loc, ScaleTril(matrix), v);
          if (is == "precision_matrix") return make<MultivariateNormal>(loc, Precision(matrix), v);
          return make<MultivariateNormal>(loc, matrix, v);
        });
  m.def("LowRankMultivariateNormal",
        [](const Tensor& loc, const Tensor& factor, const Tensor& diagonal, Validate v) {
          return make<LowRankMultivariateNormal>(loc, factor, diagonal, v);
        });
}

void add_combined(py::module_& m) {
  m.def("Independent", [](const Shared& base, int64_t dims, Validate v) {
    return make<Independent>(AnyDistribution(base), dims, v);
  });
  m.def("TransformedDistribution",
        [](const Shared& base, const std::vector<SharedTransform>& parts, Validate v) {
          return make<TransformedDistribution>(
              AnyDistribution(base), std::vector<TransformPtr>(parts.begin(), parts.end()), v);
        });
  m.def("MixtureSameFamily", [](const Shared& mixture, const Shared& components, Validate v) {
    const auto* chosen = dynamic_cast<const Categorical*>(mixture.get());
    if (!chosen)
      raise(PyExc_ValueError,
            " The Mixture distribution needs to be an  instance of "
            "torch.distributions.Categorical");
    return make<MixtureSameFamily>(*chosen, AnyDistribution(components), v);
  });
}

}  // namespace

void add_distributions(PyObject* module) {
  py::module_ m = as_module(module).def_submodule("_distributions");
  add_base(m);
  add_constraints(m);
  add_transforms(m);
  add_of_numbers(m);
  add_of_outcomes(m);
  add_of_vectors(m);
  add_combined(m);
}

}  // namespace taeda::python
