#include "taeda/io/budget.h"

#include <filesystem>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::io {

namespace {

uint64_t limit_of(uint64_t file_bytes) {
  uint64_t out = 0;
  const bool huge = __builtin_mul_overflow(file_bytes, Budget::kPerByte, &out) ||
                    __builtin_add_overflow(out, Budget::kFloor, &out);
  return huge ? UINT64_MAX : out;
}

}  // namespace

Budget::Budget(uint64_t file_bytes)
    : file_bytes_(file_bytes), limit_(limit_of(file_bytes)), left_(limit_) {}

Budget Budget::of_file(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return Budget(error ? 0 : bytes);
}

void Budget::refuse(uint64_t bytes, std::string_view what) const {
  throw Error(taeda::detail::concat(what, " would take ", bytes, " bytes of memory, but of the ",
                                    limit_, " that a file of ", file_bytes_,
                                    " bytes may take only ", left_, " are left"));
}

}  // namespace taeda::io
