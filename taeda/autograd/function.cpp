#include "taeda/autograd/function.h"

#include <algorithm>

#include "taeda/base/type_name.h"

namespace taeda::inline v0_2::autograd {

std::string detail::demangled(const char* mangled) {
  return taeda::detail::short_type_name(mangled);
}

bool AutogradContext::needs_input_grad(
    std::initializer_list<std::pair<size_t, size_t>> ranges) const {
  for (const auto& [begin, end] : ranges)
    for (size_t i = begin; i < end; ++i)
      if (needs_input_grad(i)) return true;
  return false;
}

// What a backward does with them is its own affair: it may record although the pass does not, so
// they come with the history that they had.
variable_list AutogradContext::get_saved_variables() const {
  if (released_) detail::throw_graph_released("a user-defined function");
  const AutoGradMode recorded(true);
  variable_list out;
  for (const Saved& s : saved_) out.push_back(s.unpack());
  return out;
}

void FunctionNode::finish(const variable_list& inputs, const std::vector<bool>& is_tensor,
                          variable_list& outputs) {
  is_tensor_ = is_tensor;
  detail::connect(*this, TensorList(inputs));
  const auto contains = [](const std::vector<TensorImpl*>& list, const Tensor& t) {
    return std::find(list.begin(), list.end(), t.unsafe_impl()) != list.end();
  };
  const auto is_among = [](const variable_list& list, const Tensor& t) {
    return std::find_if(list.begin(), list.end(), [&](const Tensor& o) { return o.is_same(t); });
  };
  for (const TensorImpl* dirty : context.dirty_)
    TAEDA_CHECK(std::any_of(outputs.begin(), outputs.end(),
                            [&](const Tensor& t) { return t.unsafe_impl() == dirty; }),
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the Function. "
                "(in ",
                name_, ")");
  const NodePtr self(this);
  const ViewKind kind = outputs.size() == 1 ? ViewKind::CustomFunction : ViewKind::MultiOutput;
  variable_list own = outputs;  // as forward made them, with inputs taken out
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    Tensor& out = outputs[i];
    TAEDA_CHECK(out.defined(), name_, ": forward returned an undefined tensor as output ", i);
    const bool dirty = contains(context.dirty_, out);
    TAEDA_CHECK(!dirty || !out.requires_grad() || !out.is_leaf(),
                "a leaf Variable that requires grad has been used in an in-place operation. (in ",
                name_, ")");
    const bool is_input = is_among(inputs, out) != inputs.end();
    if (is_input && !dirty) own[i].reset();
    const bool differentiable =
        is_differentiable(out.dtype()) && !contains(context.non_differentiable_, out);
    // An input returned as it is gets a history of its own, and so do views that forward made.
    if (!dirty && (is_input || (differentiable && out.is_view())))
      out = make_view(out, out.layout(), kind);
    if (!differentiable)
      add_input(out);
    else if (dirty)
      rebase_history(out, self, i);
    else
      set_history(out, self, i);
  }
  for (const Tensor& t : context.to_save_) {
    const auto output = is_among(own, t);
    context.saved_.emplace_back(t, nullptr, output != own.end(),
                                static_cast<uint32_t>(output - own.begin()));
  }
  take_saved_count();
  context.to_save_.clear();
  for (const Edge& e : edges) context.needs_.push_back(static_cast<bool>(e));
}

TensorVec FunctionNode::apply(TensorVec grads, Needs needs) {
  variable_list given(grads.begin(), grads.end());
  if (context.materialize_)
    for (size_t i = 0; i < given.size(); ++i)
      if (!given[i].defined()) {
        given[i] = make_tensor(inputs[i].sizes, inputs[i].dtype, inputs[i].device);
        given[i].zero_();
      }
  for (size_t i = 0; i < context.needs_.size(); ++i) context.needs_[i] = needs[i];
  variable_list all = backward_(&context, std::move(given));
  // A forward with default arguments: gradients of those that the call left out are not defined.
  while (all.size() > is_tensor_.size() && !all.back().defined()) all.pop_back();
  TAEDA_CHECK(all.size() == is_tensor_.size(), "function ", name_,
              " returned an incorrect number of gradients (expected ", is_tensor_.size(), ", got ",
              all.size(), ")");
  TensorVec out;
  for (size_t i = 0; i < all.size(); ++i)
    if (is_tensor_[i])
      out.push_back(all[i]);
    else
      TAEDA_CHECK(!all[i].defined(), "function ", name_,
                  " returned a gradient different than undefined at position ", i + 1,
                  ", but the corresponding forward argument was not a Tensor");
  return out;
}

std::vector<SavedTensor> FunctionNode::saved_tensors() const {
  if (context.released_) detail::throw_graph_released(name());
  const RunningNode running(const_cast<FunctionNode*>(this));  // outputs get their history from it
  std::vector<SavedTensor> out;
  for (Tensor& t : context.get_saved_variables()) out.push_back({"", std::move(t)});
  return out;
}

void FunctionNode::release_saved() {
  if (context.saved_.empty()) return;
  context.saved_.clear();
  context.released_ = true;
}

}  // namespace taeda::inline v0_2::autograd
