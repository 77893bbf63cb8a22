// What new memory holds before it is written to; not part of the public interface.
#pragma once

#include "taeda/ops/create/create_common.h"

namespace taeda::inline v0_2::detail {

/// Whether new memory is filled: taeda/ops/create/determinism.h.
bool must_fill_memory();
/// Fills the memory of t from its element `from` on with what stands for nothing.
void fill_unwritten(const Tensor& t, int64_t from = 0);

/// A new tensor over memory that nobody has written to.
inline Tensor finish_empty(Tensor out, const TensorOptions& o) {
  if (must_fill_memory()) [[unlikely]]
    fill_unwritten(out);
  return finish(std::move(out), o);
}

}  // namespace taeda::inline v0_2::detail
