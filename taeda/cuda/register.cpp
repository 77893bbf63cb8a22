// The CUDA backend's table of contents, and what libtaeda looks for in a plug-in.
#include "taeda/cuda/register.h"

#include "taeda/cuda/backend.h"
#include "taeda/cuda/tracer.h"
#include "taeda/device/plugin.h"
#include "taeda/kernels/pointwise.h"

namespace taeda::inline v0_2::gpu {

void register_kernels() {
  set_converts_operands(kCUDA);
  register_attention();
  register_conv();
  register_copy();
  register_create();
  register_fft();
  register_grid_sample();
  register_index();
  register_join();
  register_linalg();
  register_loss();
  register_matmul();
  register_norm_batch();
  register_norm_rows();
  register_optim();
  register_pointwise_activation();
  register_pointwise_arithmetic();
  register_pointwise_compare();
  register_pointwise_complex();
  register_pointwise_loss();
  register_pointwise_special();
  register_pointwise_special_functions();
  register_pointwise_transcendental();
  register_pointwise_unary();
  register_pool();
  register_random();
  register_reduce();
  register_reduce_statistics();
  register_resample();
  register_rnn();
  register_scan();
  register_softmax();
  register_select();
  register_sort();
}

}  // namespace taeda::gpu

namespace {

/// Without a driver the backend has no devices and says why.
taeda::Backend* start(taeda::DeviceType) {
  taeda::gpu::register_kernels();
  auto* backend = new taeda::gpu::CudaBackend;
  if (backend->device_count() > 0) taeda::tracing::set_device_tracer(taeda::gpu::cupti_tracer());
  return backend;
}

}  // namespace

const taeda::Plugin taeda_plugin = {.type = {.name = "cuda"}, .start = start};
