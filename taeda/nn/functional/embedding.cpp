#include "taeda/nn/functional/embedding.h"

#include <limits>

#include "taeda/device/host_graph.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/door.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/nn/embedding.h"
#include "taeda/ops/nn/resample.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/mapped.h"

namespace taeda::inline v0_2::nn::functional {

namespace {

/// The rows of `weight` that `input` names get at most this norm.
void renormalise(const Tensor& input, const Tensor& weight, double max_norm, double norm_type) {
  if (weight.is_meta()) return;
  NoGradGuard no_grad;
  const Tensor rows = std::get<0>(unique(input.flatten()));
  const Tensor values = weight.index_select(0, rows);
  const Tensor norms = values.norm(norm_type, {1}, /*keepdim=*/true);
  const Tensor factors = taeda::where(norms.gt(max_norm),
                                      norms.add(1e-7).reciprocal().mul(max_norm), ones_like(norms));
  weight.index_copy_(0, rows, values.mul(factors));
}

}  // namespace

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options) {
  int64_t padding = -1;
  if (options.padding_idx()) {
    padding = *options.padding_idx();
    TAEDA_CHECK(padding == 0 || (padding >= -weight.size(0) && padding < weight.size(0)),
                "Padding_idx must be within num_embeddings");
    if (padding < 0) padding += weight.size(0);
  }
  if (options.max_norm()) renormalise(input, weight, *options.max_norm(), options.norm_type());
  return taeda::embedding(weight, input, padding, options.scale_grad_by_freq(), options.sparse());
}

namespace {

/// Which elements of a vector each bag has, as a matrix that is filled up, and where it is filled.
struct Bags {
  Tensor positions, filled;  // [B, L]
};

/// The most elements that a bag of one vector has; `starts` are its offsets on the host.
int64_t longest_bag(ArrayRef<int64_t> starts, int64_t length, bool include_last) {
  TAEDA_CHECK(starts.empty() || starts[0] == 0,
              "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
              "from position 0. However, got ",
              starts[0]);
  TAEDA_CHECK(starts.empty() || starts.back() <= length,
              "offsets[-1] can not be greater than input's length ", length,
              " but got offsets[-1] of ", starts.back());
  int64_t longest = 0;
  for (size_t b = 0; b + (include_last ? 1 : 0) < starts.size(); ++b) {
    const int64_t end = b + 1 < starts.size() ? starts[b + 1] : length;
    TAEDA_CHECK(starts[b] <= end, "offsets should not fall, but got ", starts[b], " before ", end);
    longest = std::max(longest, end - starts[b]);
  }
  return longest;
}

/// Checks the offsets; without `filled` that is all. In a map each sample may have its own.
Bags bags_of(const Tensor& offsets, int64_t length, bool include_last, Device device,
             bool filled = true) {
  TAEDA_CHECK_VALUE(offsets.dim() == 1, "offsets has to be a 1D Tensor");
  const int64_t given = offsets.numel(), count = given - (include_last ? 1 : 0);
  if (offsets.is_meta()) {  // how long bags are changes nothing about the shape of the result
    const DimVector shape{count, std::min<int64_t>(length, 1)};
    return {make_tensor(shape, kLong, device), make_tensor(shape, kBool, device)};
  }
  taeda::detail::check_not_recording("embedding_bag");
  TAEDA_CHECK_VALUE(count >= 0, "include_last_offset: number of offsets should be at least 1");
  const Tensor host = plain_of(offsets).cpu().to(kLong).contiguous();
  const int64_t* starts = host.data_ptr<int64_t>();
  int64_t longest = 0;
  for (int64_t at = 0; at < host.numel(); at += given)
    longest = std::max(
        longest, longest_bag({starts + at, static_cast<size_t>(given)}, length, include_last));
  if (!filled) return {};
  DimVector shape(host.sizes());
  shape.back() = count;
  shape.push_back(longest);
  const Tensor positions = make_tensor(shape, kLong, Device(kCPU)),
               outside = make_tensor(shape, kBool, Device(kCPU));
  int64_t at = 0;
  for (int64_t row = 0; row < host.numel(); row += given)
    for (int64_t b = 0; b < count; ++b) {
      const int64_t begin = starts[row + b], end = b + 1 < given ? starts[row + b + 1] : length;
      for (int64_t i = 0; i < longest; ++i, ++at) {
        const bool inside = begin + i < end;
        positions.data_ptr<int64_t>()[at] = inside ? begin + i : 0;
        outside.data_ptr<bool>()[at] = !inside;
      }
    }
  const uint64_t levels = mapped_levels(offsets);
  return {make_mapped(positions.to(device), levels), make_mapped(outside.to(device), levels)};
}

void check_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& o) {
  if (const std::optional<int64_t> padding = o.padding_idx(); padding && weight.dim() == 2)
    TAEDA_CHECK(*padding >= -weight.size(0) && *padding < weight.size(0),
                "padding_idx must be within the number of embeddings, ", -weight.size(0),
                " through ", weight.size(0) - 1, ", but got ", *padding);
  TAEDA_CHECK_VALUE(input.dim() == 1 || input.dim() == 2,
                    "input has to be 1D or 2D Tensor, but got Tensor of dimension ", input.dim());
  TAEDA_CHECK_VALUE(input.dim() == 1 || !o.offsets().defined(),
                    "If input is 2D, then offsets has to be null, as input is treated is a "
                    "mini-batch of fixed length sequences. However, found offsets of type Tensor");
  TAEDA_CHECK_VALUE(input.dim() == 2 || o.offsets().defined(),
                    "offsets has to be a 1D Tensor but got null");
  if (!o.per_sample_weights().defined()) return;
  TAEDA_CHECK_VALUE(o.per_sample_weights().sizes() == input.sizes(),
                    "embedding_bag: If per_sample_weights (", o.per_sample_weights().sizes(),
                    ") is not null, then it must have the same shape as the input (", input.sizes(),
                    ")");
  TAEDA_CHECK(o.per_sample_weights().dtype() == weight.dtype(),
              "Expected tensor for argument #1 'weight' to have the same type as tensor for "
              "argument #1 'per_sample_weights'; but type ",
              taeda::detail::tensor_type_name(weight), " does not equal ",
              taeda::detail::tensor_type_name(o.per_sample_weights()),
              " (while checking arguments for embedding_bag)");
  TAEDA_CHECK_NOT_IMPLEMENTED(o.mode().is_sum(),
                              "embedding_bag: per_sample_weights was not null. per_sample_weights "
                              "is only supported for mode='sum' (got mode='",
                              o.mode().name(), "').");
}

