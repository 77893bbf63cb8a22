#include "taeda/nn/reparametrize.h"

#include "taeda/nn/weight_rules.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/norm.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/selection.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn::utils {

namespace {

/// Takes back what a module registered, which is for classes of modules alone.
struct Registry : Module {
  static void drop_parameter(Module& m, const std::string& name) {
    (m.*&Registry::parameters_).erase(name);
  }
  static void drop_buffer(Module& m, const std::string& name) {
    (m.*&Registry::buffers_).erase(name);
  }
};

Tensor parameter_of(const Module& module, const char* name) {
  return module.named_parameters(false)[name];
}

/// The weight as a matrix of dimension `dim` by all others.
Tensor as_matrix(const Tensor& weight, int64_t dim) {
  const Tensor rows = weight.movedim(dim, 0);
  return rows.reshape({rows.size(0), -1});
}

Tensor unit(const Tensor& t, double eps) { return normalize(t, 2, 0, eps); }

class WeightNormRule final : public detail::WeightRule {
 public:
  explicit WeightNormRule(OptionalDim dim) : dim_(dim) {}
  void begin(Module& module, const Tensor& weight) const override {
    module.register_parameter("weight_g", norm_except_dim(weight, 2, dim_of(weight)));
    module.register_parameter("weight_v", weight);
  }
  Tensor compute(Module& module, bool) const override {
    const Tensor v = parameter_of(module, "weight_v");
    return weight_of_norm(v, parameter_of(module, "weight_g"), dim_of(v));
  }
  void end(Module& module) const override {
    Registry::drop_parameter(module, "weight_g");
    Registry::drop_parameter(module, "weight_v");
  }

 private:
  int64_t dim_of(const Tensor& v) const { return dim_ ? wrap_dim(*dim_, v.dim()) : -1; }
  OptionalDim dim_;
};

class SpectralNormRule final : public detail::WeightRule {
 public:
  SpectralNormRule(int64_t iterations, double eps, int64_t dim)
      : iterations_(iterations), eps_(eps), dim_(dim) {}
  void begin(Module& module, const Tensor& weight) const override {
    module.register_parameter("weight_orig", weight);
    const auto [u, v] = first_singular_vectors(weight, dim_, eps_);
    module.register_buffer("weight_u", u);
    module.register_buffer("weight_v", v);
  }
  Tensor compute(Module& module, bool training) const override {
    const auto buffers = module.named_buffers(false);
    return weight_of_spectral_norm(parameter_of(module, "weight_orig"), buffers["weight_u"],
                                   buffers["weight_v"], training ? iterations_ : 0, dim_, eps_);
  }
  void end(Module& module) const override {
    Registry::drop_parameter(module, "weight_orig");
    Registry::drop_buffer(module, "weight_u");
    Registry::drop_buffer(module, "weight_v");
  }

 private:
  int64_t iterations_;
  double eps_;
  int64_t dim_;
};

}  // namespace

Tensor weight_of_norm(const Tensor& v, const Tensor& g, int64_t dim) {
  return v.mul(g.div(norm_except_dim(v, 2, dim)));
}

std::pair<Tensor, Tensor> first_singular_vectors(const Tensor& weight, int64_t dim, double eps) {
  const NoGradGuard no_grad;
  const Tensor matrix = as_matrix(weight, dim);
  const auto start = [&](int64_t side) {
    return unit(empty({matrix.size(side)}, matrix.options()).normal_(0, 1), eps);
  };
  const Tensor u = start(0);
  return {u, start(1)};
}

Tensor weight_of_spectral_norm(const Tensor& weight, Tensor u, Tensor v, int64_t iterations,
                               int64_t dim, double eps) {
  const Tensor matrix = as_matrix(weight, dim);
  if (iterations > 0) {
    const NoGradGuard no_grad;
    for (int64_t i = 0; i < iterations; ++i) {
      v.copy_(unit(matrix.t().mv(u), eps));
      u.copy_(unit(matrix.mv(v), eps));
    }
    // The next call changes what was lent, before the graph of this one is done.
    u = u.clone();
    v = v.clone();
  }
  return weight.div(u.vdot(matrix.mv(v)));
}

std::unique_ptr<detail::WeightRule> detail::weight_norm_rule(OptionalDim dim) {
  return std::make_unique<WeightNormRule>(dim);
}

std::unique_ptr<detail::WeightRule> detail::spectral_norm_rule(int64_t iterations, double eps,
                                                               int64_t dim) {
  TAEDA_CHECK_VALUE(
      iterations > 0,
      "Expected n_power_iterations to be positive, but got n_power_iterations=", iterations);
  return std::make_unique<SpectralNormRule>(iterations, eps, dim);
}

ComputedWeight::ComputedWeight(std::shared_ptr<Module> module, Member weight,
                               std::unique_ptr<detail::WeightRule> rule)
    : module_(std::move(module)), weight_(std::move(weight)), rule_(std::move(rule)) {
  const Tensor value = weight_(*module_).detach();
  rule_->begin(*module_, value);
  Registry::drop_parameter(*module_, "weight");
  weight_(*module_) = value;
  hook_ = register_forward_pre_hook(
      *module_, [rule = rule_, weight = weight_](Module& m, ModuleHooks::Inputs&) {
        weight(m) = rule->compute(m, m.is_training());
      });
}

void ComputedWeight::remove() {
  if (!module_) return;
  NoGradGuard no_grad;
  const Tensor value = rule_->compute(*module_, /*training=*/false);
  remove_hook(*module_, hook_);
  rule_->end(*module_);
  weight_(*module_) = module_->register_parameter("weight", value);
  module_ = nullptr;
}

}  // namespace taeda::inline v0_2::nn::utils
