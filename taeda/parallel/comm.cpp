#include "taeda/parallel/comm.h"

#include <utility>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/write_out.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn::parallel {

namespace {

/// Gradients of the chunks, put together on the device they came from.
Tensor joined(const TensorVec& grads, int64_t dim, const std::vector<DimVector>& sizes,
              Device device, ScalarType dtype) {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (grads[i].defined()) {
      parts.push_back(grads[i].to(device));
    } else {
      parts.push_back(make_tensor(sizes[i], dtype, device));
      parts.back().zero_();
    }
  }
  return cat(parts, dim);
}

void record_scatter(const Tensor& tensor, const std::vector<Tensor>& chunks, int64_t dim) {
  std::vector<DimVector> sizes;
  for (const Tensor& c : chunks) sizes.emplace_back(c.sizes());
  record_multi("ScatterBackward", chunks, {tensor},
               [dim, sizes, device = tensor.device(), dtype = tensor.dtype()](
                   const TensorVec& grads, Needs) {
                 return TensorVec{joined(grads, dim, sizes, device, dtype)};
               });
}

}  // namespace

std::vector<Tensor> scatter_tensor(const Tensor& tensor, const std::vector<Device>& devices,
                                   int64_t dim) {
  TAEDA_CHECK(!devices.empty(), "scatter: expected at least one device");
  const bool recorded = wants_grad(tensor);
  std::vector<Tensor> chunks;
  {
    const AutoGradMode mode(!recorded && GradMode::is_enabled());
    chunks = tensor.chunk(static_cast<int64_t>(devices.size()), dim);
    // The last device first: values, which go from device to device, reach it last, and a device
    // receives one thing after another.
    for (size_t i = 0, n = chunks.size(); i < n; ++i) {
      Tensor& chunk = chunks[i == 0 ? n - 1 : i - 1];
      chunk = chunk.to(devices[i == 0 ? n - 1 : i - 1], true);
    }
  }
  if (!recorded) return chunks;
  for (Tensor& c : chunks)
    if (c.storage() == tensor.storage()) c = make_view(tensor, c.layout(), ViewKind::MultiOutput);
  record_scatter(tensor, chunks, wrap_dim(dim, tensor.dim()));
  return chunks;
}

namespace {

/// The size of the whole; checks that the parts fit.
DimVector gathered_sizes(const std::vector<Tensor>& tensors, int64_t dim) {
  DimVector sizes = tensors[0].sizes();
  int64_t total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    TAEDA_CHECK(t.dim() == static_cast<int64_t>(sizes.size()),
                "Expected all input tensors to have the same number of dimensions, but tensor at "
                "index ",
                i, " has ", t.dim(), " dimensions, (expected ", sizes.size(), ")");
    sizes[static_cast<size_t>(dim)] = t.size(dim);
    TAEDA_CHECK(t.sizes() == IntArrayRef(sizes), "Input tensor at index ", i, " has invalid shape ",
                t.sizes(), ", but expected ", IntArrayRef(sizes));
    total += t.size(dim);
  }
  sizes[static_cast<size_t>(dim)] = total;
  return sizes;
}

}  // namespace

Tensor gather_tensors(const std::vector<Tensor>& given, Device target, int64_t dim) {
  TAEDA_CHECK(!given.empty(), "gather: expected at least one tensor");
  std::vector<Tensor> tensors = given;
  for (Tensor& t : tensors)
    if (t.dim() == 0) t = t.reshape({1});
  const int64_t d = wrap_dim(dim, tensors[0].dim());
  const DimVector sizes = gathered_sizes(tensors, d);
  const Tensor out = make_tensor(sizes, tensors[0].dtype(), resolve(target));
  std::vector<int64_t> lengths;
  std::vector<Device> devices;
  {
    const NoGradGuard guard;
    int64_t start = 0;
    for (const Tensor& t : tensors) {
      out.narrow(d, start, t.size(d)).copy_(t, true);
      start += t.size(d);
      lengths.push_back(t.size(d));
      devices.push_back(t.device());
    }
  }
  if (any_wants_grad(tensors))
    record_list("GatherBackward", out, tensors,
                [lengths, devices, d](const Tensor& g, Needs needs) {
                  // The last device first: its gradients are added to its neighbour's before they
                  // travel on.
                  TensorVec grads;
                  grads.resize(lengths.size());
                  int64_t end = g.size(d);
                  for (size_t i = lengths.size(); i-- > 0;) {
                    end -= lengths[i];
                    if (needs[i]) grads[i] = g.narrow(d, end, lengths[i]).to(devices[i]);
                  }
                  return grads;
                });
  return out;
}

namespace {

/// left + right on left's device, in the memory that right needs there anyway.
Tensor sum_of(const Tensor& left, const Tensor& right) {
  const Tensor moved = right.to(left.device());
  const bool own = !GradMode::is_enabled() && !moved.is_same(right);
  return own ? moved.add_(left) : left.add(moved);
}

}  // namespace

Tensor reduce_add(std::vector<Tensor> tensors, Device target) {
  for (size_t step = 1; step < tensors.size(); step *= 2)
    for (size_t i = 0; i + step < tensors.size(); i += 2 * step) {
      Tensor& left = tensors[i];
      const Tensor& right = tensors[i + step];
      if (!right.defined()) continue;
      left = left.defined() ? sum_of(left, right) : right;
    }
  if (tensors.empty() || !tensors[0].defined()) return {};
  return tensors[0].to(target);
}

bool PairwiseSum::step() {
  const size_t n = tensors_.size(), distance = std::exchange(distance_, 2 * distance_);
  if (!tensors_[0].defined()) return false;  // done
  for (size_t i = 0; i + distance < n; i += 2 * distance) {
    const bool first = side_ == AddedOn::First;
    const Tensor stays = tensors_[first ? i : i + distance],
                 comes = tensors_[first ? i + distance : i];
    if (distance_ >= n && stays.device() == out_.device()) {
      const Tensor here = comes.to(stays.device());
      taeda::detail::compute_out("add", out_, [&] { return taeda::add(here, stays); });
      tensors_[0] = out_;
    } else {
      tensors_[i] = sum_of(stays, comes);
    }
  }
  if (distance_ < n) return true;
  if (!tensors_[0].is_same(out_)) out_.copy_(tensors_[0], true);
  tensors_[0].reset();
  return false;
}

}  // namespace taeda::nn::parallel
