#include "taeda/base/array_ref.h"

#include "taeda/base/error.h"

namespace taeda::inline v0_2::detail {

void fail_access(const char* method, size_t index, size_t size) {
  TAEDA_CHECK_INDEX(size > 0, "ArrayRef: attempted to access ", method, " of empty list");
  throw IndexError(concat("ArrayRef: invalid index Index = ", index, "; Length = ", size));
}

}  // namespace taeda::inline v0_2::detail
