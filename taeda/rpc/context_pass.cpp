// A worker's part of a backward pass: Note [The backward pass over workers] in contexts.h.

#include <unordered_set>
#include <utility>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/meta.h"
#include "taeda/autograd/sequence.h"
#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/rpc/contexts.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed::rpc {

namespace {

using autograd::Edge;
using autograd::Needs;
using autograd::Node;
using autograd::NodePtr;
using autograd::TensorVec;

/// The message's gradients go to the tensors that were sent, and the tick to the gate before.
/// Edges: those of the tensors, a leaf that keeps the gate in the pass, the gate before.
class GateNode final : public Node {
 public:
  GateNode(const Context::Sent& sent, std::shared_ptr<detail::FutureState> gradients,
           const Tensor& tick, const Edge& leaf, const NodePtr& before)
      : gradients_(std::move(gradients)), message_(sent.message) {
    set_sequence_nr(0);
    add_input(tick);
    for (const Edge& edge : sent.edges) edges.push_back(edge);
    edges.push_back(leaf);
    if (before) edges.push_back({before, 0});
    passes_on_ = static_cast<bool>(before);
  }
  const char* name() const override { return "SendRpcBackward"; }

  TensorVec apply(TensorVec ticks, Needs) override {
    const size_t tensors = edges.size() - 1 - (passes_on_ ? 1 : 0);
    const auto made = gradients_->value();
    const auto& gradients = *static_cast<const std::vector<Tensor>*>(made.get());
    TAEDA_CHECK_AS(DistributedError, gradients.size() == tensors, "rpc: ", gradients.size(),
                   " gradients came for ", tensors, " tensors of message ", message_);
    TensorVec out(gradients.begin(), gradients.end());
    out.push_back({});
    if (passes_on_) out.push_back(ticks[0]);
    return out;
  }

