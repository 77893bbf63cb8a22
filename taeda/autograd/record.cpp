#include "taeda/autograd/record.h"

#include "taeda/autograd/anomaly.h"
#include "taeda/base/error.h"

namespace taeda::autograd {

bool any_wants_grad(TensorList inputs) {
  if (!GradMode::is_enabled()) return false;
  for (const Tensor& t : inputs)
    if (t.defined() && t.requires_grad()) return true;
  return false;
}

void detail::throw_graph_released(const char* name) {
  throw Error(
      taeda::detail::concat("Trying to backward through the graph a second time (or directly "
                            "access saved tensors after they have already "
                            "been freed). Saved intermediate values of the graph are freed when "
                            "you call .backward() or autograd::grad(). "
                            "Specify retain_graph=true if you need to backward through the graph a "
                            "second time or if you need to access "
                            "saved tensors after calling backward. (at ",
                            name, ")"));
}

namespace {

void remember_origin(Node& node) {
  if (!AnomalyMode::is_enabled()) return;
  const Node* outer = current_node();
  node.origin = std::make_unique<std::string>(
      outer ? taeda::detail::concat("recorded while ", outer->name(), " ran")
            : "recorded in the forward pass");
}

}  // namespace

void detail::connect(Node& node, ArrayRef<Input> inputs) {
  node.edges.reserve(inputs.size());
  for (const Input& in : inputs)
    node.edges.push_back(in.tensor->defined() ? gradient_edge(*in.tensor) : Edge{});
  remember_origin(node);
}

void detail::connect(Node& node, TensorList inputs) {
  node.edges.reserve(inputs.size());
  for (const Tensor& in : inputs) node.edges.push_back(in.defined() ? gradient_edge(in) : Edge{});
  remember_origin(node);
}

void check_inplace(const char* op, const Tensor& self) {
  const TensorImpl& impl = *self.unsafe_impl();
  TAEDA_CHECK(!impl.inference || InferenceMode::is_enabled(),
              "Inplace update to inference tensor outside InferenceMode is not allowed (in ", op,
              "). You can make a "
              "clone to get a normal tensor before doing inplace update.");
  if (!GradMode::is_enabled() || !self.requires_grad()) return;
  TAEDA_CHECK(!self.is_leaf(),
              "a leaf Variable that requires grad is being used in an in-place operation. (in ", op,
              ")");
  if (impl.view_kind == ViewKind::None) return;
  const Tensor base(impl.base);
  TAEDA_CHECK(
      !(base.is_leaf() && base.requires_grad()),
      "a view of a leaf Variable that requires grad is being used in an in-place operation. (in ",
      op, ")");
  TAEDA_CHECK(
      impl.view_kind != ViewKind::NoGrad,
      "A view was created in no_grad mode and is being modified inplace with grad mode enabled. "
      "(in ",
      op,
      ") "
      "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
      "your code by "
      "moving both the view and the inplace either both inside the no_grad block or both outside.");
  if (impl.view_kind == ViewKind::MultiOutput) {
    uint32_t nr = 0;
    const NodePtr fn = grad_fn_of(self, &nr);
    throw Error(taeda::detail::concat(
        "Output ", nr, " of ", fn ? fn->name() : "a function",
        " is a view and is being modified inplace. This view "
        "is the output of a function that returns multiple views. Such functions do not allow the "
        "output views to be "
        "modified inplace. You should replace the inplace operation by an out-of-place one."));
  }
}

void assign_inplace(const char* op, const Tensor& self,
                    const std::function<Tensor(const Tensor&)>& compute) {
  const Tensor result = compute(self.clone());
  TAEDA_CHECK(result.sizes() == self.sizes(), "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", result.sizes());
  TAEDA_CHECK(can_cast(result.dtype(), self.dtype()), "result type ", to_string(result.dtype()),
              " can't be cast to the desired output type ", to_string(self.dtype()), " (in ", op,
              ")");
  const Tensor value = result.to(self.dtype());
  {
    NoGradGuard guard;
    self.copy_(value);
  }
  uint32_t nr = 0;
  if (NodePtr fn = grad_fn_of(value, &nr)) {
    // copy_ counted the change already: a view's old history is what it was before.
    rebase_history(self, std::move(fn), nr);
  }
}

}  // namespace taeda::autograd
