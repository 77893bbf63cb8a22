#include "taeda/func/vmap.h"

#include <algorithm>

#include "taeda/base/error.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/mapped.h"

namespace taeda::inline v0_2::func {

namespace {

/// How many samples the inputs have.
int64_t count_samples(const std::vector<Tensor>& inputs, const std::vector<OptionalDim>& in_dims,
                      const std::string& name) {
  TAEDA_CHECK_VALUE(inputs.size() == in_dims.size(), "vmap(", name, "): got ", inputs.size(),
                    " tensors and ", in_dims.size(), " in_dims");
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (in_dims[i]) sizes.push_back(inputs[i].size(*in_dims[i]));
  TAEDA_CHECK_VALUE(!sizes.empty(), "vmap(", name, "): at least one input must have samples");
  for (const int64_t n : sizes)
    TAEDA_CHECK_VALUE(n == sizes[0],
                      "vmap: Expected all tensors to have the same size in the mapped dimension, "
                      "got sizes ",
                      IntArrayRef(sizes), " for the mapped dimension");
  return sizes[0];
}

Tensor sample_of(const Tensor& t, OptionalDim dim, int level) {
  return dim ? raised(*dim == 0 ? t : t.movedim(*dim, 0), level) : t;
}

/// A result outside of the map.
Tensor outside_of(const Tensor& t, OptionalDim dim, int level, int64_t samples,
                  const std::string& name) {
  const bool differs = mapped_levels(t) >> level & 1;
  if (!dim) {
    TAEDA_CHECK_VALUE(!differs, "vmap(", name, ", ...): `", name,
                      "` can not return a BatchedTensor when out_dim is None");
    return t;
  }
  const Tensor all = differs ? lowered(t) : with_samples(samples, t);
  return *dim == 0 ? all : all.movedim(0, *dim);
}

}  // namespace

std::vector<Tensor> map_samples(const std::function<MapResults(const std::vector<Tensor>&)>& f,
                                const std::vector<Tensor>& inputs,
                                const std::vector<OptionalDim>& in_dims, Randomness randomness,
                                OptionalDim chunk_size, const std::string& name) {
  const int64_t samples = count_samples(inputs, in_dims, name);
  TAEDA_CHECK_VALUE(!chunk_size || *chunk_size > 0,
                    "vmap: chunk_size should be None or greater than 0. (got ",
                    chunk_size.value_or(0), ")");
  if (chunk_size && *chunk_size < samples) {
    std::vector<std::vector<Tensor>> parts;
    std::vector<OptionalDim> out_dims;
    const auto noted = [&](const std::vector<Tensor>& given) {
      MapResults made = f(given);
      out_dims = made.dims;
      return made;
    };
    for (int64_t at = 0; at < samples; at += *chunk_size) {
      std::vector<Tensor> chunk;
      const int64_t size = std::min(*chunk_size, samples - at);
      for (size_t i = 0; i < inputs.size(); ++i)
        chunk.push_back(in_dims[i] ? inputs[i].narrow(*in_dims[i], at, size) : inputs[i]);
      std::vector<Tensor> made = map_samples(noted, chunk, in_dims, randomness, {}, name);
      parts.resize(made.size());
      for (size_t k = 0; k < made.size(); ++k) parts[k].push_back(std::move(made[k]));
    }
    std::vector<Tensor> out;
    for (size_t k = 0; k < parts.size(); ++k)
      out.push_back(out_dims[k] ? cat(parts[k], *out_dims[k]) : parts[k][0]);
    return out;
  }
  MapResults made;
  int level = 0;
  {
    const Maps::Scope map(samples, randomness);
    level = map.level();
    std::vector<Tensor> given;
    for (size_t i = 0; i < inputs.size(); ++i)
      given.push_back(sample_of(inputs[i], in_dims[i], level));
    made = f(given);
  }
  TAEDA_CHECK_VALUE(made.tensors.size() == made.dims.size(), "vmap(", name, "): got ",
                    made.tensors.size(), " results and ", made.dims.size(), " out_dims");
  std::vector<Tensor> out;
  for (size_t k = 0; k < made.tensors.size(); ++k)
    out.push_back(outside_of(made.tensors[k], made.dims[k], level, samples, name));
  return out;
}

}  // namespace taeda::inline v0_2::func
