// NumPy's files: .npy holds an array, .npz a zip archive of such files.
// Format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1 to 3.
//
// A file may come from anybody: what its header claims is checked before memory is taken.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "taeda/io/safetensors.h"

namespace taeda::inline v0_2::io {

struct NpyHeader {
  std::string descr;  ///< the dtype as NumPy writes it: "<f4"
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t data_offset = 0;
  /// Bytes of an element; 0 for dtypes whose size is not in `descr`.
  size_t element_bytes = 0;
};

/// The header at the start of a file, or of its first bytes. Throws Error with the reason alone.
NpyHeader parse_npy_header(std::string_view bytes);
/// The bytes of a whole .npy file as a tensor on the CPU. `name` is for messages.
Tensor parse_npy(std::string_view bytes, const std::string& name = "the data");

/// Throws Error "<path> is no valid .npy file: <reason>", TypeError for a dtype that Taeda has not
/// (text, objects). Unsigned integers become the next wider signed ones: uint16 int32, uint32 and
/// uint64 int64, which must hold them. Other byte and element orders are brought into Taeda's.
Tensor load_npy(const std::string& path);
/// Writes a tensor (any device, any strides) atomically. bfloat16 is written as NumPy writes arrays
/// of the package ml_dtypes: two bytes without a meaning of their own ("<V2"), which are read as
/// bfloat16 again.
void save_npy(const Tensor& tensor, const std::string& path);
std::string serialize_npy(const Tensor& tensor);

/// The arrays of an archive, in its order, without ".npy" in their names. Throws as load_npy, and
/// NotImplementedError in a build without libzip.
NamedTensors load_npz(const std::string& path);
/// Whether a zip archive holds nothing but arrays. Throws as ZipReader.
bool is_npz(const std::string& path);
/// Writes an archive atomically (numpy.savez, or savez_compressed). Throws ValueError for a name
/// that occurs twice and for no tensors.
void save_npz(const NamedTensors& tensors, const std::string& path, bool compressed = false);

}  // namespace taeda::io
