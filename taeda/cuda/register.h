// The CUDA backend's kernels, a function for each source in kernels/.
#pragma once

namespace taeda::inline v0_2::gpu {

/// Fills the slots of `cuda`. Needs no device.
void register_kernels();

void register_attention();
void register_conv();
void register_copy();
void register_create();
void register_fft();
void register_grid_sample();
void register_index();
void register_join();
void register_linalg();
void register_loss();
void register_matmul();
void register_norm_batch();
void register_norm_rows();
void register_optim();
void register_pointwise_activation();
void register_pointwise_arithmetic();
void register_pointwise_compare();
void register_pointwise_complex();
void register_pointwise_loss();
void register_pointwise_special();
void register_pointwise_special_functions();
void register_pointwise_transcendental();
void register_pointwise_unary();
void register_pool();
void register_random();
void register_reduce();
void register_reduce_statistics();
void register_resample();
void register_rnn();
void register_scan();
void register_softmax();
void register_select();
void register_sort();

}  // namespace taeda::gpu
