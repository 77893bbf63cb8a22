// What the processes of a run do together. A program that is built to train alone has none of it
// (alone.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "taeda/nn/containers/sequential.h"
#include "taeda/tensor/tensor.h"

namespace taeda::tool::together {

/// This process among those of the run.
struct Place {
  int rank = 0, size = 1, local_rank = 0;
};

/// Joins the others. Throws UsageError unless the environment says that there are `nproc`.
Place join(int64_t nproc);
void leave();
/// Adds up what each has, or takes the largest of it, in place.
void add_up(const Tensor& values);
void take_largest(const Tensor& values);
/// On the leading rank what each has, written to `values`, which is empty elsewhere.
void gather(const Tensor& value, const std::vector<Tensor>& values);
/// The network's forward, whose backward averages gradients over the ranks. Its batch norms see the
/// whole batch.
std::function<Tensor(const Tensor&)> share_gradients(
    const std::shared_ptr<nn::SequentialImpl>& network);

}  // namespace taeda::tool::together
