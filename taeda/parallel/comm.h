// Tensors to and from several devices, differentiably.
#pragma once

#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::nn::parallel {

/// The tensor's chunks along `dim`, one on each device; fewer where there are not enough entries.
/// A chunk for the device that the tensor is on shares its memory. Throws Error for a tensor
/// without dimensions.
std::vector<Tensor> scatter_tensor(const Tensor& tensor, const std::vector<Device>& devices,
                                   int64_t dim = 0);

/// The tensors one after the other along `dim` on `target`. Scalars become the entries of a vector.
/// Throws Error where other sizes differ.
Tensor gather_tensors(const std::vector<Tensor>& tensors, Device target, int64_t dim = 0);

/// The sum of the tensors, each on a device of its own, on `target`: neighbours first, then pairs
/// of neighbours, and so on, so that the result does not depend on when each was ready. Undefined
/// tensors count as zero; without any other the result is undefined.
Tensor reduce_add(std::vector<Tensor> tensors, Device target);

/// Which device adds two tensors: the first one's, the default, or the second one's.
enum class AddedOn { First, Second };
/// The same sum, of the same bits, written into `out`, step by step: several can go on side by
/// side. No gradients are recorded.
class PairwiseSum {
 public:
  PairwiseSum(Tensor out, AddedOn side) : out_(std::move(out)), side_(side) {}
  /// One of the tensors, defined and of the sizes and dtype of `out`. Before the first step.
  void add(Tensor t) { tensors_.push_back(std::move(t)); }
  /// Queues the sums of neighbours, of pairs of neighbours, and so on, at last the copy to `out`;
  /// false when that is done.
  bool step();

 private:
  Tensor out_;
  const AddedOn side_;
  std::vector<Tensor> tensors_;
  size_t distance_ = 1;
};

}  // namespace taeda::nn::parallel
