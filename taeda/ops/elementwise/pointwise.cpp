#include "taeda/ops/elementwise/pointwise.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "taeda/ops/destination.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/overlap.h"

namespace taeda::inline v0_2 {

namespace {

/// Tensors with dimensions that all have one dtype need no promotion rules.
ScalarType uniform_dtype(ArrayRef<Operand> inputs) {
  ScalarType t = ScalarType::Undefined;
  for (const Operand& in : inputs) {
    if (!in.tensor()) {
      if (in.scalar().is_integral()) continue;
      if (in.scalar().is_floating_point() && t != ScalarType::Undefined && is_floating_point(t))
        continue;
      return ScalarType::Undefined;
    }
    if (t == ScalarType::Undefined) t = in.tensor()->dtype();
    if (in.tensor()->dtype() != t) return ScalarType::Undefined;
  }
  return t == kBool ? ScalarType::Undefined : t;
}

ScalarType common_dtype(const detail::PointwiseCall& call, ArrayRef<Operand> inputs) {
  const auto masks = static_cast<size_t>(call.masks);
  inputs = inputs.slice(masks, inputs.size() - masks);
  ScalarType t = uniform_dtype(inputs);
  if (t == ScalarType::Undefined) t = result_type(inputs);
  return call.to_float && is_integral(t, true) ? get_default_dtype() : t;
}

/// The inputs in one dtype; those that differ are converted.
class Converted {
 public:
  Converted(ArrayRef<Operand> inputs, ScalarType common, size_t masks) {
    NoGradGuard guard;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor* t = inputs[i].tensor();
      const ScalarType wanted = i < masks ? kBool : common;
      if (!t || t->dtype() == wanted) {
        operands_.push_back(inputs[i]);
      } else {
        casts_[i] = t->to(wanted);
        operands_.push_back(Operand(casts_[i]));
      }
    }
  }
  operator ArrayRef<Operand>() const { return operands_; }

 private:
  Tensor casts_[Iter::kMaxOperands];
  SmallVector<Operand, Iter::kMaxOperands> operands_;
};

bool need_conversion(ArrayRef<Operand> inputs, ScalarType common, size_t masks) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* t = inputs[i].tensor();
    if (t && t->dtype() != (i < masks ? kBool : common)) return true;
  }
  return false;
}

/// The iterator joins dimensions, so the shapes are noted before. Apart, so that `launch` stays
/// short.
[[gnu::noinline, gnu::cold]] void note_shapes(ArrayRef<Operand> inputs) {
  std::string shapes;
  for (const Operand& in : inputs)
    detail::append_shape(shapes, in.tensor() ? *in.tensor() : Tensor());
  tracing::set_next_shapes(detail::close_shapes(std::move(shapes)));
}

void launch(const detail::PointwiseCall& call, const Iter& it, ArrayRef<Operand> inputs) {
  if (it.numel() == 0) return;
  if (tracing::wants(tracing::kShapes)) [[unlikely]]
    note_shapes(inputs);
  (*call.slot)(it.device().type(), it, call.functor);
}

void launch(const detail::PointwiseCall& call, Tensor& out, ArrayRef<Operand> inputs,
            ScalarType common, ScalarType result) {
  Tensor* outputs[] = {&out};
  launch(call, Iter(call.name, outputs, result, inputs, common), inputs);
}

/// The kernel converts, block by block.
void launch_mixed(const detail::PointwiseCall& call, Tensor& out, ArrayRef<Operand> inputs,
                  ScalarType common, ScalarType result) {
  Tensor* outputs[] = {&out};
  Iter it(call.name, outputs, result, inputs, common);
  if (out.dtype() != result) it.set_stored_dtype(0, out.dtype());
  const auto masks = static_cast<size_t>(call.masks);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* t = inputs[i].tensor();
    if (t && t->dtype() != (i < masks ? kBool : common))
      it.set_stored_dtype(static_cast<int>(i) + 1, t->dtype());
  }
  launch(call, it, inputs);
}

