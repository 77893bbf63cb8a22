#include "taeda/rpc/dist_autograd.h"

#include "taeda/base/error.h"
#include "taeda/rpc/contexts.h"

namespace taeda::inline v0_2::distributed::dist_autograd {

struct context::Scope {
  std::shared_ptr<rpc::Agent> agent;
  rpc::Contexts::Scope scope;
};

context::context()
    : id_([] {
        TAEDA_CHECK(rpc::Contexts::current() < 0,
                    "Already have an autograd context id for this thread.");
        return rpc::Agent::current()->contexts().make();
      }()),
      scope_(new Scope{rpc::Agent::current(), rpc::Contexts::Scope(id_)}) {}

context::~context() {
  const auto agent = scope_->agent;
  scope_.reset();
  agent->contexts().release(id_);
}

const Tensor* Gradients::find(const Tensor& leaf) const {
  for (const auto& [known, gradient] : entries_)
    if (known.unsafe_impl() == leaf.unsafe_impl()) return &gradient;
  return nullptr;
}

const Tensor& Gradients::at(const Tensor& leaf) const {
  const Tensor* out = find(leaf);
  TAEDA_CHECK_VALUE(out, "the autograd context has no gradient of this tensor, one of shape ",
                    leaf.sizes());
  return *out;
}

void backward(int64_t context_id, const std::vector<Tensor>& roots, bool retain_graph) {
  rpc::Agent::current()->contexts().backward(context_id, roots, retain_graph);
}

Gradients get_gradients(int64_t context_id) {
  return Gradients(rpc::Agent::current()->contexts().get(context_id)->gradients());
}

}  // namespace taeda::inline v0_2::distributed::dist_autograd
