#include "taeda/autograd/saved.h"

#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/meta.h"
#include "taeda/base/error.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::autograd {

namespace {
thread_local int saved_count = 0;
}

int take_saved_count() {
  const int n = saved_count;
  saved_count = 0;
  return n;
}

Saved::Saved(const Tensor& t, bool is_output, uint32_t output_nr)
    : output_nr_(output_nr), is_output_(is_output) {
  if (!t.defined()) return;
  ++saved_count;
  TAEDA_CHECK(!t.is_inference(),
              "Inference tensors cannot be saved for backward. To work around you can make a "
              "clone to get a normal tensor and use it in autograd.");
  version_ = static_cast<uint32_t>(t._version());
  wants_grad_ = is_output || t.requires_grad();
  if (!is_output && (!wants_grad_ || t.is_leaf())) {
    data_ = t;
    return;
  }
  // The tensor itself would keep its graph alive and, changed in place later, close a cycle.
  data_ = make_alias(t);
  if (!is_output) grad_fn_ = grad_fn_of(t, &output_nr_);
}

Tensor Saved::unpack() const {
  if (!data_.defined()) return {};
  if (static_cast<uint32_t>(data_._version()) != version_) throw_modified();
  if (!wants_grad_ || !GradMode::is_enabled()) return data_;
  if (!is_output_ && !grad_fn_) return data_;  // a leaf
  Tensor out = make_alias(data_);
  set_history(out, is_output_ ? NodePtr(current_node()) : grad_fn_, output_nr_);
  return out;
}

void Saved::throw_modified() const {
  std::string source;
  if (const Node* fn = is_output_ ? current_node() : grad_fn_.get())
    source = taeda::detail::concat(", which is output ", output_nr_, " of ", fn->name(), ",");
  throw Error(taeda::detail::concat(
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation: [taeda.",
      data_.is_cpu() ? "" : taeda::detail::concat(to_string(data_.device().type()), "."),
      to_string(data_.dtype()), "Tensor ", data_.sizes(), "]", source, " is at version ",
      data_._version(), "; expected version ", version_, " instead. Hint: ",
      AnomalyMode::is_enabled() ? "the operation that failed to compute its gradient is named "
                                  "above; the variable in question was changed "
                                  "there or anywhere later."
                                : "enable anomaly detection to find the operation that failed to "
                                  "compute its gradient, with "
                                  "taeda::autograd::set_detect_anomaly(true)."));
}

Saved save(const Tensor& t) { return Saved(t, false); }

Saved save_if(bool needed, const Tensor& t) { return needed ? save(t) : Saved(); }

Saved save_output(const Tensor& t, uint32_t output_nr) { return Saved(t, true, output_nr); }

}  // namespace taeda::autograd
