// ONNX models: their bytes, the graph in them, and the module that it becomes.
#include "taeda/onnx/file.h"
#include "taeda/onnx/import.h"
#include "tests/fuzz/reader.h"

namespace taeda::fuzz {

// A model is not run here: what it then takes is for its author to say, not for its file's size.
Reader fuzz_onnx() {
  return {[](std::string_view bytes) { onnx::ImportedModel model(onnx::read_graph(bytes)); }};
}

}  // namespace taeda::fuzz
