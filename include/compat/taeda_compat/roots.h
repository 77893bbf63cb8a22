// Namespaces `torch`, `at` and `c10`: the last header, because names are there once all are
// declared. They and those within `torch` are namespaces of their own, which programs may reopen.
#pragma once

#include <taeda/generated/compat/namespaces.h>
#include <taeda_compat/namespaces.h>

namespace c10 {
using namespace taeda_names;
using taeda::complex;
}  // namespace c10

namespace at {
using namespace c10;
using taeda_compat::complex;
}  // namespace at

namespace at::detail {
/// A generator of one's own.
inline Generator createCPUGenerator(uint64_t seed = CPUGeneratorImpl::default_rng_seed_val) {
  return CPUGeneratorImpl::make(seed);
}
/// The one that operations use when they are given none.
inline const Generator& getDefaultCPUGenerator() {
  return globalContext().defaultGenerator(taeda::kCPU);
}
}  // namespace at::detail

namespace torch {
using namespace at;
using taeda_compat::complex;
}  // namespace torch

namespace torch::data {
using datasets::BatchDataset;
using datasets::Dataset;
}  // namespace torch::data

namespace torch::data::detail {
using taeda_compat::loader_parts::DataShuttle;
using taeda_compat::loader_parts::Queue;
}  // namespace torch::data::detail

namespace torch::data::detail::sequencers {
using taeda_compat::loader_parts::sequencers::NoSequencer;
using taeda_compat::loader_parts::sequencers::OrderedSequencer;
using taeda_compat::loader_parts::sequencers::Sequencer;
}  // namespace torch::data::detail::sequencers

namespace torch::autograd {
/// `data` without its history, as a leaf that may require gradients.
inline taeda::Tensor make_variable(const taeda::Tensor& data, bool requires_grad = false) {
  return data.detach().set_requires_grad(requires_grad);
}
}  // namespace torch::autograd

namespace torch::cuda {
inline bool cudnn_is_available() {
  return is_available() && at::globalContext().userEnabledCuDNN();
}
}  // namespace torch::cuda

namespace torch::nn::init {
/// (fan_in, fan_out) of a weight: how many numbers each output is made of, and each input goes to.
/// Throws ValueError for fewer than two dimensions.
inline std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const taeda::Tensor& weight) {
  TAEDA_CHECK_VALUE(
      weight.dim() >= 2,
      "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
  const int64_t field =
      weight.size(0) * weight.size(1) == 0 ? 1 : weight.numel() / (weight.size(0) * weight.size(1));
  return {weight.size(1) * field, weight.size(0) * field};
}
}  // namespace torch::nn::init
