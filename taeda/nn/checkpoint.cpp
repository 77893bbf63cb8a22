// Note [Checkpoints in the graph]
// A checkpointed function becomes one node. Its edges lead to the arguments and to everything else
// in front of the function that its gradient reaches: parameters, and tensors with a history of
// their own. They are found by recording the first run and walking its graph, which is dropped
// right after: the memory of one function's activations is needed in backward anyway.
//
// Backward records the function a second time and runs a pass over that graph, which ends at the
// same places; what arrives there goes on in the pass that runs outside. So hooks of parameters run
// once, `autograd::grad` works, and a second gradient finds the whole history.
#include "taeda/nn/checkpoint.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/record.h"
#include "taeda/autograd/sequence.h"
#include "taeda/device/accelerator.h"
#include "taeda/device/generator.h"

namespace taeda::inline v0_2::utils::checkpoint {

namespace {

using autograd::Edge;
using autograd::Node;
using autograd::NodePtr;
using autograd::Saved;

void add_state(std::vector<std::pair<Device, std::vector<uint8_t>>>& states, Device device) {
  states.emplace_back(device, default_generator(device).get_state());
}

/// Casts of weights are not remembered in a scope.
class NoCastCache {
 public:
  NoCastCache() : previous_(AutocastMode::state()) {
    AutocastMode::State state = previous_;
    state.cache = false;
    AutocastMode::set_state(state);
  }
  ~NoCastCache() { AutocastMode::set_state(previous_); }
  NoCastCache(const NoCastCache&) = delete;
  NoCastCache& operator=(const NoCastCache&) = delete;

 private:
  AutocastMode::State previous_;
};

/// A recorded run of a function.
struct Trace {
  std::vector<Edge> inputs;  // where its graph begins
  std::vector<Tensor> outputs;
  std::vector<Edge> outer;  // where the graph leads to besides: parameters, earlier operations
  size_t operations = 0;
};

bool contains(ArrayRef<Edge> edges, const Edge& edge) {
  return std::any_of(edges.begin(), edges.end(), [&](const Edge& e) {
    return e.node == edge.node && e.input_nr == edge.input_nr;
  });
}

/// Finds what a trace's graph is made of. Nodes of the run have numbers from `first_number` on.
/// (Those of replicas' parameters have the highest but one, whenever they were made: they count as
/// part of the run, and the walk goes on to the parameters they stand for.) `known` lie outside
/// whatever their numbers: another thread may have made them.
void walk(Trace& trace, uint64_t first_number, ArrayRef<Edge> known) {
  std::unordered_set<const Node*> seen;
  std::vector<Node*> stack;
  for (const Edge& e : trace.inputs) seen.insert(e.node.get());
  const auto visit = [&](const Edge& edge) {
    if (!edge) return;
    Node& node = *edge.node;
    const bool leaf = node.edges.empty() && node.sequence_nr() == UINT64_MAX;
    const bool earlier = node.sequence_nr() < first_number && !seen.contains(&node);
    if (leaf || earlier || contains(known, edge)) {
      if (!contains(trace.outer, edge)) trace.outer.push_back(edge);
    } else if (seen.insert(&node).second) {
      ++trace.operations;
      stack.push_back(&node);
    }
  };
  for (const Tensor& t : trace.outputs)
    if (t.defined() && t.requires_grad()) visit(autograd::gradient_edge(t));
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Edge& e : node->edges) visit(e);
  }
}

/// Runs a function on stand-ins of the inputs; `wanted` says which carry gradients, `known` where
/// an earlier run's graph led to.
Trace trace_run(const detail::Run& fn, const std::vector<Tensor>& inputs,
                const std::vector<bool>& wanted, ArrayRef<Edge> known = {}) {
  Trace trace;
  const uint64_t first_number = autograd::next_sequence_nr();
  std::vector<Tensor> given = inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    trace.inputs.emplace_back();
    if (!wanted[i]) continue;
    given[i] = make_alias(inputs[i]);
    record("CheckpointInput", given[i], {inputs[i]}, [](const Tensor& g) { return g; });
    trace.inputs[i] = autograd::gradient_edge(given[i]);
  }
  trace.outputs = fn(given);
  walk(trace, first_number, known);
  return trace;
}

