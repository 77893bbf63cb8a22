#include "tests/onnx/round_trip.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "taeda/io/atomic_file.h"
#include "taeda/io/npy.h"
#include "taeda/onnx/file.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::onnx {

double difference(const Tensor& a, const Tensor& b) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return kNever;
  if (a.numel() == 0) return 0;
  const Tensor x = a.detach().to(kDouble), y = b.detach().to(kDouble);
  if (!isnan(x).equal(isnan(y)) || !isinf(x).equal(isinf(y))) return kNever;
  const Tensor p = x.nan_to_num(0, 0, 0), q = y.nan_to_num(0, 0, 0);
  return p.sub(q).abs().max().item<double>() / std::max(1., p.abs().max().item<double>());
}

Graph graph_of(const Forward& function, const std::vector<Tensor>& inputs,
               const ExportOptions& options) {
  EmptyImpl module;
  return to_graph(module, function, inputs, options);
}

double error_of_round_trip(const Forward& function, const std::vector<Tensor>& inputs,
                           const ExportOptions& options) {
  const NoGradGuard no_grad;
  // Through bytes, as a file has them.
  ImportedModel model(read_graph(write_graph(graph_of(function, inputs, options))));
  const std::vector<Tensor> expected = function(inputs), found = model->run(inputs);
  if (expected.size() != found.size()) return std::numeric_limits<double>::infinity();
  double out = 0;
  for (size_t i = 0; i < found.size(); ++i) out = std::max(out, difference(expected[i], found[i]));
  return out;
}

void keep_files(const std::string& name, const Graph& graph, size_t batch,
                const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  const char* folder = std::getenv("TAEDA_ONNX_FILES");
  if (!folder) return;
  const std::string stem = std::string(folder) + "/" + name;
  io::write_file(stem + ".onnx", write_graph(graph));
  const auto save = [&](const char* kind, const std::vector<Tensor>& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i)
      io::save_npy(tensors[i],
                   stem + "." + std::to_string(batch) + "." + kind + std::to_string(i) + ".npy");
  };
  save("in", inputs);
  save("out", outputs);
}

int64_t count(const Graph& graph, const std::string& op) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                       [&](const Node& node) { return node.op == op; });
}

ExportOptions open_batch(size_t n) {
  ExportOptions out;
  for (size_t i = 0; i < n; ++i)
    out.dynamic_axes[n == 1 ? "input" : "input_" + std::to_string(i)] = {{0, "batch"}};
  return out;
}

}  // namespace taeda::onnx
