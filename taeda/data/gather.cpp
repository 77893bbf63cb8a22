#include "taeda/data/gather.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "taeda/base/error.h"
#include "taeda/base/parallel_for.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::data {

namespace {

/// Rows ahead of the one being copied whose first lines are fetched: random rows defeat the
/// processor's own prefetching across their ends.
constexpr int64_t kPrefetchRows = 4;
constexpr int64_t kPrefetchBytes = 256;

template <class Word>
void gather_words(char* out, const char* in, const size_t* index, int64_t begin, int64_t end) {
  auto* to = reinterpret_cast<Word*>(out);
  const auto* from = reinterpret_cast<const Word*>(in);
  for (int64_t i = begin; i < end; ++i) to[i] = from[index[i]];
}

void gather_blocks(char* out, const char* in, const size_t* index, int64_t begin, int64_t end,
                   size_t bytes) {
  for (int64_t i = begin; i < end; ++i) {
    if (i + kPrefetchRows < end) {
      const char* ahead = in + index[i + kPrefetchRows] * bytes;
      for (int64_t b = 0; b < std::min<int64_t>(kPrefetchBytes, bytes); b += 64)
        __builtin_prefetch(ahead + b);
    }
    std::memcpy(out + static_cast<size_t>(i) * bytes, in + index[i] * bytes, bytes);
  }
}

void gather_on_cpu(char* out, const char* in, ArrayRef<size_t> indices, size_t bytes) {
  const auto n = static_cast<int64_t>(indices.size());
  const int64_t grain = std::max<int64_t>(1, 8 * kParallelGrain / static_cast<int64_t>(bytes + 1));
  parallel_for(0, n, grain, [&](int64_t begin, int64_t end) {
    switch (bytes) {
      case 1: return gather_words<uint8_t>(out, in, indices.data(), begin, end);
      case 2: return gather_words<uint16_t>(out, in, indices.data(), begin, end);
      case 4: return gather_words<uint32_t>(out, in, indices.data(), begin, end);
      case 8: return gather_words<uint64_t>(out, in, indices.data(), begin, end);
      default: return gather_blocks(out, in, indices.data(), begin, end, bytes);
    }
  });
}

void check_rows(const Tensor& source, ArrayRef<size_t> indices) {
  TAEDA_CHECK(source.dim() > 0, "gather_rows expects a tensor with at least one dimension");
  const auto rows = static_cast<size_t>(source.size(0));
  for (size_t i : indices)
    TAEDA_CHECK_INDEX(i < rows, "index ", i, " is out of bounds for dimension 0 with size ", rows);
}

Tensor empty_rows(const Tensor& source, ArrayRef<size_t> indices, ScalarType dtype) {
  DimVector sizes(source.sizes());
  sizes[0] = static_cast<int64_t>(indices.size());
  return make_tensor(sizes, dtype, kCPU);
}

}  // namespace

Tensor gather_rows(const Tensor& source, ArrayRef<size_t> indices) {
  check_rows(source, indices);
  const NoGradGuard no_grad;
  if (!source.is_cpu()) {
    Tensor where = empty({static_cast<int64_t>(indices.size())}, kLong);
    std::copy(indices.begin(), indices.end(), where.data_ptr<int64_t>());
    return source.detach().index_select(0, where.to(source.device()));
  }
  Tensor out = empty_rows(source, indices, source.dtype());
  const auto rows = static_cast<size_t>(source.size(0));
  const Tensor in = source.is_contiguous() ? source : source.detach().contiguous();
  const size_t bytes = rows ? static_cast<size_t>(in.nbytes()) / rows : 0;
  if (bytes > 0)
    gather_on_cpu(static_cast<char*>(out.data_ptr()), static_cast<const char*>(in.data_ptr()),
                  indices, bytes);
  return out;
}

Tensor gather_unit_rows(const Tensor& source, ArrayRef<size_t> indices) {
  if (!source.is_cpu() || source.dtype() != kByte || !source.is_contiguous())
    return gather_rows(source, indices).to(kFloat).div_(255);
  check_rows(source, indices);
  static const auto values = [] {
    std::array<float, 256> v;
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i) / 255;
    return v;
  }();
  const NoGradGuard no_grad;
  Tensor out = empty_rows(source, indices, kFloat);
  const int64_t row = out.numel() / std::max<int64_t>(1, out.size(0));
  const auto* from = source.data_ptr<uint8_t>();
  auto* to = out.data_ptr<float>();
  parallel_for(0, out.size(0), std::max<int64_t>(1, kParallelGrain / (row + 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const uint8_t* in = from + static_cast<int64_t>(indices[i]) * row;
                   for (int64_t k = 0; k < row; ++k) to[i * row + k] = values[in[k]];
                 }
               });
  return out;
}

Tensor stack_examples(TensorList tensors) {
  TAEDA_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  const Tensor& first = tensors.front();
  bool plain = true;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    TAEDA_CHECK(t.sizes() == first.sizes(), "stack expects each tensor to be equal size, but got ",
                first.sizes(), " at entry 0 and ", t.sizes(), " at entry ", i);
    plain = plain && t.is_cpu() && t.is_contiguous() && t.dtype() == first.dtype() &&
            !t.requires_grad();
  }
  DimVector sizes(first.sizes());
  sizes.insert(0, static_cast<int64_t>(tensors.size()));
  Tensor out = make_tensor(sizes, first.dtype(), first.device());
  const auto bytes = static_cast<size_t>(first.nbytes());
  auto* to = static_cast<char*>(out.data_ptr());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (plain)
      std::memcpy(to + i * bytes, tensors[i].data_ptr(), bytes);
    else
      out.select(0, static_cast<int64_t>(i)).copy_(tensors[i]);
  }
  return out;
}

}  // namespace taeda::data
