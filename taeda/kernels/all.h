// Every kernel slot there is. A family adds its line; `sim` and the coverage test walk the list.
#pragma once

#include "taeda/kernels/attention.h"
#include "taeda/kernels/conv.h"
#include "taeda/kernels/copy.h"
#include "taeda/kernels/create.h"
#include "taeda/kernels/fft.h"
#include "taeda/kernels/grid_sample.h"
#include "taeda/kernels/index.h"
#include "taeda/kernels/join.h"
#include "taeda/kernels/linalg.h"
#include "taeda/kernels/loss.h"
#include "taeda/kernels/matmul.h"
#include "taeda/kernels/norm.h"
#include "taeda/kernels/optim.h"
#include "taeda/kernels/pointwise/all.h"
#include "taeda/kernels/pool.h"
#include "taeda/kernels/random.h"
#include "taeda/kernels/reduce.h"
#include "taeda/kernels/resample.h"
#include "taeda/kernels/rnn.h"
#include "taeda/kernels/scan.h"
#include "taeda/kernels/softmax.h"
#include "taeda/kernels/sort.h"

namespace taeda::inline v0_2 {

/// Calls `f.template operator()<&slot>()` for every slot.
template <class F>
void for_each_slot(F&& f) {
  for_each_attention_slot(f);
  for_each_conv_slot(f);
  for_each_copy_slot(f);
  for_each_create_slot(f);
  for_each_fft_slot(f);
  for_each_grid_sample_slot(f);
  for_each_index_slot(f);
  for_each_join_slot(f);
  for_each_linalg_slot(f);
  for_each_loss_slot(f);
  for_each_matmul_slot(f);
  for_each_norm_slot(f);
  for_each_optim_slot(f);
  for_each_pool_slot(f);
  for_each_pointwise_slot(f);
  for_each_random_slot(f);
  for_each_reduce_slot(f);
  for_each_resample_slot(f);
  for_each_rnn_slot(f);
  for_each_scan_slot(f);
  for_each_softmax_slot(f);
  for_each_sort_slot(f);
}

}  // namespace taeda
