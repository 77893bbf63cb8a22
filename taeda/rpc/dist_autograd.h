// Gradients through calls of other workers; torch.distributed.autograd.
//
//     const dist_autograd::context context;
//     const Tensor loss = rpc::rpc_sync("worker1", forward, {x, w}).sum();
//     dist_autograd::backward(context.id(), {loss});
//     const Tensor of_w = dist_autograd::get_gradients(context.id()).at(w);
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::distributed::dist_autograd {

/// While it lives, calls of this thread, and what they call, record how their results depend on
/// tensors that want a gradient. Gradients are kept in the context at each worker, not in grad().
/// It ends for all workers with the object.
class context {
 public:
  context();
  ~context();
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  int64_t id() const { return id_; }

 private:
  struct Scope;
  const int64_t id_;
  std::unique_ptr<Scope> scope_;
};

/// Leaves of this worker and their gradients.
class Gradients {
 public:
  using Entries = std::vector<std::pair<Tensor, Tensor>>;
  explicit Gradients(Entries entries) : entries_(std::move(entries)) {}

  bool contains(const Tensor& leaf) const { return find(leaf) != nullptr; }
  /// Throws ValueError for a tensor that got no gradient.
  const Tensor& at(const Tensor& leaf) const;
  size_t size() const { return entries_.size(); }
  Entries::const_iterator begin() const { return entries_.begin(); }
  Entries::const_iterator end() const { return entries_.end(); }

 private:
  const Tensor* find(const Tensor& leaf) const;

  Entries entries_;
};

/// Computes gradients of `roots`, of one element each, at all workers that had part in them, and
/// adds them to what the context has. Returns when all are done. Throws what went wrong at any of
/// them, with its name; a part of the pass takes rpc_timeout at most.
void backward(int64_t context_id, const std::vector<Tensor>& roots, bool retain_graph = false);

/// Throws ValueError for a context that this worker knows nothing of.
Gradients get_gradients(int64_t context_id);

}  // namespace taeda::inline v0_2::distributed::dist_autograd