/// What a second run must give again.
struct Meta {
  explicit Meta(const Tensor& t) : defined(t.defined()) {
    if (!defined) return;
    sizes = t.sizes();
    dtype = t.dtype();
    device = t.device();
  }
  bool operator==(const Meta&) const = default;
  std::string text() const {
    if (!defined) return "{undefined}";
    return taeda::detail::concat("{shape: ", IntArrayRef(sizes), ", dtype: ", to_string(dtype),
                                 ", device: ", device, "}");
  }

  bool defined;
  DimVector sizes;
  ScalarType dtype = kFloat;
  Device device;
};

class CheckpointNode final : public Node {
 public:
  /// To be made before the first run: an argument that the function itself changes in place is then
  /// found to be changed.
  CheckpointNode(detail::Run fn, const std::vector<Tensor>& inputs, bool preserve_rng_state)
      : fn_(std::move(fn)), state_(inputs, preserve_rng_state) {
    for (const Tensor& t : inputs) {
      wanted_.push_back(wants_grad(t) && is_differentiable(t.dtype()));
      saved_.push_back(autograd::save_tensor(t));
      edges.push_back(wanted_.back() ? autograd::gradient_edge(t) : Edge{});
    }
    autograd::take_saved_count();
  }

  Trace first_run(const std::vector<Tensor>& inputs) {
    const NoCastCache uncached;
    Trace trace = trace_run(fn_, inputs, wanted_);
    for (const Edge& e : trace.outer) edges.push_back(e);
    for (const Tensor& t : trace.outputs) outputs_.emplace_back(t);
    operations_ = trace.operations;
    return trace;
  }

  const char* name() const override { return "CheckpointBackward"; }
  void release_saved() override {
    saved_.clear();
    fn_ = nullptr;
  }

  TensorVec apply(TensorVec grads, Needs needs) override {
    if (!fn_) autograd::detail::throw_graph_released(name());
    const bool create_graph = GradMode::is_enabled();
    std::vector<Tensor> given;
    for (const Saved& s : saved_) given.push_back(s.unpack());
    const Trace again = [&] {
      const ForwardState::Scope state(state_);
      const RecomputingGuard recomputing;
      const AutoGradMode recording(true);
      return trace_run(fn_, given, wanted_, outer());
    }();
    check(again);
    std::vector<Tensor> outputs, weights;
    for (size_t i = 0; i < grads.size(); ++i)
      if (grads[i].defined() && again.outputs[i].requires_grad()) {
        outputs.push_back(again.outputs[i]);
        weights.push_back(grads[i]);
      }
    std::vector<Edge> ends;
    for (size_t i = 0; i < edges.size(); ++i) {
      ends.push_back(i < wanted_.size() ? again.inputs[i] : edges[i]);
    }
    const auto results = autograd::grad_at(outputs, weights, ends, needs, create_graph);
    return {results.begin(), results.end()};
  }

 private:
  ArrayRef<Edge> outer() const {
    return {edges.data() + wanted_.size(), edges.size() - wanted_.size()};
  }

  void check(const Trace& again) const {
    for (size_t i = 0; i < std::max(outputs_.size(), again.outputs.size()); ++i) {
      const Meta now(i < again.outputs.size() ? again.outputs[i] : Tensor());
      const Meta before = i < outputs_.size() ? outputs_[i] : Meta(Tensor());
      TAEDA_CHECK(now == before,
                  "taeda::utils::checkpoint: Recomputed values for the following tensors have "
                  "different metadata than during the forward pass.\ntensor at position ",
                  i, ":\nsaved metadata: ", before.text(), "\nrecomputed metadata: ", now.text());
    }
    TAEDA_CHECK(again.operations == operations_,
                "taeda::utils::checkpoint: A different number of operations was recorded during "
                "the original forward and recomputation.\nNumber of operations recorded during "
                "forward: ",
                operations_,
                "\nNumber of operations recorded during recomputation: ", again.operations);
    for (const Edge& e : again.outer)
      TAEDA_CHECK(contains(outer(), e),
                  "taeda::utils::checkpoint: The recomputation used a parameter or another tensor "
                  "with gradient that the original forward had not used.");
  }

