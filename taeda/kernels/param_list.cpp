#include "taeda/kernels/param_list.h"

#include <algorithm>

#include "taeda/base/error.h"
#include "taeda/kernels/memory_order.h"

namespace taeda::inline v0_2 {

namespace {

/// "float32 [2, 3] on cpu".
std::string described(const Tensor& t) {
  return detail::concat(to_string(t.dtype()), " ", t.sizes(), " on ", t.device());
}

[[noreturn]] void throw_unfit(const ParamTensors& p, const char* what, const char* name,
                              const Tensor& t) {
  const bool order = t.device() == p.param.device() && t.dtype() == p.param.dtype() &&
                     t.sizes() == p.param.sizes();
  throw Error(detail::concat(p.op, ": expected the ", what, name, " of parameter ", p.index,
                             " of group ", p.group, " to be ", described(p.param),
                             " like the parameter, but got ", described(t),
                             order ? " in another memory order" : ""));
}

void check_fits(const ParamTensors& p, const char* what, const char* name, const Tensor& t) {
  if (t.device() != p.param.device() || t.dtype() != p.param.dtype() ||
      !(t.sizes() == p.param.sizes()) || !same_memory_order(t, p.param)) [[unlikely]]
    throw_unfit(p, what, name, t);
}

/// The address of elements that fill one stretch of memory, all of it within the storage.
char* address(const char* op, const Tensor& t) {
  const int64_t end = (t.storage_offset() + t.numel()) * t.element_size();
  TAEDA_CHECK(t.numel() == 0 || end <= static_cast<int64_t>(t.storage()->nbytes()), op,
              ": a tensor of ", described(t), " reaches beyond its storage of ",
              t.storage()->nbytes(), " bytes");
  auto* base = static_cast<char*>(t.storage()->data_for_work());
  return base ? base + t.storage_offset() * t.element_size() : nullptr;
}

}  // namespace

Numbers::Numbers(const Tensor& t) : device_(t.device()), count_(t.numel()) {
  TAEDA_CHECK(t.dtype() == kDouble, "numbers for a kernel must be double, but got ",
              to_string(t.dtype()));
  TAEDA_CHECK(t.is_contiguous(), "numbers for a kernel must be contiguous, but got strides ",
              t.strides());
  data_ = reinterpret_cast<double*>(address("numbers for a kernel", t));
}

void Numbers::check(const char* what, Device device, int64_t count) const {
  TAEDA_CHECK(device_ == device && count_ >= count, what, ": expected ", count, " numbers on ",
              device, ", but got ", count_, " on ", device_);
}

void ParamList::add(const ParamTensors& p) {
  if (!is_floating_point(dtype_)) detail::throw_no_dtype(p.op, dtype_);
  TAEDA_CHECK(p.param.device() == device_ && p.param.dtype() == dtype_, p.op,
              ": expected parameters of ", to_string(dtype_), " on ", device_, ", but got ",
              described(p.param));
  TAEDA_CHECK(p.param.is_contiguous() || p.param.layout().is_non_overlapping_and_dense(), p.op,
              ": there are gaps between the elements of parameter ", p.index, " of group ",
              p.group);
  check_fits(p, "gradient", "", p.grad);
  ParamRef ref;
  ref.param_ = address(p.op, p.param);
  ref.grad_ = address(p.op, p.grad);
  for (size_t k = 0; k < p.states.size(); ++k) {
    if (!p.states[k]) continue;
    check_fits(p, "state ", p.state_names[k], *p.states[k]);
    ref.state_[k] = address(p.op, *p.states[k]);
  }
  ref.numel_ = p.param.numel();
  items_.push_back(ref);
}

void ParamList::set_live(const Numbers& live, int64_t stride) {
  const auto n = static_cast<int64_t>(items_.size());
  live.check("a parameter list's own numbers", device_, std::max<int64_t>(n * stride, 1));
  live_ = live;
  for (int64_t i = 0; i < n; ++i) items_[static_cast<size_t>(i)].live_ = live.data() + i * stride;
}

void ParamList::set_skip(const Numbers& skip) {
  skip.check("whether a parameter list is left out", device_, 2);
  skip_ = skip;
}

void ParamList::clear() {
  items_.clear();
  live_ = skip_ = Numbers();
}

void ParamList::rebase(ptrdiff_t delta) {
  const auto move = [delta](auto& p) { p = p ? p + delta : p; };
  for (ParamRef& r : items_) {
    move(r.param_);
    move(r.grad_);
    for (char*& s : r.state_) move(s);
    if (r.live_) r.live_ += delta / static_cast<ptrdiff_t>(sizeof(double));
  }
  live_.rebase(delta);
  skip_.rebase(delta);
}

}  // namespace taeda::inline v0_2
