#include "taeda/distributions/transforms.h"

#include <cmath>
#include <numbers>

#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/distributions/numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::distributions {

namespace {

[[noreturn]] void lacks(const std::string& name, const char* what) {
  taeda::detail::fail<NotImplementedError>(name + " does not implement " + what);
}

/// The sum over the last `dims` dimensions.
Tensor sum_last(const Tensor& t, int64_t dims) {
  if (dims == 0) return t;
  DimVector which;
  for (int64_t i = 1; i <= dims; ++i) which.push_back(-i);
  return t.sum(which);
}

Tensor one() { return ones({}); }

}  // namespace

Tensor Transform::sign() const { lacks(name(), "sign"); }

namespace transforms {

namespace {

struct Exp final : Transform {
  std::string name() const override { return "ExpTransform"; }
  Tensor operator()(const Tensor& x) const override { return x.exp(); }
  Tensor inv(const Tensor& y) const override { return y.log(); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const override { return x; }
  Constraint codomain() const override { return constraints::positive(); }
  Tensor sign() const override { return one(); }
};

/// The number or tensor for an x: numbers in its dtype and on its device.
Tensor beside(const Parameter& p, const Tensor& x) {
  return p.is_number() ? full({}, p.number(), x.options().requires_grad(false)) : p.tensor();
}

DimVector broadcast_with(IntArrayRef shape, const Parameter& p) {
  return p.is_number() ? DimVector(shape) : broadcast_sizes(shape, p.tensor().sizes());
}

Tensor sign_of(const Parameter& p) {
  return p.is_number() ? full({}, p.number() < 0 ? -1 : 1) : p.tensor().sign();
}

struct Affine final : Transform {
  Affine(Parameter loc, Parameter scale, int64_t event_dim)
      : loc(std::move(loc)), scale(std::move(scale)), event_dim(event_dim) {}
  std::string name() const override { return "AffineTransform"; }
  Tensor operator()(const Tensor& x) const override {
    return x.mul(beside(scale, x)).add(beside(loc, x));
  }
  Tensor inv(const Tensor& y) const override { return y.sub(beside(loc, y)).div(beside(scale, y)); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const override {
    const DimVector shape = broadcast_with(x.sizes(), scale);
    return sum_last(beside(scale, x).abs().log().expand(shape), event_dim);
  }
  Constraint domain() const override { return constraints::real().independent(event_dim); }
  Constraint codomain() const override { return domain(); }
  Tensor sign() const override { return sign_of(scale); }
  DimVector forward_shape(IntArrayRef shape) const override {
    return broadcast_with(broadcast_with(shape, loc), scale);
  }
  DimVector inverse_shape(IntArrayRef shape) const override { return forward_shape(shape); }

  Parameter loc, scale;
  int64_t event_dim;
};

struct Sigmoid final : Transform {
  std::string name() const override { return "SigmoidTransform"; }
  Tensor operator()(const Tensor& x) const override {
    return x.sigmoid().clamp(tiny_of(x.dtype()), 1 - epsilon_of(x.dtype()));
  }
  Tensor inv(const Tensor& y) const override {
    const Tensor p = y.clamp(tiny_of(y.dtype()), 1 - epsilon_of(y.dtype()));
    return p.log().sub(p.neg().log1p());
  }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const override {
    return log1p_exp(x).add(log1p_exp(x.neg())).neg();
  }
  Constraint codomain() const override { return constraints::unit_interval(); }
  Tensor sign() const override { return one(); }
};

struct Tanh final : Transform {
  std::string name() const override { return "TanhTransform"; }
  Tensor operator()(const Tensor& x) const override { return x.tanh(); }
  Tensor inv(const Tensor& y) const override { return y.atanh(); }
  /// 1 - tanh(x)^2 as 4 / (e^x + e^-x)^2, which holds for large x too.
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const override {
    return x.add(log1p_exp(x.mul(-2))).neg().add(std::numbers::ln2).mul(2);
  }
  Constraint codomain() const override { return constraints::interval(-1, 1); }
  Tensor sign() const override { return one(); }
};

struct Softplus final : Transform {
  std::string name() const override { return "SoftplusTransform"; }
  Tensor operator()(const Tensor& x) const override { return log1p_exp(x); }
  Tensor inv(const Tensor& y) const override { return y.neg().expm1().neg().log().add(y); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const override {
    return log1p_exp(x.neg()).neg();
  }
  Constraint codomain() const override { return constraints::positive(); }
  Tensor sign() const override { return one(); }
};

struct Power final : Transform {
  explicit Power(Parameter exponent) : exponent(std::move(exponent)) {}
  std::string name() const override { return "PowerTransform"; }
  Tensor operator()(const Tensor& x) const override { return x.pow(beside(exponent, x)); }
  Tensor inv(const Tensor& y) const override { return y.pow(beside(exponent, y).reciprocal()); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const override {
    return y.mul(beside(exponent, x)).div(x).abs().log();
  }
  Constraint domain() const override { return constraints::positive(); }
  Constraint codomain() const override { return constraints::positive(); }
  Tensor sign() const override { return sign_of(exponent); }
  DimVector forward_shape(IntArrayRef shape) const override {
    return broadcast_with(shape, exponent);
  }
  DimVector inverse_shape(IntArrayRef shape) const override { return forward_shape(shape); }

  Parameter exponent;
};

struct Abs final : Transform {
  std::string name() const override { return "AbsTransform"; }
  Tensor operator()(const Tensor& x) const override { return x.abs(); }
  Tensor inv(const Tensor& y) const override { return y; }
  Tensor log_abs_det_jacobian(const Tensor&, const Tensor&) const override {
    lacks(name(), "log_abs_det_jacobian: it is not bijective");
  }
  Constraint codomain() const override { return constraints::nonnegative(); }
  bool bijective() const override { return false; }
};

struct Softmax final : Transform {
  std::string name() const override { return "SoftmaxTransform"; }
  Tensor operator()(const Tensor& x) const override { return x.softmax(-1); }
  Tensor inv(const Tensor& y) const override { return y.log(); }
  Tensor log_abs_det_jacobian(const Tensor&, const Tensor&) const override {
    lacks(name(), "log_abs_det_jacobian: it is not bijective");
  }
  Constraint domain() const override { return constraints::real_vector(); }
  Constraint codomain() const override { return constraints::simplex(); }
  bool bijective() const override { return false; }
};

struct StickBreaking final : Transform {
  std::string name() const override { return "StickBreakingTransform"; }
  Tensor operator()(const Tensor& x) const override {
    const Tensor broken = x.sub(offsets(x)).sigmoid();
    const Tensor end = ones_like(x.narrow(-1, 0, 1));
    const Tensor left = cat({end, broken.neg().add(1).cumprod(-1)}, -1);
    return cat({broken, end}, -1).mul(left);
  }
  Tensor inv(const Tensor& y) const override {
    const Tensor parts = y.narrow(-1, 0, y.size(-1) - 1);
    const Tensor left = parts.cumsum(-1).neg().add(1).clamp_min(tiny_of(y.dtype()));
    return parts.log().sub(left.log()).add(offsets(parts));
  }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const override {
    const Tensor odds = x.sub(offsets(x));
    return log1p_exp(odds.neg()).neg().sub(odds).add(y.narrow(-1, 0, x.size(-1)).log()).sum({-1});
  }
  Constraint domain() const override { return constraints::real_vector(); }
  Constraint codomain() const override { return constraints::simplex(); }
  DimVector forward_shape(IntArrayRef shape) const override { return longer(shape, 1); }
  DimVector inverse_shape(IntArrayRef shape) const override { return longer(shape, -1); }

