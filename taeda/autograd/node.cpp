#include "taeda/autograd/node.h"

#include <ostream>

#include "taeda/autograd/sequence.h"

namespace taeda::inline v0_2::autograd {

namespace {

thread_local uint64_t next_number = 0;

/// Nodes whose last reference is gone, waiting for their turn on this thread.
thread_local Node* dead_list = nullptr;
thread_local bool destroying = false;

thread_local Node* running_node = nullptr;

}  // namespace

Node* current_node() { return running_node; }

std::ostream& operator<<(std::ostream& out, const NodePtr& node) {
  if (!node) return out << "None";
  return out << '<' << node->name() << " at " << static_cast<const void*>(node.get()) << '>';
}

RunningNode::RunningNode(Node* node) : previous_(running_node) { running_node = node; }
RunningNode::~RunningNode() { running_node = previous_; }

Node::Node() : sequence_nr_(next_number++) {}

uint64_t next_sequence_nr() { return next_number; }
void set_next_sequence_nr(uint64_t n) { next_number = n; }

uint32_t Node::add_input(const Tensor& output) {
  inputs.push_back({output.sizes(), output.dtype(), output.device()});
  if (!output.is_cpu()) stream = current_stream(output.device());
  return static_cast<uint32_t>(inputs.size() - 1);
}

void Node::drop(NodeHooks* hooks) { delete hooks; }

NodeHooks& Node::ensure_hooks() {
  if (NodeHooks* have = hooks()) return *have;
  auto* made = new NodeHooks;
  NodeHooks* first = nullptr;
  if (hooks_.compare_exchange_strong(first, made)) return *made;
  delete made;  // another thread was faster
  return *first;
}

HookHandle Node::add_tensor_hook(uint32_t input_nr, TensorHook hook) {
  return ensure_hooks().tensor.add({input_nr, std::move(hook)}, "register_hook");
}

HookHandle Node::add_pre_hook(NodePreHook hook) {
  return ensure_hooks().pre.add(std::move(hook), "Node::add_pre_hook");
}

HookHandle Node::add_post_hook(NodePostHook hook) {
  return ensure_hooks().post.add(std::move(hook), "Node::add_post_hook");
}

bool Node::remove_hook(HookHandle handle) {
  NodeHooks* h = hooks();
  return h && (h->tensor.remove(handle) || h->pre.remove(handle) || h->post.remove(handle) ||
               h->post_accumulate.remove(handle));
}

// Deleting a node drops its edges and what it saved, which may end other nodes' lives: those only
// join the list, so the depth of the stack does not depend on the depth of the graph.
void destroy(Node* node) {
  node->next_dead_ = dead_list;
  dead_list = node;
  if (destroying) return;
  destroying = true;
  while (Node* next = dead_list) {
    dead_list = next->next_dead_;
    delete next;
  }
  destroying = false;
}

}  // namespace taeda::inline v0_2::autograd
