// The two containers of PyTorch's files: a zip archive since 1.6, and before it pickles one behind
// the other with the storages' bytes at their end.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "taeda/base/dtype.h"
#include "taeda/io/pickle.h"

namespace taeda::inline v0_2::io {

/// A file's pickle, and the bytes of the storages that it names.
class PtSource {
 public:
  virtual ~PtSource() = default;
  virtual Budget& budget() = 0;
  virtual const PickleValue& root() const = 0;
  /// The bytes of a storage. Throws Error with the reason alone if it is not there, or has another
  /// size.
  virtual std::string storage(const std::string& key, ScalarType dtype, int64_t elements) = 0;
};

/// The dtype of "torch.FloatStorage". Throws Error for a storage whose dtype Taeda has not.
ScalarType storage_dtype(std::string_view storage);

/// Whether a file that begins so is one of PyTorch before 1.6.
bool is_legacy_pt(std::string_view begin);

/// The container that the first bytes speak for. Throws Error, with the reason alone or with the
/// name; NotImplementedError for a zip archive in a build without libzip.
std::unique_ptr<PtSource> open_pt(const std::string& path);
std::unique_ptr<PtSource> open_pt(std::string bytes, const std::string& name);

}  // namespace taeda::io
