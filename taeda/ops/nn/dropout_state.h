// The decisions of dropout. Not part of the public interface.
#pragma once

#include "taeda/device/draws.h"
#include "taeda/device/generator.h"
#include "taeda/device/host_graph.h"
#include "taeda/kernels/random.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// What one call drops; the gradient asks again.
struct DropoutMask {
  PhiloxState philox;  ///< of accelerators, which make their decisions anew
  Tensor kept;         ///< of the CPU: a bit for each element, PyTorch's for the seed
};

/// The CPU's next `n` decisions, each 1 with probability `p`: a bit for each.
inline Tensor next_decisions(int64_t n, double p, const Generator& g) {
  // Kernels may read the word that follows the last decision.
  Tensor decisions = make_tensor(IntArrayRef(n / 64 + 2), kLong, kCPU);
  auto* const bits = static_cast<uint64_t*>(decisions.storage()->data_for_work());
  run_or_record("decisions", [g, bits, n, p] { g.fill_below(bits, n, p); });
  return decisions;
}

/// The next `n` decisions on `t`'s device, each to keep its element with probability `keep`.
inline DropoutMask next_mask(const Tensor& t, int64_t n, double keep) {
  check_draws();
  DropoutMask mask;
  const Generator& g = default_generator(t.device());
  if (t.is_cpu())
    mask.kept = next_decisions(n, keep, g);
  else
    mask.philox = g.next_philox();
  return mask;
}

/// out = in / (1 - p), or 0 times it where that is dropped. Both are dense and the n-th decision is
/// on the n-th element in memory; they may be one.
inline void apply_decisions(const Tensor& out, const Tensor& in, double p,
                            const DropoutMask& mask) {
  if (mask.kept.defined())
    dropout_kept_slot(kCPU, out, in, mask.kept, 1 - p);
  else
    dropout_slot(out.device().type(), out, in, 1 - p, 1 / (1 - p), mask.philox);
}

}  // namespace taeda::inline v0_2::detail
