// The safetensors format: 8 bytes with the length of a JSON header, the header, the tensors' bytes.
// Format: github.com/huggingface/safetensors, README "Format".
//
// A file may come from anybody. Everything it claims is checked before a byte of it is used, and a
// file that is not exactly as the format says is refused with the reason.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::io {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
using Metadata = std::map<std::string, std::string>;

/// What the header says of one tensor. `begin` and `end` count bytes from the end of the header.
struct TensorInfo {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

/// A safetensors file that was read; tensors are made when asked for.
class SafeTensors {
 public:
  /// Maps the file. Throws Error "<path> is no valid safetensors file: <reason>".
  static SafeTensors open(const std::string& path);
  /// Takes the bytes of a file; `name` is for messages.
  static SafeTensors parse(std::string bytes, const std::string& name = "the data");

  /// In the order of the header.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const Metadata& metadata() const { return metadata_; }
  std::vector<std::string> keys() const;
  bool contains(const std::string& name) const { return find(name) != nullptr; }
  /// The tensor, on the CPU, over the file's own memory where alignment allows it: changing it does
  /// not change the file. Throws ValueError for an unknown name, TypeError for a dtype that Taeda
  /// has not (F8_E4M3, U16, ...).
  Tensor get(const std::string& name) const;
  /// All tensors, in the order of the header.
  NamedTensors all() const;

 private:
  SafeTensors(std::shared_ptr<void> owner, const char* data, size_t size, const std::string& name);
  const TensorInfo* find(const std::string& name) const;

  std::shared_ptr<void> owner_;
  const char* data_ = nullptr;
  std::string source_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, size_t> index_;
  Metadata metadata_;
};

/// Writes the tensors (any device, any strides) atomically. The bytes depend on names, values and
/// metadata only. Throws ValueError for a name that occurs twice or is reserved, TypeError for a
/// dtype that the format has not (complex128).
void save_safetensors(const NamedTensors& tensors, const std::string& path,
                      const Metadata& metadata = {});
/// The bytes of such a file.
std::string serialize_safetensors(const NamedTensors& tensors, const Metadata& metadata = {});
/// All tensors of a file.
NamedTensors load_safetensors(const std::string& path);

}  // namespace taeda::io
