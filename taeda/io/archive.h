// Named tensors and texts, as one file: what save(), load() and checkpoints are made of.
#pragma once

#include <iosfwd>
#include <string>

#include "taeda/base/ordered_dict.h"
#include "taeda/io/safetensors.h"

namespace taeda::inline v0_2::io {

/// The content of a file. Tensors keep their order.
struct Archive {
  OrderedDict<std::string, Tensor> tensors{"Tensor"};
  Metadata metadata;

  /// Throws ValueError for a name that is not there, listing those that are.
  const Tensor& at(const std::string& name) const;
  /// The only tensor, or the one named "tensor". Throws ValueError if there is none.
  const Tensor& only() const;
  /// The tensors and texts whose names start with `prefix`, without it.
  Archive section(const std::string& prefix) const;
  /// Throws Error for a name that is there already.
  void add(const std::string& name, const Tensor& t) { tensors.insert(name, t); }
  /// Numbers are texts of 17 digits: they come back exactly.
  void add_number(const std::string& name, double value);
  /// Throws ValueError for a text that is no number.
  static double parse_number(const std::string& name, const std::string& text);
};

/// The ending chooses the format: .pt and .pth are read by Python's torch.load, also with
/// `weights_only=True` (texts are texts there); .npz and .npy by NumPy; .index.json is an index
/// of shards (io/sharded.h); whatever else is a safetensors file. Throws ValueError for what a
/// format has no place for. A file is replaced as a whole; throws Error with the path if it cannot
/// be written.
void save_archive(const Archive& archive, const std::string& path);
void save_archive(const Archive& archive, std::ostream& out);
/// Reads what save_archive wrote, and the files of torch.save (from before 1.6, too) and of
/// libtorch's torch::save. Formats are told by their content, whatever a file is called
/// (io/pt_reader.h says what of PyTorch's is understood). `mmap` as in
/// SafeTensors::open: without it tensors are copies, compared with their checksums.
Archive load_archive(const std::string& path, bool mmap = false);
/// Reads one archive from where the stream stands: what was saved one after the other loads in
/// turn. A stream has no shards and is no .npz archive. One that holds several .pt archives must be
/// able to seek.
Archive load_archive(std::istream& in);

}  // namespace taeda::io