/// Whether sums can be a product with a sparse matrix that the host makes of the indices.
bool are_sums_of_rows(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& o) {
  const Tensor& shares = o.per_sample_weights();
  if (weight.dim() != 2) return false;  // refused by `embedding`
  if (input.dtype() != kLong && input.dtype() != kInt) return false;
  return input.is_cpu() && weight.is_cpu() && weight.is_floating_point() && !o.mode().is_max() &&
         !o.max_norm() && !o.scale_grad_by_freq() && !o.sparse() && !is_mapped(input) &&
         !is_mapped(weight) && !is_mapped(shares) && !is_mapped(o.offsets()) &&
         !(shares.defined() && shares.requires_grad()) && !taeda::detail::host_recording();
}

/// Sums or means of the rows of bags: a row of the matrix for each.
Tensor sum_of_rows(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& o) {
  const int64_t n = weight.size(0);
  const Tensor list = input.detach().to(kLong).contiguous();
  const int64_t* index = list.data_ptr<int64_t>();
  Tensor shares = o.per_sample_weights();
  if (shares.defined()) shares = shares.detach().to(kDouble).contiguous();
  const int64_t padding = !o.padding_idx()       ? -1
                          : *o.padding_idx() < 0 ? *o.padding_idx() + n
                                                 : *o.padding_idx();
  const auto matrix = std::make_shared<taeda::detail::SparseRows>(n);
  matrix->reserve(static_cast<size_t>(list.numel()));
  const auto add_bag = [&](int64_t begin, int64_t end) {
    int64_t count = 0;
    bool outside = false;
    for (int64_t i = begin; i < end; ++i) {
      outside |= (index[i] < 0) | (index[i] >= n);
      count += index[i] != padding;
    }
    TAEDA_CHECK_INDEX(!outside, "index out of range in self");
    const double share = o.mode().is_sum() || count == 0 ? 1.0 : 1.0 / static_cast<double>(count);
    if (count == end - begin && !shares.defined()) {
      matrix->add(index + begin, count, share);
    } else {
      for (int64_t i = begin; i < end; ++i)
        if (index[i] != padding)
          matrix->add(index[i], shares.defined() ? shares.data_ptr<double>()[i] : share);
    }
    matrix->end_row();
  };
  if (input.dim() == 2) {
    for (int64_t b = 0; b < input.size(0); ++b) add_bag(b * input.size(1), (b + 1) * input.size(1));
  } else {
    const Tensor host = o.offsets().cpu().to(kLong).contiguous();
    const int64_t* starts = host.data_ptr<int64_t>();
    const int64_t given = host.numel(), count = given - (o.include_last_offset() ? 1 : 0);
    for (int64_t b = 0; b < count; ++b)
      add_bag(starts[b], b + 1 < given ? starts[b + 1] : input.numel());
  }
  return taeda::detail::resample(weight, 0, matrix);
}