 private:
  /// log of how many pieces the rest is broken into, so that 0 gives equal weights.
  static Tensor offsets(const Tensor& x) {
    return arange(x.size(-1), 0, -1, x.options().requires_grad(false)).log();
  }
  DimVector longer(IntArrayRef shape, int64_t by) const {
    TAEDA_CHECK_VALUE(!shape.empty(), "Too few dimensions on input of ", name());
    DimVector result(shape);
    result.back() += by;
    return result;
  }
};

struct LowerCholesky final : Transform {
  std::string name() const override { return "LowerCholeskyTransform"; }
  Tensor operator()(const Tensor& x) const override {
    return x.tril(-1).add(x.diagonal(0, -2, -1).exp().diag_embed());
  }
  Tensor inv(const Tensor& y) const override {
    return y.tril(-1).add(y.diagonal(0, -2, -1).log().diag_embed());
  }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const override {
    return x.diagonal(0, -2, -1).sum({-1});
  }
  Constraint domain() const override { return constraints::real().independent(2); }
  Constraint codomain() const override { return constraints::lower_cholesky(); }
};

struct Reshape final : Transform {
  Reshape(DimVector in, DimVector out) : in(std::move(in)), out(std::move(out)) {}
  std::string name() const override { return "ReshapeTransform"; }
  Tensor operator()(const Tensor& x) const override { return x.reshape(forward_shape(x.sizes())); }
  Tensor inv(const Tensor& y) const override { return y.reshape(inverse_shape(y.sizes())); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const override {
    return x.new_zeros(x.sizes().slice(0, x.sizes().size() - in.size()));
  }
  Constraint domain() const override {
    return constraints::real().independent(static_cast<int64_t>(in.size()));
  }
  Constraint codomain() const override {
    return constraints::real().independent(static_cast<int64_t>(out.size()));
  }
  DimVector forward_shape(IntArrayRef shape) const override { return replaced(shape, in, out); }
  DimVector inverse_shape(IntArrayRef shape) const override { return replaced(shape, out, in); }

  DimVector in, out;

 private:
  DimVector replaced(IntArrayRef shape, IntArrayRef old, IntArrayRef fresh) const {
    const bool fits =
        shape.size() >= old.size() && shape.slice(shape.size() - old.size(), old.size()) == old;
    TAEDA_CHECK_VALUE(fits, name(), ": expected a shape that ends in ", old, ", but got ", shape);
    DimVector result(shape.slice(0, shape.size() - old.size()));
    for (const int64_t size : fresh) result.push_back(size);
    return result;
  }
};

struct Independent final : Transform {
  Independent(TransformPtr f, int64_t dims) : f(std::move(f)), dims(dims) {}
  std::string name() const override { return "IndependentTransform(" + f->name() + ")"; }
  Tensor operator()(const Tensor& x) const override { return (*f)(x); }
  Tensor inv(const Tensor& y) const override { return f->inv(y); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const override {
    return sum_last(f->log_abs_det_jacobian(x, y), dims);
  }
  Constraint domain() const override { return f->domain().independent(dims); }
  Constraint codomain() const override { return f->codomain().independent(dims); }
  bool bijective() const override { return f->bijective(); }
  Tensor sign() const override { return f->sign(); }
  DimVector forward_shape(IntArrayRef shape) const override { return f->forward_shape(shape); }
  DimVector inverse_shape(IntArrayRef shape) const override { return f->inverse_shape(shape); }

  TransformPtr f;
  int64_t dims;
};

struct Compose final : Transform {
  explicit Compose(std::vector<TransformPtr> parts) : parts(std::move(parts)) {}
  std::string name() const override {
    std::string text = "ComposeTransform(";
    for (const TransformPtr& f : parts) text += (text.back() == '(' ? "" : ", ") + f->name();
    return text + ")";
  }
  Tensor operator()(const Tensor& x) const override {
    Tensor y = x;
    for (const TransformPtr& f : parts) y = (*f)(y);
    return y;
  }
  Tensor inv(const Tensor& y) const override {
    Tensor x = y;
    for (auto f = parts.rbegin(); f != parts.rend(); ++f) x = (*f)->inv(x);
    return x;
  }
  /// Each part's, over the dimensions that count as one value to all of them together.
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const override {
    Tensor from = x, total;
    int64_t events = domain().event_dim();
    for (const TransformPtr& f : parts) {
      const Tensor to = (*f)(from);
      const Tensor part =
          sum_last(f->log_abs_det_jacobian(from, to), events - f->domain().event_dim());
      total = total.defined() ? total.add(part) : part;
      events += f->codomain().event_dim() - f->domain().event_dim();
      from = to;
    }
    return total.defined() ? total : zeros_like(x);
  }
  Constraint domain() const override {
    if (parts.empty()) return constraints::real();
    int64_t events = parts.back()->codomain().event_dim();
    for (auto f = parts.rbegin(); f != parts.rend(); ++f)
      events = std::max(events + (*f)->domain().event_dim() - (*f)->codomain().event_dim(),
                        (*f)->domain().event_dim());
    const Constraint first = parts.front()->domain();
    return first.independent(events - first.event_dim());
  }
  Constraint codomain() const override {
    if (parts.empty()) return constraints::real();
    int64_t events = domain().event_dim();
    for (const TransformPtr& f : parts)
      events += f->codomain().event_dim() - f->domain().event_dim();
    const Constraint last = parts.back()->codomain();
    return last.independent(events - last.event_dim());
  }
  bool bijective() const override {
    return std::ranges::all_of(parts, [](const TransformPtr& f) { return f->bijective(); });
  }
  Tensor sign() const override {
    Tensor result = one();
    for (const TransformPtr& f : parts) result = result.mul(f->sign());
    return result;
  }
  DimVector forward_shape(IntArrayRef shape) const override {
    DimVector result(shape);
    for (const TransformPtr& f : parts) result = f->forward_shape(result);
    return result;
  }
  DimVector inverse_shape(IntArrayRef shape) const override {
    DimVector result(shape);
    for (auto f = parts.rbegin(); f != parts.rend(); ++f) result = (*f)->inverse_shape(result);
    return result;
  }

