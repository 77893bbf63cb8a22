#include "taeda/ops/autocast.h"

#include <unordered_map>

#include "taeda/base/error.h"
#include "taeda/kernels/matmul.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2::policy {

namespace {

/// A leaf in lower precision. The entry holds the leaf, so that its address stays its own.
struct Remembered {
  Tensor leaf, cast;
  int64_t version;
  bool recorded;  // whether gradients flow from `cast` to `leaf`
};
using Cache = std::unordered_map<const TensorImpl*, Remembered>;

/// One per thread: threads of one program may run in different precisions. It exists only between
/// the first cast and the end of the outermost guard.
constinit thread_local Cache* cache = nullptr;

/// PyTorch's words for the one operation that it refuses.
constexpr const char* kUnsafe =
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
    "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
    "In this case, combine the two layers using "
    "torch.nn.functional.binary_cross_entropy_with_logits\nor torch.nn.BCEWithLogitsLoss.  "
    "binary_cross_entropy_with_logits and BCEWithLogits are\nsafe to autocast.";

bool worth_remembering(const Tensor& t) {
  return AutocastMode::state().cache && t.dtype() == kFloat && t.requires_grad() && t.is_leaf() &&
         !t.is_view() && !t.is_inference();
}

}  // namespace

bool applies_while_active(const Tensor& t) {
  return t.defined() && t.is_floating_point() && t.dtype() != kDouble &&
         AutocastMode::is_enabled(t.device().type());
}

bool rounds_weights(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (!applies(input) || !weight.defined() || weight.dtype() != kFloat) return false;
  return weight.device() == input.device() &&
         (!bias.defined() || (bias.dtype() == kFloat && bias.device() == input.device()));
}

bool multiplies_in_float32(const Tensor& input) {
  if (!applies(input)) return false;
  const DeviceType type = input.device().type();
  const auto ask = product_precision_slot.get(type);
  ProductPrecision precision;
  if (ask) ask(AutocastMode::dtype(type), &precision);
  return precision.float32;
}

Tensor to_lower_precision(const Tensor& t) {
  if (!applies(t)) return t;
  const ScalarType dtype = AutocastMode::dtype(t.device().type());
  if (t.dtype() == dtype) return t;
  if (!worth_remembering(t)) return t.to(dtype);
  if (!cache) cache = new Cache;
  Remembered& entry = (*cache)[t.unsafe_impl()];
  // A leaf that an optimizer has changed since is cast again, and so is one that was first used
  // without recording.
  const bool usable =
      entry.cast.defined() && entry.cast.dtype() == dtype && entry.cast.device() == t.device() &&
      entry.version == t.unsafe_impl()->version() && (entry.recorded || !GradMode::is_enabled());
  if (!usable) entry = {t, t.to(dtype), t.unsafe_impl()->version(), GradMode::is_enabled()};
  return entry.cast;
}

Tensor to_float32(const Tensor& t) { return applies(t) ? t.to(kFloat) : t; }

void clear_cache() {
  delete cache;
  cache = nullptr;
}

Cast detail::Caster::cast_of(const Tensor& t) const {
  if (!applies(t)) return Cast::none;
  return t.device().is_cpu() ? casts_.host : casts_.accelerators;
}

void detail::Caster::visit(const Tensor& t) {
  if (cast_of(t) != Cast::promote) return;
  widest_ = found_ ? promote_types(widest_, t.dtype()) : t.dtype();
  found_ = true;
}

Tensor detail::Caster::operator()(const Tensor& t) const {
  switch (cast_of(t)) {
    case Cast::none: return t;
    case Cast::lower: return to_lower_precision(t);
    case Cast::float32: return to_float32(t);
    case Cast::promote: return t.to(widest_);
    case Cast::unsafe: break;
  }
  throw Error(kUnsafe);
}

}  // namespace taeda::inline v0_2::policy
