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

class FileBytes;
/// What a file holds: tensors in order, and texts by name.
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
  /// Opens the file and reads its header. With `mmap`, PyTorch's name for it, tensors lie in the
  /// mapped file where alignment allows: they cost no memory until touched and are not compared
  /// with their checksums, and the file must neither be cut short (a signal would end the program)
  /// nor written to while they live. Throws Error "<path> is no valid safetensors file: <reason>".
  static SafeTensors open(const std::string& path, bool mmap = false);
  /// Takes the bytes of a file; `name` is for messages.
  static SafeTensors parse(std::string bytes, const std::string& name = "the data");

  /// In the order of the header.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const Metadata& metadata() const { return metadata_; }
  std::vector<std::string> keys() const;
  bool contains(const std::string& name) const { return find(name) != nullptr; }
  /// The tensor, on the CPU; changing it does not change the file. Throws ValueError for an unknown
  /// name, TypeError for a dtype that Taeda has not (F8_E4M3, U16, ...), Error for bytes that do
  /// not fit the tensor's checksum, if the file has checksums.
  Tensor get(const std::string& name) const;
  /// All tensors, in the order of the header.
  NamedTensors all() const;

 private:
  SafeTensors(std::shared_ptr<FileBytes> file, const std::string& name);
  const TensorInfo* find(const std::string& name) const;
  Tensor copy_of(const TensorInfo& info, ScalarType dtype) const;

  std::shared_ptr<FileBytes> file_;
  uint64_t data_offset_ = 0;
  std::string source_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, size_t> index_;
  Metadata metadata_;
  std::vector<uint32_t> checksums_;  // as tensors_, or none
};

/// Writes the tensors (any device, any strides) atomically, with a checksum for each. The bytes
/// depend on names, values and metadata only. Throws ValueError for a name or a key of metadata
/// that occurs twice or is reserved, TypeError for a dtype that the format has not (complex128).
void save_safetensors(const NamedTensors& tensors, const std::string& path,
                      const Metadata& metadata = {});
/// The bytes of such a file.
std::string serialize_safetensors(const NamedTensors& tensors, const Metadata& metadata = {});
/// All tensors of a file; `mmap` as in SafeTensors::open.
NamedTensors load_safetensors(const std::string& path, bool mmap = false);

}  // namespace taeda::io
