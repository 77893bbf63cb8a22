#include "taeda/ops/autocast.h"

#include <unordered_map>

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

bool worth_remembering(const Tensor& t) {
  return AutocastMode::state().cache && t.dtype() == kFloat && t.requires_grad() && t.is_leaf() &&
         !t.is_view() && !t.is_inference();
}

}  // namespace

bool applies_while_active(const Tensor& t, Devices devices) {
  if (!t.defined() || !t.is_floating_point() || t.dtype() == kDouble) return false;
  const DeviceType type = t.device().type();
  return (devices & AutocastMode::bit(type)) && AutocastMode::is_enabled(type);
}

bool rounds_weights(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (!applies(input, everywhere) || !weight.defined() || weight.dtype() != kFloat) return false;
  return weight.device() == input.device() &&
         (!bias.defined() || (bias.dtype() == kFloat && bias.device() == input.device()));
}

bool multiplies_in_float32(const Tensor& input) {
  if (!applies(input, everywhere)) return false;
  const DeviceType type = input.device().type();
  const auto ask = product_precision_slot.get(type);
  ProductPrecision precision;
  if (ask) ask(AutocastMode::dtype(type), &precision);
  return precision.float32;
}

Tensor to_lower_precision(const Tensor& t, Devices devices) {
  if (!applies(t, devices)) return t;
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

Tensor to_float32(const Tensor& t, Devices devices) {
  return applies(t, devices) ? t.to(kFloat) : t;
}

void clear_cache() {
  delete cache;
  cache = nullptr;
}

void detail::Caster::visit(const Tensor& t) {
  if (!applies(t, devices_)) return;
  widest_ = found_ ? promote_types(widest_, t.dtype()) : t.dtype();
  found_ = true;
}

Tensor detail::Caster::operator()(const Tensor& t) const {
  if (cast_ == Cast::lower) return to_lower_precision(t, devices_);
  if (cast_ == Cast::float32) return to_float32(t, devices_);
  return applies(t, devices_) ? t.to(widest_) : t;
}

}  // namespace taeda::inline v0_2::policy
