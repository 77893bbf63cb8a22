// What the members of BatchNormImplBase do: for the sources that instantiate it.
#pragma once

#include <utility>

#include "taeda/nn/modules/normalization.h"
#include "taeda/nn/settings.h"
#include "taeda/ops/create/create.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn {

namespace detail {

/// What batch and instance normalisation show.
inline void show_norm(Settings& out, const auto& o) {
  out.value(o.num_features)("eps", o.eps)("momentum", o.momentum)("affine", o.affine);
  out("track_running_stats", o.track_running_stats);
}

inline Tensor ones_or_none(bool wanted, IntArrayRef sizes) {
  return wanted ? ones(sizes) : Tensor();
}
inline Tensor zeros_or_none(bool wanted, IntArrayRef sizes) {
  return wanted ? zeros(sizes) : Tensor();
}

/// What batch and instance normalisation register.
template <class Norm, class Parameter, class Buffer>
void register_statistics(Norm& m, const Parameter& parameter, const Buffer& buffer) {
  const int64_t n = m.options.num_features;
  const bool affine = m.options.affine, track = m.options.track_running_stats;
  m.weight = parameter("weight", ones_or_none(affine, {n}));
  m.bias = parameter("bias", zeros_or_none(affine, {n}));
  m.running_mean = buffer("running_mean", zeros_or_none(track, {n}));
  m.running_var = buffer("running_var", ones_or_none(track, {n}));
  m.num_batches_tracked = buffer("num_batches_tracked", track ? zeros({}, kLong) : Tensor());
}

/// The statistics of nothing, where there are any.
template <class Norm>
void reset_statistics(Norm& m) {
  if (!m.options.track_running_stats) return;
  m.running_mean.zero_();
  m.running_var.fill_(1);
  m.num_batches_tracked.zero_();
}
/// What changes nothing, where there are weights.
inline void reset_affine(const Tensor& weight, const Tensor& bias) {
  if (!weight.defined()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

}  // namespace detail

template <class Derived>
void BatchNormImplBase<Derived>::reset() {
  detail::register_statistics(
      *this,
      [this](const char* name, Tensor t) { return this->register_parameter(name, std::move(t)); },
      [this](const char* name, Tensor t) { return this->register_buffer(name, std::move(t)); });
}

template <class Derived>
void BatchNormImplBase<Derived>::reset_running_stats() {
  detail::reset_statistics(*this);
}

template <class Derived>
void BatchNormImplBase<Derived>::reset_parameters() {
  reset_running_stats();
  detail::reset_affine(weight, bias);
}

template <class Derived>
void BatchNormImplBase<Derived>::settings(Settings& out) const {
  detail::show_norm(out.of(typeid(Derived)), options);
  if (shared) out("shared", true);
}

template <class Derived>
Tensor BatchNormImplBase<Derived>::normalize(const Tensor& input) {
  const bool training = this->is_training();
  // In a second run of one forward the batch is in the statistics already.
  const bool counted = !training || !RecomputeMode::is_enabled();
  const Tensor mean = counted ? running_mean : Tensor(), var = counted ? running_var : Tensor();
  double factor = options.momentum.value_or(0);
  if (training && counted && num_batches_tracked.defined()) {
    num_batches_tracked.add_(1);
    if (!options.momentum) factor = input.is_meta() ? 1 : 1 / num_batches_tracked.item().toDouble();
  }
  if (training && shared)
    return shared->forward(input, weight, bias, mean, var, factor, options.eps);
  return functional::batch_norm(input, mean, var, weight, bias, training || !mean.defined(), factor,
                                options.eps);
}

}  // namespace taeda::inline v0_2::nn
