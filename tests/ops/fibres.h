// References of operations along a dimension: plain code over one fibre (all elements that differ
// only in that dimension) at a time.
#pragma once

#include "tests/ops/op_table.h"

namespace taeda::testing {

using Fibre = std::vector<double>;
using FibreFn = std::function<Fibre(const Fibre&)>;

/// Applies `f` to every fibre along `dim`. `drop`: f gives one number and the dimension goes.
inline Array along(const Array& a, size_t dim, const FibreFn& f, bool drop = false) {
  int64_t outer = 1, inner = 1;
  const int64_t n = a.sizes.empty() ? 1 : a.sizes[dim];
  for (size_t d = 0; d < a.sizes.size(); ++d)
    if (d != dim) (d < dim ? outer : inner) *= a.sizes[d];
  Array out;
  out.sizes = a.sizes;
  int64_t m = -1;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      Fibre x;
      for (int64_t k = 0; k < n; ++k)
        x.push_back(a.data[static_cast<size_t>((o * n + k) * inner + i)]);
      const Fibre y = f(x);
      if (m < 0)
        m = static_cast<int64_t>(y.size()), out.data.resize(static_cast<size_t>(outer * m * inner));
      for (int64_t k = 0; k < m; ++k)
        out.data[static_cast<size_t>((o * m + k) * inner + i)] = y[static_cast<size_t>(k)];
    }
  if (m < 0) m = drop ? 1 : n;
  if (drop && !out.sizes.empty())
    out.sizes.erase(out.sizes.begin() + static_cast<std::ptrdiff_t>(dim));
  else if (!out.sizes.empty())
    out.sizes[dim] = m;
  return out;
}

/// All elements as one fibre, giving one number.
inline Array overall(const Array& a, const FibreFn& f) { return {{}, f(a.data)}; }

}  // namespace taeda::testing
