// Functions written as ONNX, read and run again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "taeda/nn/cloneable.h"
#include "taeda/onnx/onnx.h"

namespace taeda::onnx {

/// A module with nothing in it: what is exported stands in a function.
class EmptyImpl : public nn::Cloneable<EmptyImpl> {
 public:
  void reset() override {}
};

/// The largest difference of two tensors, relative to the largest number (at least 1); infinite if
/// sizes or dtypes differ or one has NaN where the other has none.
double difference(const Tensor& a, const Tensor& b);

/// `function` as a graph; dimension 0 of all inputs named in `open` is left open.
Graph graph_of(const Forward& function, const std::vector<Tensor>& inputs,
               const ExportOptions& options = {});
/// The largest difference between `function` and its exported and imported graph.
double error_of_round_trip(const Forward& function, const std::vector<Tensor>& inputs,
                           const ExportOptions& options = {});
/// Writes what check_with_onnxruntime.py reads into the folder that TAEDA_ONNX_FILES names, if it
/// does: the model, and inputs and outputs of one batch of it.
void keep_files(const std::string& name, const Graph& graph, size_t batch,
                const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs);
/// How often an operator stands in a graph.
int64_t count(const Graph& graph, const std::string& op);

/// Dimension 0 of each of `n` inputs is the batch.
ExportOptions open_batch(size_t n = 1);

}  // namespace taeda::onnx
