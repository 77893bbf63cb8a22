// ONNX files: bytes to graphs and back. Needs Protocol Buffers; without, every function throws
// NotImplementedError that says what to install.
#pragma once

#include <string>
#include <string_view>

#include "taeda/onnx/graph.h"

namespace taeda::inline v0_2::onnx {

/// Whether this build has Protocol Buffers.
bool is_supported();

/// The bytes of a file. Throws Error for a dtype that ONNX has not and for more than 2 GiB, which
/// is as much as one message can hold.
std::string write_graph(const Graph& graph);

/// The graph in a file's bytes. Takes memory in proportion to them (io/budget.h). Tensors that lie
/// in other files are read from `folder`, by names without a path, or are an Error if it is empty.
/// Throws Error for what is no ONNX file, is damaged, or holds what Taeda has no type for.
Graph read_graph(std::string_view bytes, const std::string& folder = "");

}  // namespace taeda::inline v0_2::onnx