 private:
  const std::shared_ptr<detail::FutureState> gradients_;
  const int64_t message_;
  bool passes_on_ = false;  ///< the tick
};

/// Starts receives and the latest gate.
class ClockNode final : public Node {
 public:
  const char* name() const override { return "RpcClockBackward"; }
  TensorVec apply(TensorVec ticks, Needs) override {
    TensorVec out;
    for (size_t i = 0; i < edges.size(); ++i) out.push_back(ticks[0]);
    return out;
  }
};

/// The leaves that gradients of the tensors reach.
std::vector<Tensor> leaves_of(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> out;
  std::unordered_set<const Node*> seen;
  std::vector<NodePtr> stack;
  const auto visit = [&](const Edge& edge) {
    if (edge && seen.insert(edge.node.get()).second) stack.push_back(edge.node);
  };
  for (const Tensor& t : tensors) visit(autograd::gradient_edge(t));
  while (!stack.empty()) {
    const NodePtr node = std::move(stack.back());
    stack.pop_back();
    for (const Edge& edge : node->next_functions()) visit(edge);
    if (auto* sink = dynamic_cast<autograd::AccumulateGrad*>(node.get()))
      if (Tensor leaf = sink->leaf(); leaf.defined()) out.push_back(std::move(leaf));
  }
  return out;
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace

/// What tensors of a message have as their history: sends their gradients back. Inputs: the tick,
/// then the tensors.
class ReceiveNode final : public Node {
 public:
  ReceiveNode(Context& context, int64_t message, int64_t peer)
      : context_(context.weak_from_this()), message_(message), peer_(peer) {
    const Tensor leaf = zeros({}).requires_grad_();
    leaf_ = leaf;
    add_input(leaf);
    edges.push_back(autograd::gradient_edge(leaf));
  }
  const char* name() const override { return "RecvRpcBackward"; }
  int64_t message() const { return message_; }
  int64_t peer() const { return peer_; }

  TensorVec apply(TensorVec gradients, Needs) override {
    const auto context = context_.lock();
    TAEDA_CHECK(context,
                "the autograd context of a tensor that came from another worker has ended");
    context->send_gradients(message_, peer_, {gradients.begin() + 1, gradients.end()}, "");
    return {};
  }

 private:
  const std::weak_ptr<Context> context_;
  const int64_t message_, peer_;
  Tensor leaf_;
};

bool ContextPass::begin() {
  std::lock_guard lock(mutex_);
  return !std::exchange(begun_, true);
}

std::shared_ptr<detail::FutureState> ContextPass::gate(int64_t message, int64_t peer) {
  std::lock_guard lock(mutex_);
  Gate& gate = gates_[message];
  gate.peer = peer;
  if (const auto failed = failed_peers_.find(peer); failed != failed_peers_.end())
    gate.gradients->fail(failed->second);
  return gate.gradients;
}

void ContextPass::fail_gates(int64_t peer, const std::exception_ptr& error) {
  std::lock_guard lock(mutex_);
  failed_peers_[peer] = error;
  for (const auto& [message, gate] : gates_)
    if (gate.peer == peer) gate.gradients->fail(error);
}

void Context::add_peer(int64_t peer) {
  std::lock_guard lock(mutex_);
  if (peer != agent.self().id) peers_.insert(peer);
}

std::set<int64_t> Context::peers() const {
  std::lock_guard lock(mutex_);
  return peers_;
}

void Context::add_sent(Sent sent) {
  std::lock_guard lock(mutex_);
  sent_.push_back(std::move(sent));
}

NodePtr Context::add_received(int64_t message, int64_t peer) {
  if (autograd::next_sequence_nr() == 0) autograd::set_next_sequence_nr(1);  // after all gates
  NodePtr node = make_intrusive<ReceiveNode>(*this, message, peer);
  std::lock_guard lock(mutex_);
  received_.push_back(node);
  return node;
}

std::shared_ptr<ContextPass> Context::pass(int64_t number) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<ContextPass>& pass = passes_[number];
  if (!pass) pass = std::make_shared<ContextPass>();
  return pass;
}

/// A pass that begins later finds no peer that it could call.
void Context::fail_gates(const std::exception_ptr& error) {
  std::map<int64_t, std::shared_ptr<ContextPass>> passes;
  {
    std::lock_guard lock(mutex_);
    passes = passes_;
  }
  for (const auto& [number, its_pass] : passes)
    for (const WorkerInfo& worker : agent.workers()) its_pass->fail_gates(worker.id, error);
}

Context::Gradients Context::gradients() const {
  std::lock_guard lock(mutex_);
  Gradients out;
  for (const auto& [impl, entry] : gradients_) out.push_back(entry);
  return out;
}

void Context::run(int64_t number, const std::vector<Tensor>& roots, bool retain_graph) {
  const auto its_pass = pass(number);
  try {
    begin(number);
    try {
      start_peers(number, its_pass, retain_graph);
      compute(*its_pass, roots, retain_graph);
    } catch (...) {
      fail_receives(text_of(std::current_exception()));
      end();
      throw;
    }
    end();
  } catch (...) {
    its_pass->done->fail(std::current_exception());
    throw;
  }
  its_pass->done->arrive([] { return nullptr; });
}

void Context::begin(int64_t number) {
  std::lock_guard lock(mutex_);
  TAEDA_CHECK(running_ < 0, "a backward pass of autograd context ", id, " runs already");
  running_ = number;
  answered_.clear();
}

void Context::end() {
  std::lock_guard lock(mutex_);
  running_ = -1;
}

/// Whoever waits for gradients of this worker hears why there are none.
void Context::fail_receives(const std::string& why) {
  std::vector<NodePtr> received;
  {
    std::lock_guard lock(mutex_);
    received = received_;
  }
  for (const NodePtr& node : received) {
    const auto& receive = static_cast<const ReceiveNode&>(*node);
    try {
      send_gradients(receive.message(), receive.peer(), {}, why);
    } catch (const DistributedError&) {  // this worker was shut down
    }
  }
}

/// Gates wait for these workers: where one fails, so do they.
void Context::start_peers(int64_t number, const std::shared_ptr<ContextPass>& its_pass,
                          bool retain_graph) {
  for (const int64_t peer : peers()) {
    const auto started = Contexts::start_pass(agent, peer, id, number, retain_graph);
    started->on_done([peer, its_pass, started = started.get()] {
      try {
        started->value();
      } catch (...) {
        its_pass->fail_gates(peer, std::current_exception());
      }
    });
  }
}

void Context::compute(ContextPass& its_pass, const std::vector<Tensor>& roots, bool retain_graph) {
  std::vector<Sent> sent;
  std::vector<NodePtr> received;
  {
    std::lock_guard lock(mutex_);
    sent = sent_;
    received = received_;
  }
  const Tensor tick = zeros({}), leaf = zeros({}).requires_grad_();
  const NodePtr clock = make_intrusive<ClockNode>();
  clock->add_input(tick);
  for (const NodePtr& node : received) clock->edges.push_back({node, 0});
  NodePtr gate;
  for (const Sent& s : sent)
    gate = make_intrusive<GateNode>(s, its_pass.gate(s.message, s.peer), tick,
                                    autograd::gradient_edge(leaf), gate);
  if (gate) clock->edges.push_back({gate, 0});

  std::vector<Tensor> outputs = roots;
  if (!clock->edges.empty()) autograd::set_history(outputs.emplace_back(zeros({})), clock, 0);
  if (outputs.empty()) return;
  std::vector<Tensor> leaves = leaves_of(outputs);
  if (leaves.empty()) leaves.push_back(leaf);  // the roots say what is wrong
  accumulate(leaves, autograd::grad(outputs, leaves, {}, retain_graph, false, true));
}

void Context::accumulate(const std::vector<Tensor>& leaves, const std::vector<Tensor>& values) {
  const NoGradGuard values_only;
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!values[i].defined()) continue;
    auto& [leaf, sum] = gradients_[leaves[i].unsafe_impl()];
    leaf = leaves[i];
    sum = sum.defined() ? sum.add(values[i]) : values[i];
  }
}

void Context::send_gradients(int64_t message, int64_t peer, const std::vector<Tensor>& gradients,
                             const std::string& error) {
  int64_t number = 0;
  {
    std::lock_guard lock(mutex_);
    TAEDA_CHECK(running_ >= 0,
                "a tensor that came from another worker within an autograd context gets a gradient "
                "outside of dist_autograd::backward()");
    if (!answered_.insert(message).second) return;
    number = running_;
  }
  Writer out(&agent, peer);
  out.integer(id);
  out.integer(number);
  out.integer(message);
  out.text(error);
  out.integer(static_cast<int64_t>(gradients.size()));
  for (const Tensor& g : gradients) out.tensor(g);
  agent.request({Kind::Gradients, peer, "gradients of autograd context " + std::to_string(id),
                 [](Reader&) { return nullptr; }},
                std::move(out));
}

}  // namespace taeda::inline v0_2::distributed::rpc
