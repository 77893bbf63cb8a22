// Resampling: a thread for each element of the result, which adds up its row of the matrix.
#include "taeda/kernels/resample.h"

#include "taeda/cuda/kernels/rows.cuh"
#include "taeda/cuda/register.h"

namespace taeda::inline v0_2::gpu {

namespace {

template <class M>
__global__ void __launch_bounds__(kThreads)
    resample_kernel(char* out, const char* in, ScalarType dtype, int item, int64_t total,
                    Divider rows_out, Divider width, int64_t rows_in, const int32_t* starts,
                    const int32_t* rows, const M* weights) {
  for (int64_t e = thread_index(); e < total; e += thread_count()) {
    int64_t row, column, outer, i;
    width.divide(e, row, column);
    rows_out.divide(row, outer, i);
    M sum = 0;
    for (int32_t j = starts[i]; j < starts[i + 1]; ++j)
      sum += weights[j] *
             load_as<M>(in + ((outer * rows_in + rows[j]) * width.divisor + column) * item, dtype);
    store_as<M>(out + e * item, dtype, sum);
  }
}

void resample_cuda(const Tensor& out, const Tensor& in, const Tensor& starts, const Tensor& rows,
                   const Tensor& weights) {
  if (out.numel() == 0) return;
  const Context context(out.device());
  dispatch_compute(FloatCompute{}, resample_slot.name(), out.dtype(), [&]<class M>() {
    resample_kernel<M><<<blocks_for(out.numel()), kThreads, 0, context.stream>>>(
        static_cast<char*>(out.data_ptr()), static_cast<const char*>(in.data_ptr()), out.dtype(),
        static_cast<int>(out.element_size()), out.numel(), Divider(out.size(1)),
        Divider(out.size(2)), in.size(1), starts.data_ptr<int32_t>(), rows.data_ptr<int32_t>(),
        weights.data_ptr<M>());
  });
  context.launched(resample_slot.name());
}

}  // namespace

void register_resample() { resample_slot.set(kCUDA, &resample_cuda); }

}  // namespace taeda::inline v0_2::gpu
