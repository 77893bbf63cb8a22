// A function of one sample as one of many, computed at once.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "taeda/tensor/randomness.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::func {

using taeda::Randomness;

/// How `vmap` maps.
struct VmapOptions {
  /// The dimension of each argument that is the samples, nothing for an argument that all samples
  /// see; 0 for all arguments if the list is empty.
  std::vector<OptionalDim> in_dims = {};
  /// Where the samples are in each result; nothing for one that is the same for all samples.
  std::vector<OptionalDim> out_dims = {};
  /// Whether random operations are errors, give each sample its own numbers, or all the same.
  Randomness randomness = Randomness::Error;
  /// How many samples are computed at once; all unless given.
  OptionalDim chunk_size = {};
};

/// The results of a function that is mapped, and where the samples shall be in each.
struct MapResults {
  std::vector<Tensor> tensors;
  std::vector<OptionalDim> dims;
};

/// `f` of the inputs' samples, as `vmap` in either language has it; `name` is the function's in
/// errors. Throws ValueError for inputs without samples or with different numbers of them, and for
/// a result that differs between samples and has no dimension for them.
std::vector<Tensor> map_samples(const std::function<MapResults(const std::vector<Tensor>&)>& f,
                                const std::vector<Tensor>& inputs,
                                const std::vector<OptionalDim>& in_dims, Randomness randomness,
                                OptionalDim chunk_size, const std::string& name);

/// A function that calls `f`, which takes tensors and gives a tensor or a vector of tensors, once
/// for all samples. In it tensors have a sample's sizes; gradients, and other calls of `vmap`,
/// nest. What depends on a sample's values - `item`, `nonzero` - is an error, as is a change in
/// place of a tensor that all samples see by values that differ. An operation for which there is no
/// rule goes sample by sample, and warns once.
template <class F>
auto vmap(F f, VmapOptions options = {}) {
  return [f = std::move(f), options = std::move(options)](const auto&... tensors) {
    using Result = decltype(f(tensors...));
    const auto call = [&](const std::vector<Tensor>& samples) {
      MapResults out;
      auto made = [&]<size_t... I>(std::index_sequence<I...>) { return f(samples[I]...); }
      (std::make_index_sequence<sizeof...(tensors)>());
      if constexpr (std::is_same_v<Result, Tensor>)
        out.tensors.push_back(std::move(made));
      else
        out.tensors = std::move(made);
      out.dims = options.out_dims;
      if (out.dims.empty()) out.dims.assign(out.tensors.size(), 0);
      return out;
    };
    std::vector<OptionalDim> in_dims = options.in_dims;
    if (in_dims.empty()) in_dims.assign(sizeof...(tensors), 0);
    std::vector<Tensor> results =
        map_samples(call, {tensors...}, in_dims, options.randomness, options.chunk_size, "f");
    if constexpr (std::is_same_v<Result, Tensor>)
      return std::move(results[0]);
    else
      return results;
  };
}

}  // namespace taeda::inline v0_2::func