/// The kernel takes and gives one dtype: what differs is cast apart.
void launch_cast(const detail::PointwiseCall& call, Tensor& out, ArrayRef<Operand> inputs,
                 ScalarType common, ScalarType result) {
  const Converted converted(inputs, common, static_cast<size_t>(call.masks));
  if (!out.defined() || out.dtype() == result) return launch(call, out, converted, common, result);
  Tensor computed;
  launch(call, computed, converted, common, result);
  NoGradGuard guard;
  out.copy_(computed.expand(out.sizes()));
}

/// Whether an operand has a dtype that no kernel converts.
bool any_stored(const Tensor& out, ArrayRef<Operand> inputs) {
  const auto stored = [](const Tensor* t) { return t && t->defined() && is_stored(t->dtype()); };
  return stored(&out) || std::any_of(inputs.begin(), inputs.end(),
                                     [&](const Operand& in) { return stored(in.tensor()); });
}

/// Operands of several dtypes.
[[gnu::noinline]] void run_mixed(const detail::PointwiseCall& call, Tensor& out,
                                 ArrayRef<Operand> inputs, ScalarType common, ScalarType result) {
  if (out.defined())
    TAEDA_CHECK(can_cast(result, out.dtype()), "result type ", to_string(result),
                " can't be cast to the desired output type ", to_string(out.dtype()));
  Tensor* outputs[] = {&out};
  const DeviceType type = Iter::device_of(call.name, outputs, inputs).type();
  const bool converts = call.slot->get(type) && converts_operands(type) && !any_stored(out, inputs);
  (converts ? launch_mixed : launch_cast)(call, out, inputs, common, result);
}

TAEDA_ALWAYS_INLINE void run_in(const detail::PointwiseCall& call, Tensor& out,
                                ArrayRef<Operand> inputs, ScalarType common) {
  const ScalarType result = call.predicate      ? kBool
                            : call.result_dtype ? call.result_dtype(common)
                                                : common;
  if (detail::Destination::is_offered() && !out.defined())
    out = detail::Destination::take(call.operation, inputs, result);
  const bool mixed = need_conversion(inputs, common, static_cast<size_t>(call.masks));
  if (mixed || (out.defined() && out.dtype() != result))
    return run_mixed(call, out, inputs, common, result);
  launch(call, out, inputs, common, result);
}

/// Whether writing `out` may change elements of an input before they are read.
bool would_change(const Tensor& out, const Operand& in) {
  const Tensor* t = in.tensor();
  return t && t->is_alias_of(out) && !t->is_same(out) && overlap_of(out, *t) == Overlap::Open;
}

bool any_would_change(const Tensor& out, ArrayRef<Operand> inputs) {
  for (const Operand& in : inputs)
    if (would_change(out, in)) return true;
  return false;
}

[[gnu::noinline, gnu::cold]] void run_with_copies(const detail::PointwiseCall& call, Tensor& out,
                                                  ArrayRef<Operand> inputs) {
  const NoGradGuard guard;
  Tensor copies[Iter::kMaxOperands];
  SmallVector<Operand, Iter::kMaxOperands> apart;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (would_change(out, inputs[i])) copies[i] = inputs[i].tensor()->clone();
    apart.push_back(copies[i].defined() ? Operand(copies[i]) : inputs[i]);
  }
  detail::run_pointwise(call, out, apart);
}

[[gnu::noinline]] void run_complex(detail::PointwiseCall call, Tensor& out,
                                   ArrayRef<Operand> inputs, ScalarType common) {
  call.make_complex(call);
  run_in(call, out, inputs, common);
}

constexpr std::string_view kComputeUnsigned[] = {
    "mul",     "bitwise_and", "bitwise_or", "bitwise_xor", "maximum",
    "minimum", "fmax",        "fmin",       "clamp",       "relu"};

