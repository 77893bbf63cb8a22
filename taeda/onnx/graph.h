// A model as an ONNX file holds it: operators in an order in which they can run, the values that
// pass between them by name, and the tensors that were learned.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::onnx {

/// A size that is known, or the name of one that is not ("batch"; empty: nothing is known).
struct Dimension {
  int64_t size = -1;
  std::string name;
};

/// What is known of an input or output of a model.
/// A dtype, and a size for each dimension; -1, or a name, for those that are open.
struct ValueInfo {
  std::string name;
  ScalarType dtype = kFloat;
  bool has_shape = true;
  std::vector<Dimension> sizes;
  std::string text = {};  ///< what it is, for people: units, columns, classes

  /// "float32 [batch, 3, 224, 224]".
  std::string type() const;
};

/// Something that stands in a file and that Taeda does not run: "a graph".
struct Unsupported {
  std::string what;
};

/// What an operator is told besides its inputs.
using Attribute = std::variant<int64_t, double, std::string, Tensor, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>, Unsupported>;

/// A call of an operator. An input that is left out has an empty name.
struct Node {
  std::string op;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, Attribute> attributes;
  std::string name;
  std::string domain;
  std::string place;  ///< the module whose forward called it, "layer1.0.conv1"

  /// "Conv 'layer1.0.conv1.Conv'", for errors.
  std::string title() const;
};

struct Graph {
  std::string name = "main";
  std::vector<Node> nodes;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<std::pair<std::string, Tensor>> initializers;
  int64_t ir_version = 8, opset = 17;
  /// Other domains that operators come from, with their versions.
  std::map<std::string, int64_t> domains;
  std::string producer, producer_version;
  std::map<std::string, std::string> metadata;
};

/// Whether a graph is one: names are defined once and before they are used, outputs exist, dtypes
/// and sizes can be. Throws Error with what is wrong, naming the operator.
void check_graph(const Graph& graph);

}  // namespace taeda::inline v0_2::onnx
