#include "taeda/log/graph.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "taeda/autograd/meta.h"
#include "taeda/base/error.h"
#include "taeda/nn/hooks.h"
#include "taeda/ops/create/copy.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::logging {

namespace {

using autograd::Node;

/// Takes a number from the sequence of nodes, and so marks a moment among them.
class Moment final : public Node {
 public:
  const char* name() const override { return "Moment"; }
  autograd::TensorVec apply(autograd::TensorVec grads, autograd::Needs) override { return grads; }
};

uint64_t now() { return autograd::NodePtr(new Moment)->sequence_nr(); }

/// What ran between two moments belongs to the module at `scope`.
struct Span {
  uint64_t begin, end;
  std::string scope;
};

/// "Network/Sequential[layer1]/Conv2d[0]" for each module of the tree.
std::unordered_map<const nn::Module*, std::string> scopes_of(nn::Module& model) {
  std::unordered_map<const nn::Module*, std::string> out{{&model, model.name()}};
  for (const auto& module : model.modules())
    for (const auto& [key, child] : module->named_children())
      if (child)
        out.emplace(child.get(), out[module.get()] + "/" + child->name() + "[" + key + "]");
  return out;
}

/// Hooks that record spans, evaluation mode, gradients on: for as long as it lives.
class Watch {
 public:
  explicit Watch(nn::Module& model) : scopes_(scopes_of(model)), modules_(model.modules()) {
    for (const auto& m : modules_) {
      training_.push_back(m->is_training());
      handles_.push_back(nn::register_forward_pre_hook(
          *m, [this](nn::Module&, auto&) { starts_.push_back(now()); }));
      handles_.push_back(nn::register_forward_hook(
          *m, [this](nn::Module& ended, const auto&, const Tensor&) -> Tensor {
            spans_.push_back({starts_.back(), now(), scopes_.at(&ended)});
            starts_.pop_back();
            return {};
          }));
    }
    model.eval();
  }
  ~Watch() {
    for (size_t i = 0; i < modules_.size(); ++i) {
      nn::remove_hook(*modules_[i], handles_[2 * i]);
      nn::remove_hook(*modules_[i], handles_[2 * i + 1]);
      modules_[i]->train(training_[i]);  // parents first, as modules() lists them
    }
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  const std::string& scope_of(const nn::Module& m) const { return scopes_.at(&m); }
  const std::vector<std::shared_ptr<nn::Module>>& modules() const { return modules_; }
  /// The scope of the innermost module that was running; `outside` if none was.
  const std::string& scope_at(uint64_t moment, const std::string& outside) const {
    const Span* best = nullptr;
    for (const Span& s : spans_)
      if (s.begin < moment && moment < s.end && (!best || s.begin > best->begin)) best = &s;
    return best ? best->scope : outside;
  }

 private:
  std::unordered_map<const nn::Module*, std::string> scopes_;
  std::vector<std::shared_ptr<nn::Module>> modules_;
  std::vector<bool> training_;
  std::vector<unsigned> handles_;
  std::vector<uint64_t> starts_;
  std::vector<Span> spans_;
};

/// "Addmm" of "AddmmBackward0".
std::string operation_name(std::string name) {
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back()))) name.pop_back();
  constexpr std::string_view kEnd = "Backward";
  if (name.size() > kEnd.size() && name.ends_with(kEnd)) name.resize(name.size() - kEnd.size());
  return name;
}

/// All nodes that the outputs were computed by, oldest first.
std::vector<autograd::NodePtr> reachable(const std::vector<Tensor>& outputs) {
  std::vector<autograd::NodePtr> found;
  std::unordered_set<const Node*> seen;
  const auto visit = [&](const autograd::NodePtr& node) {
    if (node && seen.insert(node.get()).second) found.push_back(node);
  };
  for (const Tensor& out : outputs) visit(autograd::gradient_edge(out).node);
  for (size_t i = 0; i < found.size(); ++i) {
    const autograd::NodePtr node = found[i];
    for (const autograd::Edge& edge : node->edges) visit(edge.node);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a->sequence_nr() < b->sequence_nr();
  });
  return found;
}