/// Of uint16 to uint64, by int64: products and bits are the same modulo 2^64. What compares numbers
/// has those of uint64 moved by half of the range, so that they keep their order.
[[gnu::noinline, gnu::cold]] void run_unsigned(const detail::PointwiseCall& call, Tensor& out,
                                               ArrayRef<Operand> inputs, ScalarType common) {
  const std::string_view name = call.name;
  TAEDA_CHECK_NOT_IMPLEMENTED(std::ranges::count(kComputeUnsigned, name) == 1, "\"", name,
                              "\" not implemented for '", common, "'");
  const NoGradGuard guard;
  const bool compares = name != "mul" && !name.starts_with("bitwise") && name != "relu";
  const int64_t moved = compares && common == kUInt64 ? std::numeric_limits<int64_t>::min() : 0;
  const auto move = [moved](const Tensor& t) { return moved ? t.bitwise_xor(moved) : t; };
  Tensor words[Iter::kMaxOperands];
  SmallVector<Operand, Iter::kMaxOperands> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (const Tensor* t = inputs[i].tensor()) {
      words[i] = move(t->to(kLong));
      operands.push_back(words[i]);
    } else {
      const Scalar& number = inputs[i].scalar();
      const int64_t bits = number.type() == kUInt64 ? static_cast<int64_t>(number.to<uint64_t>())
                                                    : number.to<int64_t>();
      operands.push_back(Scalar(bits ^ moved));
    }
  }
  Tensor computed = words[0];  // none is below 0
  if (name != "relu") launch(call, computed = Tensor(), operands, kLong, kLong);
  computed = move(computed).to(common);
  if (out.defined())
    out.copy_(computed.expand(out.sizes()));
  else
    out = std::move(computed);
}

constexpr std::string_view kComputeComplexHalf[] = {"add",   "sub",      "mul",  "neg", "abs",
                                                    "conj",  "addcmul",  "eq",   "ne",  "isnan",
                                                    "isinf", "isfinite", "where"};

/// Of complex32, by complex64.
[[gnu::noinline, gnu::cold]] void run_complex_half(const detail::PointwiseCall& call, Tensor& out,
                                                   ArrayRef<Operand> inputs) {
  const std::string_view name = call.name;
  TAEDA_CHECK_NOT_IMPLEMENTED(std::ranges::count(kComputeComplexHalf, name) == 1, "\"", name,
                              "\" not implemented for 'ComplexHalf'");
  const ScalarType result = call.predicate      ? kBool
                            : call.result_dtype ? call.result_dtype(kComplexHalf)
                                                : kComplexHalf;
  TAEDA_CHECK(!out.defined() || can_cast(result, out.dtype()), "result type ", result,
              " can't be cast to the desired output type ", out.dtype());
  const NoGradGuard guard;
  Tensor wide[Iter::kMaxOperands];
  SmallVector<Operand, Iter::kMaxOperands> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* t = inputs[i].tensor();
    if (t) wide[i] = t->to(i < static_cast<size_t>(call.masks) ? kBool : kComplexFloat);
    operands.push_back(t ? Operand(wide[i]) : inputs[i]);
  }
  Tensor computed;
  detail::run_pointwise(call, computed, operands);
  computed = computed.to(result);
  if (out.defined())
    out.copy_(computed.expand(out.sizes()));
  else
    out = std::move(computed);
}

/// In a dtype that asks for a look at it, apart from what all others pass.
[[gnu::noinline]] void run_rare(const detail::PointwiseCall& call, Tensor& out,
                                ArrayRef<Operand> inputs, ScalarType common) {
  if (is_wide_unsigned(common)) return run_unsigned(call, out, inputs, common);
  if (common == kComplexHalf) return run_complex_half(call, out, inputs);
  if (call.make_complex && is_complex(common)) return run_complex(call, out, inputs, common);
  run_in(call, out, inputs, common);
}

}  // namespace

void detail::run_pointwise(const PointwiseCall& call, Tensor& out, ArrayRef<Operand> inputs) {
  if (out.defined() && any_would_change(out, inputs)) [[unlikely]]
    return run_with_copies(call, out, inputs);
  // With no inputs the output decides (fill).
  const ScalarType common = inputs.empty() ? out.dtype() : common_dtype(call, inputs);
  if (is_complex(common) || is_stored(common)) [[unlikely]]
    return run_rare(call, out, inputs, common);
  run_in(call, out, inputs, common);
}

void check_floating(const char* op, const Tensor& t) {
  if (!is_floating_point(t.dtype())) detail::throw_no_dtype(op, t.dtype());
}

}  // namespace taeda::inline v0_2