  detail::Run fn_;
  std::vector<Saved> saved_;
  std::vector<bool> wanted_;
  ForwardState state_;
  std::vector<Meta> outputs_;
  size_t operations_ = 0;
};

}  // namespace

ForwardState::ForwardState(const std::vector<Tensor>& inputs, bool random)
    : autocast_(AutocastMode::state()) {
  autocast_.cache = false;
  if (!random) return;
  add_state(random_, kCPU);
  for (const DeviceType type : accelerator::types()) {
    const bool used = std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& t) {
      return t.defined() && t.device().type() == type;
    });
    for (int i = 0; used && i < device_count(type); ++i) add_state(random_, Device(type, i));
  }
}

namespace {

/// Generators are the process's, so that two threads of a backward pass which run functions again
/// at once would draw from each other's states and leave the wrong ones behind. Recursive, because
/// such a function may itself run another again.
std::recursive_mutex& generators_lent() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

}  // namespace

ForwardState::Scope::Scope(const ForwardState& state) : autocast_(AutocastMode::state()) {
  if (!state.random_.empty()) generators_lent().lock();
  for (const auto& [device, bytes] : state.random_) {
    add_state(random_, device);
    default_generator(device).set_state(bytes);
  }
  AutocastMode::set_state(state.autocast_);
}

ForwardState::Scope::~Scope() {
  AutocastMode::set_state(autocast_);
  for (const auto& [device, bytes] : random_) default_generator(device).set_state(bytes);
  if (!random_.empty()) generators_lent().unlock();
}

bool is_recomputing() { return RecomputeMode::is_enabled(); }
RecomputingGuard::RecomputingGuard() : previous_(RecomputeMode::is_enabled()) {
  RecomputeMode::set_enabled(true);
}
RecomputingGuard::~RecomputingGuard() { RecomputeMode::set_enabled(previous_); }

std::vector<Tensor> detail::run(Run fn, const std::vector<Tensor>& inputs,
                                bool preserve_rng_state) {
  if (!GradMode::is_enabled()) return fn(inputs);
  auto* checkpoint = new CheckpointNode(std::move(fn), inputs, preserve_rng_state);
  const NodePtr node(checkpoint);
  const Trace trace = checkpoint->first_run(inputs);
  std::vector<Tensor> outputs;
  for (const Tensor& t : trace.outputs) outputs.push_back(t.defined() ? t.detach() : t);
  if (!any_wants_grad(trace.outputs)) return outputs;
  const Tensor nothing = make_tensor(IntArrayRef{}, kFloat, kCPU);
  for (uint32_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].defined() && trace.outputs[i].requires_grad())
      autograd::set_history(outputs[i], node, i);
    else
      node->add_input(outputs[i].defined() ? outputs[i] : nothing);
  return outputs;
}

Tensor checkpoint_sequential(const std::vector<nn::AnyModule>& modules, int64_t segments,
                             const Tensor& input, const CheckpointOptions& options) {
  const auto n = static_cast<int64_t>(modules.size());
  TAEDA_CHECK_VALUE(segments > 0 && segments <= n, "checkpoint_sequential: expected between 1 and ",
                    n, " segments (the number of modules), but got ", segments);
  const auto run_part = [&modules](int64_t begin, int64_t end) {
    const std::vector<nn::AnyModule> part(modules.begin() + begin, modules.begin() + end);
    return [part](const Tensor& x) {
      nn::AnyValue value(x);
      for (nn::AnyModule m : part) value = m.call_values(&value, 1);
      return value.get<Tensor>();
    };
  };
  const int64_t length = n / segments;
  Tensor x = input;
  int64_t begin = 0;
  for (; begin < length * (segments - 1); begin += length)
    x = checkpoint(options, run_part(begin, begin + length), x);
  return run_part(begin, n)(x);
}

}  // namespace taeda::inline v0_2::utils::checkpoint
