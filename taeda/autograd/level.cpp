#include "taeda/autograd/level.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "taeda/autograd/meta.h"
#include "taeda/autograd/sequence.h"
#include "taeda/tensor/mapped.h"

namespace taeda::inline v0_2::autograd {

namespace {

/// Which nodes of a level lead to a leaf that is not one of its own.
class Outside {
 public:
  Outside(uint64_t first, const std::vector<Tensor>& watched) : first_(first) {
    for (const Tensor& t : watched) watched_.insert(plain_of(t).unsafe_impl());
  }

  /// With `cut` edges that do not lead there are taken away; without, the first way there is
  /// enough.
  bool is_reached(const NodePtr& root, bool cut) {
    kept_.push_back(root);
    std::vector<std::pair<Node*, size_t>> stack;
    if (visit(root.get(), stack)) return true;
    while (!stack.empty()) {
      auto& [node, child] = stack.back();
      if (child < node->edges.size()) {
        const Edge& edge = node->edges[child++];
        if (!edge || !visit(edge.node.get(), stack) || cut) continue;
        for (const auto& above : stack) reached_[above.first] = true;
        return true;
      }
      bool found = false;
      for (Edge& edge : node->edges) {
        if (!edge) continue;
        if (reached_.at(edge.node.get()))
          found = true;
        else if (cut)
          kept_.push_back(std::exchange(edge, {}).node);
      }
      reached_[node] = found;
      stack.pop_back();
    }
    return reached_.at(root.get());
  }

 private:
  /// What is known of a node without a look at those that follow.
  std::optional<bool> known(Node& node) const {
    if (const auto* const sink = dynamic_cast<AccumulateGrad*>(&node)) {
      const Tensor leaf = sink->leaf();
      return leaf.defined() && leaf.requires_grad() && !watched_.count(leaf.unsafe_impl());
    }
    if (node.sequence_nr() < first_)
      return true;  // it was there before, for somebody who wanted it
    return std::nullopt;
  }

  /// What is known of a node; one that is to be gone through first goes onto the stack.
  bool visit(Node* node, std::vector<std::pair<Node*, size_t>>& stack) {
    const auto [entry, fresh] = reached_.try_emplace(node, false);
    if (!fresh) return entry->second;
    if (const std::optional<bool> found = known(*node))
      entry->second = *found;
    else
      stack.push_back({node, 0});
    return entry->second;
  }

  uint64_t first_;
  std::unordered_set<const TensorImpl*> watched_;
  std::unordered_map<const Node*, bool> reached_;
  std::vector<NodePtr> kept_;  // live as long as their addresses are keys
};

}  // namespace

Level::Level() : first_(next_sequence_nr()) {}

bool Level::reaches_outside(const std::vector<Tensor>& outputs,
                            const std::vector<Tensor>& watched) const {
  Outside outside(first_, watched);
  return std::any_of(outputs.begin(), outputs.end(), [&](const Tensor& t) {
    return t.requires_grad() && outside.is_reached(gradient_edge(t).node, false);
  });
}

std::vector<Tensor> Level::close(const std::vector<Tensor>& results,
                                 const std::vector<Tensor>& watched, bool recorded,
                                 bool cut) const {
  Outside outside(first_, watched);
  std::vector<Tensor> left;
  for (const Tensor& t : results) {
    const NodePtr node = t.requires_grad() ? gradient_edge(t).node : NodePtr();
    const bool own = node && !recorded && !t.is_leaf() && node->sequence_nr() >= first_;
    left.push_back(node && (own || !outside.is_reached(node, cut)) ? t.detach() : t);
  }
  return left;
}

}  // namespace taeda::inline v0_2::autograd
