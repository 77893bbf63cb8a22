#include "taeda/autograd/saved.h"

#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/meta.h"
#include "taeda/autograd/record.h"
#include "taeda/autograd/runs_once.h"
#include "taeda/base/error.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::autograd {

namespace {
thread_local int saved_count = 0;
thread_local SavedVisitor* visitor = nullptr;
}  // namespace

int take_saved_count() {
  const int n = saved_count;
  saved_count = 0;
  return n;
}

void runs_once() { ++saved_count; }

SavedVisitor::SavedVisitor() : previous_(visitor) { visitor = this; }
SavedVisitor::~SavedVisitor() { visitor = previous_; }

Saved::Saved(const Tensor& t, const char* name, bool is_output, uint32_t output_nr)
    : name_(name), output_nr_(output_nr), is_output_(is_output) {
  if (!t.defined()) return;
  ++saved_count;
  TAEDA_CHECK(!t.is_inference(),
              "Inference tensors cannot be saved for backward. Please do not use Tensors created "
              "in inference mode in computation tracked by autograd. To work around this, you can "
              "make a clone to get a normal tensor and use it in autograd, or use "
              "`torch.no_grad()` instead of `torch.inference_mode()`.");
  version_ = static_cast<uint32_t>(t._version());
  wants_grad_ = is_output || t.requires_grad();
  const bool hooked = SavedHooksMode::innermost();
  if (hooked) [[unlikely]]
    packed_ = pack(t);
  if (wants_grad_ && !is_output) {
    // A parameter and the like never gets a history, so it may be kept itself.
    const AutogradMeta* const meta = find_meta(t);
    if (!hooked && !t.is_view() && !(meta && meta->grad_fn)) {
      data_ = t;
      return;
    }
    Edge edge = gradient_edge(t);
    grad_fn_ = std::move(edge.node);
    output_nr_ = edge.input_nr;
  }
  // Any other tensor itself would keep its graph alive. One without a history, or its base, may get
  // one in place later of which this node is a part, which would close a cycle.
  if (!hooked) data_ = make_alias(t);
}

Saved::Saved(const Saved& o)
    : data_(o.data_),
      grad_fn_(o.grad_fn_),
      packed_(o.packed_),
      name_(o.name_),
      output_nr_(o.output_nr_),
      version_(o.version_),
      is_output_(o.is_output_),
      wants_grad_(o.wants_grad_) {
  if (visitor) [[unlikely]]
    visitor->note(o);
}

Tensor Saved::unpack() const {
  if (packed_) [[unlikely]]
    return with_history(packed_->unpack());
  if (!data_.defined()) return {};
  if (static_cast<uint32_t>(data_._version()) != version_) throw_modified();
  return with_history(data_);
}

Tensor Saved::with_history(const Tensor& data) const {
  if (!wants_grad_ || !GradMode::is_enabled()) return data;
  if (!is_output_ && !grad_fn_) return data;       // a leaf
  if (is_output_ && !current_node()) return data;  // nobody says whose
  Tensor out = make_alias(data);
  if (grad_fn_ && grad_fn_->edges.empty()) {  // a leaf's sink, which is no history: one step to it
    detail::link(out, {grad_fn_, output_nr_});
    return out;
  }
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

Saved save_tensor(const Tensor& t, const char* name) { return Saved(t, name, false); }

Saved save_if(bool needed, const Tensor& t, const char* name) {
  return needed ? save_tensor(t, name) : Saved();
}

Saved save_output(const Tensor& t, uint32_t output_nr, const char* name) {
  return Saved(t, name, true, output_nr);
}

}  // namespace taeda::inline v0_2::autograd
