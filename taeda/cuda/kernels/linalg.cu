// Linear algebra: what the libraries leave to do, and their place in the slots.
#include "taeda/cuda/cusolver.h"
#include "taeda/cuda/kernels/common.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/linalg.h"

namespace taeda::inline v0_2::gpu {

namespace {

__global__ void __launch_bounds__(kThreads)
    addresses_kernel(void** out, char* first, int64_t step, int64_t count) {
  for (int64_t i = thread_index(); i < count; i += thread_count()) out[i] = first + i * step;
}

/// Exchanges depend on each other: one thread for each matrix.
__global__ void __launch_bounds__(kThreads)
    permutation_kernel(int64_t* perm, const int32_t* pivots, int64_t count, int64_t rows,
                       int64_t k) {
  for (int64_t b = thread_index(); b < count; b += thread_count()) {
    int64_t* const p = perm + b * rows;
    for (int64_t i = 0; i < rows; ++i) p[i] = i;
    for (int64_t i = 0; i < k; ++i) {
      const int64_t j = pivots[b * k + i] - 1, kept = p[i];
      p[i] = p[j];
      p[j] = kept;
    }
  }
}

void lu_permutation_cuda(const Tensor& perm, const Tensor& pivots) {
  const int64_t count = perm.size(0);
  if (count == 0) return;
  const Context context(perm.device());
  permutation_kernel<<<blocks_for(count), kThreads, 0, context.stream>>>(
      perm.data_ptr<int64_t>(), pivots.data_ptr<int32_t>(), count, perm.size(1), pivots.size(1));
  context.launched("lu_permutation");
}

}  // namespace

void write_addresses(const Context& context, void** out, void* first, int64_t step, int64_t count) {
  addresses_kernel<<<blocks_for(count), kThreads, 0, context.stream>>>(
      out, static_cast<char*>(first), step, count);
  context.launched("addresses");
}

void register_linalg() {
  fill_slots<On<cholesky_slot, cusolver_cholesky>, On<lu_slot, cusolver_lu>,
             On<lu_permutation_slot, lu_permutation_cuda>,
             On<triangular_solve_slot, cublas_triangular_solve>, On<qr_slot, cusolver_qr>,
             On<eigh_slot, cusolver_eigh>, On<svd_slot, cusolver_svd>>(kCUDA);
}

}  // namespace taeda::gpu
