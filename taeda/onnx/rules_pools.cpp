// Pooling.
#include "taeda/onnx/lower.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::onnx {

namespace {

/// Pools take a batch.
template <class Write>
void pool_with_batch(Call& c, size_t n, Write&& write) {
  const bool batched = c.rank(0) == static_cast<int64_t>(n) + 2;
  const std::string out = write(batched ? c.in(0) : c.unsqueeze(c.in(0), {0}));
  c.give(batched ? out : c.squeeze(out, {0}));
}

std::vector<int64_t> both_sides(const std::vector<int64_t>& padding) {
  std::vector<int64_t> out = padding;
  out.insert(out.end(), padding.begin(), padding.end());
  return out;
}

/// Kernel, strides (the kernel's size unless given) and padding in arguments 1 to 3.
Attributes windows_of(Call& c, size_t n) {
  const std::vector<int64_t> kernel = c.spread(1, n);
  const std::vector<int64_t> stride = c.integers(2).empty() ? kernel : c.spread(2, n);
  return {{"kernel_shape", kernel}, {"strides", stride}, {"pads", both_sides(c.spread(3, n, 0))}};
}

/// (input, kernel_size, stride, padding, dilation, ceil_mode)
void write_max_pool(Call& c, size_t n) {
  Attributes attributes = windows_of(c, n);
  attributes.emplace("dilations", c.spread(4, n));
  attributes.emplace("ceil_mode", int64_t{c.flag(5)});
  pool_with_batch(c, n, [&](const std::string& x) { return c.emit("MaxPool", {x}, attributes); });
}

/// (input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
void write_avg_pool(Call& c, size_t n) {
  if (c.has(6)) c.refuse("it divides by a number of its own");
  if (c.flag(4)) c.refuse("ceil_mode counts the windows at the end otherwise than ONNX");
  Attributes attributes = windows_of(c, n);
  attributes.emplace("count_include_pad", int64_t{c.flag(5, true)});
  pool_with_batch(c, n,
                  [&](const std::string& x) { return c.emit("AveragePool", {x}, attributes); });
}

/// The spatial sizes that come in and go out.
struct Sides {
  std::vector<int64_t> in, out;
  bool all_ones = true, divide = true, same = true;
};

Sides sides_of(Call& c, size_t n) {
  Sides s;
  const int64_t first = c.rank(0) - static_cast<int64_t>(n);
  const std::vector<Size> out = c.sizes_of(c.result());
  for (size_t d = 0; d < n; ++d) {
    const Size& size = out[static_cast<size_t>(first) + d];
    s.all_ones = s.all_ones && size.is_constant() && size.value == 1;
    s.out.push_back(size.value);
  }
  if (s.all_ones) return s;
  for (size_t d = 0; d < n; ++d) {
    s.in.push_back(c.fixed_size(0, first + static_cast<int64_t>(d)));
    s.divide = s.divide && s.in[d] % s.out[d] == 0;
    s.same = s.same && s.in[d] == s.out[d];
  }
  return s;
}

Attributes equal_windows(const Sides& s) {
  std::vector<int64_t> kernel;
  for (size_t d = 0; d < s.in.size(); ++d) kernel.push_back(s.in[d] / s.out[d]);
  return {{"kernel_shape", kernel}, {"strides", kernel}};
}

/// The matrix [in, out] whose columns take the means of an adaptive pool's windows.
Tensor mean_matrix(int64_t in, int64_t out, ScalarType dtype) {
  const Tensor m = zeros({in, out}, kFloat);
  float* p = m.data_ptr<float>();
  for (int64_t o = 0; o < out; ++o) {
    const int64_t begin = o * in / out, end = ((o + 1) * in + out - 1) / out;
    for (int64_t i = begin; i < end; ++i) p[i * out + o] = 1 / static_cast<float>(end - begin);
  }
  return m.to(dtype);
}

/// Windows of unequal sizes: a product with a matrix for each dimension.
std::string means_by_products(Call& c, std::string x, const Sides& s) {
  const int64_t rank = static_cast<int64_t>(s.in.size()) + 2;
  for (size_t d = 0; d < s.in.size(); ++d) {
    if (s.in[d] == s.out[d]) continue;
    std::vector<int64_t> swap;
    for (int64_t k = 0; k < rank; ++k) swap.push_back(k);
    std::swap(swap[d + 2], swap.back());
    x = c.transpose(x, swap);
    x = c.emit("MatMul", {x, c.constant(mean_matrix(s.in[d], s.out[d], c.dtype()))});
    x = c.transpose(x, swap);
  }
  return x;
}

void write_adaptive_avg_pool(Call& c, size_t n) {
  const Sides s = sides_of(c, n);
  pool_with_batch(c, n, [&](const std::string& x) -> std::string {
    if (s.all_ones) return c.emit("GlobalAveragePool", {x});
    if (s.same) return x;
    if (s.divide) return c.emit("AveragePool", {x}, equal_windows(s));
    return means_by_products(c, x, s);
  });
}

void write_adaptive_max_pool(Call& c, size_t n) {
  const Sides s = sides_of(c, n);
  if (!s.all_ones && !s.divide) c.refuse("its windows have different sizes");
  pool_with_batch(c, n, [&](const std::string& x) {
    return s.all_ones ? c.emit("GlobalMaxPool", {x}) : c.emit("MaxPool", {x}, equal_windows(s));
  });
}

constexpr Rule kPools[] = {
    {"max_pool1d", [](Call& c) { write_max_pool(c, 1); }},
    {"max_pool2d", [](Call& c) { write_max_pool(c, 2); }},
    {"max_pool3d", [](Call& c) { write_max_pool(c, 3); }},
    {"avg_pool1d", [](Call& c) { write_avg_pool(c, 1); }},
    {"avg_pool2d", [](Call& c) { write_avg_pool(c, 2); }},
    {"avg_pool3d", [](Call& c) { write_avg_pool(c, 3); }},
    {"adaptive_avg_pool1d", [](Call& c) { write_adaptive_avg_pool(c, 1); }},
    {"adaptive_avg_pool2d", [](Call& c) { write_adaptive_avg_pool(c, 2); }},
    {"adaptive_avg_pool3d", [](Call& c) { write_adaptive_avg_pool(c, 3); }},
    {"adaptive_max_pool1d", [](Call& c) { write_adaptive_max_pool(c, 1); }},
    {"adaptive_max_pool2d", [](Call& c) { write_adaptive_max_pool(c, 2); }},
    {"adaptive_max_pool3d", [](Call& c) { write_adaptive_max_pool(c, 3); }},
};

}  // namespace

std::span<const Rule> pool_rules() { return kPools; }

}  // namespace taeda::inline v0_2::onnx