  std::vector<TransformPtr> parts;
};

struct Inverse final : Transform {
  explicit Inverse(TransformPtr f) : f(std::move(f)) {}
  std::string name() const override { return "inverse of " + f->name(); }
  Tensor operator()(const Tensor& x) const override { return f->inv(x); }
  Tensor inv(const Tensor& y) const override { return (*f)(y); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const override {
    return f->log_abs_det_jacobian(y, x).neg();
  }
  Constraint domain() const override { return f->codomain(); }
  Constraint codomain() const override { return f->domain(); }
  bool bijective() const override { return f->bijective(); }
  Tensor sign() const override { return f->sign(); }
  DimVector forward_shape(IntArrayRef shape) const override { return f->inverse_shape(shape); }
  DimVector inverse_shape(IntArrayRef shape) const override { return f->forward_shape(shape); }

  TransformPtr f;
};

const Parameter& checked(const Parameter& p, const char* what) {
  TAEDA_CHECK_VALUE(p.is_number() || p.tensor().is_floating_point(), what,
                    " expects numbers or tensors of a floating dtype, but got ",
                    p.tensor().dtype());
  return p;
}

const TransformPtr& checked(const TransformPtr& f, const char* what) {
  TAEDA_CHECK_VALUE(f, what, ": the transform is null");
  return f;
}

}  // namespace

TransformPtr exp() { return std::make_shared<Exp>(); }
TransformPtr sigmoid() { return std::make_shared<Sigmoid>(); }
TransformPtr tanh() { return std::make_shared<Tanh>(); }
TransformPtr softplus() { return std::make_shared<Softplus>(); }
TransformPtr abs() { return std::make_shared<Abs>(); }
TransformPtr softmax() { return std::make_shared<Softmax>(); }
TransformPtr stick_breaking() { return std::make_shared<StickBreaking>(); }
TransformPtr lower_cholesky() { return std::make_shared<LowerCholesky>(); }

TransformPtr affine(Parameter loc, Parameter scale, int64_t event_dim) {
  TAEDA_CHECK_VALUE(event_dim >= 0, "affine: event_dim must not be negative, but is ", event_dim);
  return std::make_shared<Affine>(checked(loc, "affine"), checked(scale, "affine"), event_dim);
}

TransformPtr power(Parameter exponent) {
  return std::make_shared<Power>(checked(exponent, "power"));
}

TransformPtr reshape(DimVector in, DimVector out) {
  const auto count = [](const DimVector& sizes) {
    CheckedInt product = 1;
    for (const int64_t size : sizes) {
      TAEDA_CHECK_VALUE(size >= 0, "reshape: sizes must not be negative, got ", IntArrayRef(sizes));
      product = product * size;
    }
    return product.value("reshape");
  };
  TAEDA_CHECK_VALUE(count(in) == count(out),
                    "in_shape, out_shape have different numbers of elements: ", IntArrayRef(in),
                    " and ", IntArrayRef(out));
  return std::make_shared<Reshape>(std::move(in), std::move(out));
}

TransformPtr independent(TransformPtr f, int64_t dims) {
  TAEDA_CHECK_VALUE(dims >= 0,
                    "independent: the number of dimensions must not be negative, but is ", dims);
  return std::make_shared<Independent>(checked(f, "independent"), dims);
}

TransformPtr compose(std::vector<TransformPtr> parts) {
  for (const TransformPtr& f : parts) checked(f, "compose");
  return std::make_shared<Compose>(std::move(parts));
}

TransformPtr inverse(TransformPtr f) { return std::make_shared<Inverse>(checked(f, "inverse")); }

}  // namespace transforms
}  // namespace taeda::inline v0_2::distributions