/// Gives names, each once, and lists the boxes.
class Boxes {
 public:
  /// Adds a box and returns its name, which has a number if `name` is taken.
  const std::string& add(const std::string& name, GraphNode node) {
    const int copies = taken_[name]++;
    node.name = copies == 0 ? name : name + "_" + std::to_string(copies);
    boxes.push_back(std::move(node));
    return boxes.back().name;
  }
  std::vector<GraphNode> boxes;

 private:
  std::unordered_map<std::string, int> taken_;
};

GraphNode describe(const Tensor& t, const char* op) {
  return {"", op, t.device().str(), {}, {DimVector(t.sizes())}};
}

GraphNode describe(const Node& node) {
  GraphNode out{"", operation_name(node.name()), "", {}, {}};
  for (const autograd::InputMeta& meta : node.inputs) {
    out.shapes.push_back(meta.sizes);
    out.device = meta.device.str();
  }
  return out;
}

using Names = std::unordered_map<const void*, std::string>;

/// Boxes of the inputs and the parameters, by tensor.
Names add_leaves(const Watch& watch, const std::vector<Tensor>& inputs, Boxes& boxes) {
  Names leaves;
  for (size_t i = 0; i < inputs.size(); ++i)
    leaves[inputs[i].unsafe_impl()] =
        boxes.add("input/" + std::to_string(i), describe(inputs[i], "IO Node"));
  for (const auto& module : watch.modules())
    for (const auto& [key, p] : module->named_parameters(false))
      if (!leaves.contains(p.unsafe_impl()))
        leaves[p.unsafe_impl()] =
            boxes.add(watch.scope_of(*module) + "/" + key, describe(p, "Parameter"));
  return leaves;
}

}  // namespace

std::vector<GraphNode> trace_graph(
    nn::Module& model, const std::vector<Tensor>& inputs,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& forward) {
  const AutoGradMode recording(true);
  std::vector<Tensor> given;
  for (const Tensor& t : inputs) {
    given.push_back(t.detach());
    if (t.is_floating_point()) given.back().requires_grad_();
  }
  Watch watch(model);
  const std::vector<Tensor> outputs = forward(given);
  Boxes boxes;
  const Names leaves = add_leaves(watch, given, boxes);
  Names names;
  for (const autograd::NodePtr& node : reachable(outputs)) {
    if (const auto* sink = dynamic_cast<const autograd::AccumulateGrad*>(node.get())) {
      const Tensor leaf = sink->leaf();
      const auto known = leaf.defined() ? leaves.find(leaf.unsafe_impl()) : leaves.end();
      names[node.get()] = known != leaves.end() ? known->second
                          : leaf.defined()      ? boxes.add("leaf", describe(leaf, "Leaf"))
                                                : "";
      continue;
    }
    const GraphNode box = describe(*node);
    names[node.get()] =
        boxes.add(watch.scope_at(node->sequence_nr(), watch.scope_of(model)) + "/" + box.op, box);
  }
  // Edges, once every node has a name: leaves may come after what uses them.
  std::unordered_map<std::string, GraphNode*> by_name;
  for (GraphNode& box : boxes.boxes) by_name[box.name] = &box;
  for (const autograd::NodePtr& node : reachable(outputs))
    for (const autograd::Edge& edge : node->edges)
      if (edge.node && !names[edge.node.get()].empty())
        by_name.at(names[node.get()])->inputs.push_back(names[edge.node.get()]);
  for (size_t i = 0; i < outputs.size(); ++i) {
    GraphNode box = describe(outputs[i], "IO Node");
    if (const auto edge = autograd::gradient_edge(outputs[i]))
      box.inputs = {names[edge.node.get()]};
    boxes.add("output/" + std::to_string(i), std::move(box));
  }
  return std::move(boxes.boxes);
}

}  // namespace taeda::logging
