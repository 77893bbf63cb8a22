// What rows of matrix decompositions share: references over batches, and inputs that every
// decomposition takes.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "taeda/ops/create/create.h"
#include "taeda/ops/linalg/linalg.h"
#include "tests/ops/op_table.h"
#include "tests/ops/reference_matrix.h"

namespace taeda::testing::matrices {

// ---- batches ----

inline Mat matrix_at(const Array& a, int64_t batch) {
  const size_t d = a.sizes.size();
  Mat out(a.sizes[d - 2], a.sizes[d - 1]);
  if (a.data.empty()) return out;
  const auto begin = a.data.begin() + batch * out.m * out.n;
  out.x.assign(begin, begin + out.m * out.n);
  return out;
}

inline int64_t batches_of(const Array& a) {
  return std::accumulate(a.sizes.begin(), a.sizes.end() - 2, int64_t{1}, std::multiplies<>());
}

using Result = std::vector<Mat>;
/// fn of the inputs' i-th matrices, for each i; the last `drop` dimensions of the results have size
/// 1 and are left out. An empty batch gets its shapes from matrices of zeros.
inline Arrays batched(const Arrays& in, const std::function<Result(const std::vector<Mat>&)>& fn,
                      int drop = 0) {
  Arrays out;
  const int64_t count = batches_of(in[0]);
  for (int64_t b = 0; b < std::max<int64_t>(count, 1); ++b) {
    std::vector<Mat> mats;
    for (const Array& a : in) mats.push_back(matrix_at(a, batches_of(a) == 1 ? 0 : b));
    const Result result = fn(mats);
    out.resize(result.size());
    for (size_t i = 0; i < result.size(); ++i) {
      out[i].sizes.assign(in[0].sizes.begin(), in[0].sizes.end() - 2);
      if (drop < 2) out[i].sizes.push_back(drop == 0 ? result[i].m : result[i].m * result[i].n);
      if (drop < 1) out[i].sizes.push_back(result[i].n);
      if (count > 0) out[i].data.insert(out[i].data.end(), result[i].x.begin(), result[i].x.end());
    }
  }
  return out;
}

inline Mat number(double x) {
  Mat out(1, 1);
  out(0, 0) = x;
  return out;
}

inline Mat row_of(const std::vector<double>& values) {
  Mat out(1, static_cast<int64_t>(values.size()));
  out.x = values;
  return out;
}

// ---- inputs that an operation takes ----

/// Growing numbers on the diagonal make any input regular, and its singular values differ.
inline Mat regular(Mat a) {
  for (int64_t i = 0; i < std::min(a.m, a.n); ++i) a(i, i) += 4 + 2 * static_cast<double>(i);
  return a;
}
inline Tensor regular(const Tensor& t) {
  const int64_t m = t.size(-2), n = t.size(-1), k = std::min(m, n);
  const TensorOptions options = TensorOptions().dtype(t.dtype()).device(t.device());
  const Tensor growing = arange(k, options).mul(2).add(4).unsqueeze(-1);
  Tensor diagonal = zeros({m, n}, options);
  if (k > 0) diagonal.narrow(0, 0, k).copy_(eye(k, n, options).mul(growing));
  return t.add(diagonal);
}
/// The same with its rows in reverse: elimination exchanges them.
inline Mat reversed(const Mat& a) {
  Mat out = regular(a);
  for (int64_t i = 0; i < a.m / 2; ++i)
    for (int64_t j = 0; j < a.n; ++j) std::swap(out(i, j), out(a.m - 1 - i, j));
  return out;
}
inline Tensor reversed(const Tensor& t) { return regular(t).flip({-2}); }
/// Symmetric with eigenvalues that differ.
inline Mat symmetric(const Mat& a) {
  Mat out = regular(a);
  for (int64_t i = 0; i < a.m; ++i)
    for (int64_t j = 0; j < a.n; ++j) out(i, j) += regular(a)(j, i);
  return out;
}
inline Tensor symmetric(const Tensor& t) { return regular(t).add(regular(t).mT()); }

inline std::string no_library(Device device) {
  try {
    (void)linalg::det(ones({1, 1}, TensorOptions().device(device))).item();
  } catch (const NotImplementedError& e) {
    return e.what();
  }
  return "";
}

inline Arg entries(std::vector<int64_t> sizes) { return real(std::move(sizes), -1, 1); }
inline const std::vector<Sample> squares = {
    {entries({3, 3})}, {entries({2, 4, 4})}, {entries({1, 1})}, {entries({0, 3, 3})}};
inline const std::vector<Sample> rectangles = {
    {entries({4, 3})}, {entries({2, 3, 4})}, {entries({3, 3})}, {entries({0, 2, 3})}};

using Call = std::function<Tensors(const Tensors&)>;
using Reference = std::function<Result(const std::vector<Mat>&)>;

inline OpRow solver_row(std::string name, std::vector<Sample> samples, Call call,
                        Reference reference, int drop = 0, std::vector<std::string> covers = {}) {
  OpRow row;
  row.name = std::move(name);
  row.call = std::move(call);
  row.samples = std::move(samples);
  row.reference = [reference = std::move(reference), drop](const Arrays& in) {
    return batched(in, reference, drop);
  };
  row.dtypes = kWide;
  row.tolerance = 8;
  row.covers = std::move(covers);
  row.unavailable = no_library;
  return row;
}

}  // namespace taeda::testing::matrices