/// Offsets and weights of samples stand in the options, too: beside them they are seen by who
/// follows calls.
Tensor do_embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& /*offsets*/,
                        const Tensor& /*per_sample_weights*/, const EmbeddingBagFuncOptions& o) {
  if (input.dim() == 1)  // for its checks
    bags_of(o.offsets(), input.numel(), o.include_last_offset(), input.device(), false);
  return sum_of_rows(input, weight, o);
}

/// The same of other operations.
Tensor compose_embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets,
                             const Tensor& per_sample_weights, const EmbeddingBagFuncOptions& o) {
  Tensor rows = embedding(input, weight,
                          {.padding_idx = o.padding_idx,
                           .max_norm = o.max_norm,
                           .norm_type = o.norm_type,
                           .scale_grad_by_freq = o.scale_grad_by_freq,
                           .sparse = o.sparse});
  if (per_sample_weights.defined()) rows = rows.mul(per_sample_weights.unsqueeze(-1));
  Tensor nothing = zeros(input.sizes(), TensorOptions(kBool).device(input.device()));
  if (o.padding_idx())
    nothing = input.eq(*o.padding_idx() < 0 ? *o.padding_idx() + weight.size(0) : *o.padding_idx());
  if (input.dim() == 1) {
    const Bags bags = bags_of(offsets, input.numel(), o.include_last_offset(), input.device());
    const DimVector shape = bags.positions.sizes();
    const Tensor flat = bags.positions.flatten();
    rows = rows.index_select(0, flat).unflatten(0, shape);
    nothing = nothing.index_select(0, flat).view(shape).logical_or(bags.filled);
  }
  if (rows.size(1) == 0) return rows.sum({1});
  const Tensor without = nothing.unsqueeze(2), counts = nothing.logical_not().sum({1}, true);
  if (o.mode().is_max()) {
    const double lowest = -std::numeric_limits<double>::infinity();
    return std::get<0>(rows.masked_fill(without, lowest).max(1)).masked_fill(counts.eq(0), 0);
  }
  const Tensor sums = rows.masked_fill(without, 0).sum({1});
  return o.mode().is_sum() ? sums : sums.div(counts.clamp_min(1).to(sums.dtype()));
}

}  // namespace

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& o) {
  static constexpr OperationTraits traits{.name = "embedding_bag"};
  check_bag(input, weight, o);
  if (!are_sums_of_rows(input, weight, o))
    return compose_embedding_bag(input, weight, o.offsets(), o.per_sample_weights(), o);
  if (Interceptors::any())
    return Door<decltype(do_embedding_bag)>::pass_by_parts(traits, do_embedding_bag,
                                                           compose_embedding_bag, input, weight,
                                                           o.offsets(), o.per_sample_weights(), o);
  return do_embedding_bag(input, weight, o.offsets(), o.per_sample_weights(), o);
}

}  // namespace taeda::inline v0_2::nn::functional
