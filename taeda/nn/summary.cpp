#include "taeda/nn/summary.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <unordered_set>

#include "taeda/base/error.h"
#include "taeda/nn/libtorch_style.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::nn {

namespace detail {

/// A module with its row and what is to be put back.
struct Summarizer::Watched {
  Watched(Module& module, size_t row)
      : module(module), row(row), was_training(module.is_training()) {}
  Module& module;
  size_t row;
  bool was_training;
  HookHandle hook = {};
};

namespace {

int64_t bytes_of(const Tensor& t) {
  return t.defined() ? t.numel() * static_cast<int64_t>(t.element_size()) : 0;
}

/// Counts those of the module's own parameters that no earlier row has.
void count_parameters(const Module& module, LayerSummary& row,
                      std::unordered_set<const void*>& seen) {
  for (const Tensor& p : module.parameters(false)) {
    if (!seen.insert(p.unsafe_impl()).second) continue;
    row.parameters += p.numel();
    if (p.requires_grad()) row.trainable_parameters += p.numel();
  }
}

void set_mode(Module& module, bool training) {
  // A module's train() goes down its tree; each is told again after those above it.
  if (module.is_training() != training) module.train(training);
}

}  // namespace

Summarizer::Summarizer(Module& model) {
  std::unordered_set<const void*> seen;
  const auto add = [&](Module& module, const std::string& path) {
    LayerSummary row;
    row.path = path;
    row.type = detail::short_name(module);
    row.depth = path.empty() ? 0 : 1 + std::count(path.begin(), path.end(), '.');
    count_parameters(module, row, seen);
    watched_.push_back(std::make_unique<Watched>(module, summary_.layers.size()));
    summary_.layers.push_back(std::move(row));
  };
  add(model, "");
  for (const auto& item : model.named_modules("", false)) add(*item.value(), item.key());
  for (const auto& watched : watched_)
    watched->hook = register_forward_hook(
        watched->module, [this, row = watched->row](Module&, const ModuleHooks::Inputs& inputs,
                                                    const Tensor& output) {
          LayerSummary& layer = summary_.layers[row];
          if (layer.calls++ == 0) {
            if (!inputs.empty() && inputs[0].defined())
              layer.input_size = DimVector(inputs[0].sizes());
            if (output.defined()) layer.output_size = DimVector(output.sizes());
          }
          layer.output_bytes += bytes_of(output);
          return Tensor();
        });
  for (const Tensor& p : model.parameters()) summary_.parameter_bytes += bytes_of(p);
  for (const Tensor& b : model.buffers()) summary_.buffer_bytes += bytes_of(b);
  model.eval();
}

Summarizer::~Summarizer() {
  for (const auto& watched : watched_) {
    remove_hook(watched->module, watched->hook);
    set_mode(watched->module, watched->was_training);
  }
}

void Summarizer::add_input(const Tensor& input) { summary_.input_bytes += bytes_of(input); }

ModelSummary Summarizer::finish() {
  for (const auto& watched : watched_) {
    const LayerSummary& layer = summary_.layers[watched->row];
    summary_.total_parameters += layer.parameters;
    summary_.trainable_parameters += layer.trainable_parameters;
    if (watched->module.named_children().is_empty())
      summary_.activation_bytes += layer.output_bytes;
  }
  return summary_;
}

Tensor input_like_parameters(const Module& model, IntArrayRef size) {
  const std::vector<Tensor> parameters = model.parameters();
  if (parameters.empty()) return zeros(size);
  return zeros(size, parameters[0].options().requires_grad(false));
}

}  // namespace detail

namespace {

constexpr size_t kShapeColumns = 20, kCountColumns = 14,
                 kNameColumns = 80 - kShapeColumns - kCountColumns - 4;

std::string with_commas(int64_t n) {
  std::string text = std::to_string(n);
  for (auto at = static_cast<ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), 1, ',');
  return text;
}

std::string in_megabytes(int64_t bytes) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << static_cast<double>(bytes) / (1 << 20) << " MiB";
  return out.str();
}

std::string size_text(const LayerSummary& layer) {
  if (layer.calls == 0) return "not called";
  std::ostringstream out;
  out << IntArrayRef(layer.output_size);
  if (layer.calls > 1) out << " x" << layer.calls;
  return out.str();
}

/// The text in `width` columns, its end left out if need be.
std::string fitted(std::string text, size_t width) {
  if (text.size() > width) text = text.substr(0, width - 3) + "...";
  return text + std::string(width - text.size(), ' ');
}

void print_row(std::ostream& out, const std::string& name, const std::string& shape,
               const std::string& count) {
  out << fitted(name, kNameColumns) << "  " << fitted(shape, kShapeColumns) << "  "
      << std::string(kCountColumns - std::min(kCountColumns, count.size()), ' ') << count << "\n";
}

std::string name_of(const LayerSummary& layer) {
  const std::string indent(static_cast<size_t>(2 * layer.depth), ' ');
  if (layer.path.empty()) return layer.type;
  return indent + layer.path.substr(layer.path.rfind('.') + 1) + " (" + layer.type + ")";
}

}  // namespace

std::string ModelSummary::str() const {
  std::ostringstream out;
  const std::string line(80, '-');
  print_row(out, "Module", "Output size", "Parameters");
  out << line << "\n";
  for (const LayerSummary& layer : layers)
    print_row(out, name_of(layer), size_text(layer),
              layer.parameters ? with_commas(layer.parameters) : "-");
  out << line << "\n";
  out << "Parameters: " << with_commas(total_parameters) << ", of which "
      << with_commas(trainable_parameters) << " are trainable\n";
  out << "Input " << in_megabytes(input_bytes) << ", activations " << in_megabytes(activation_bytes)
      << ", parameters " << in_megabytes(parameter_bytes) << ", buffers "
      << in_megabytes(buffer_bytes) << "\n";
  return out.str();
}

std::ostream& operator<<(std::ostream& out, const ModelSummary& summary) {
  return out << summary.str();
}

}  // namespace taeda::inline v0_2::nn
