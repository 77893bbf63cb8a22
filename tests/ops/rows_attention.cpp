// Attention.
#include <cmath>
#include <limits>

#include "taeda/ops/nn/attention.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

struct AttentionCase {
  bool causal = false, bool_mask = false, added_mask = false, gqa = false;
  std::optional<double> scale = {};
};

/// By definition, a query after another. Masks have the last dimensions of the scores.
Array attend(const Arrays& a, const AttentionCase& c) {
  const auto dim = [&](size_t i, int back) {
    return a[i].sizes[a[i].sizes.size() - static_cast<size_t>(back)];
  };
  const int64_t l = dim(0, 2), e = dim(0, 1), s = dim(1, 2), w = dim(2, 1);
  Array out;
  out.sizes = a[0].sizes;
  out.sizes.back() = w;
  int64_t heads = 1;
  for (size_t d = 0; d + 2 < a[0].sizes.size(); ++d) heads *= a[0].sizes[d];
  out.data.assign(static_cast<size_t>(heads * l * w), 0);
  const int64_t share = c.gqa ? dim(0, 3) / dim(1, 3) : 1;
  const double scale = c.scale.value_or(1 / std::sqrt(static_cast<double>(e)));
  const auto at = [&](size_t i, int64_t row, int64_t column, int64_t width) {
    return a[i].data[static_cast<size_t>(row * width + column)];
  };
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < l; ++i) {
      std::vector<double> weight(static_cast<size_t>(s));
      double top = -std::numeric_limits<double>::infinity(), sum = 0;
      const auto seen = [&](int64_t j, double mask) {
        return (!c.causal || j <= i) && (!c.bool_mask || mask != 0);
      };
      for (const bool measure : {true, false})
        for (int64_t j = 0; j < s; ++j) {
          const size_t place = static_cast<size_t>((h * l + i) * s + j);
          const double mask = a.size() > 3 ? a[3].data[place % a[3].data.size()] : 0;
          if (!seen(j, mask)) continue;
          double score = c.added_mask ? mask : 0;
          for (int64_t d = 0; d < e; ++d)
            score += scale * at(0, h * l + i, d, e) * at(1, h / share * s + j, d, e);
          if (measure)
            top = std::max(top, score);
          else
            sum += weight[static_cast<size_t>(j)] = std::exp(score - top);
        }
      for (int64_t j = 0; sum > 0 && j < s; ++j)
        for (int64_t d = 0; d < w; ++d)
          out.data[static_cast<size_t>((h * l + i) * w + d)] +=
              weight[static_cast<size_t>(j)] / sum * at(2, h / share * s + j, d, w);
    }
  return out;
}

OpRow attention_row(std::string variant, const AttentionCase& c, std::vector<Sample> samples) {
  OpRow row;
  row.name = "scaled_dot_product_attention" + std::move(variant);
  row.samples = std::move(samples);
  row.tolerance = 16;
  row.call = [c](const Tensors& t) {
    return Tensors{scaled_dot_product_attention(t[0], t[1], t[2], t.size() > 3 ? t[3] : Tensor(), 0,
                                                c.causal, c.scale, c.gqa)};
  };
  row.reference = [c](const Arrays& a) { return Arrays{attend(a, c)}; };
  return row;
}

}  // namespace

std::vector<OpRow> attention_rows() {
  const Sample square = {real({2, 3, 5, 4}), real({2, 3, 5, 4}), real({2, 3, 5, 4})},
               wide = {real({2, 3, 4}), real({2, 7, 4}), real({2, 7, 2})};
  std::vector<OpRow> rows;
  rows.push_back(
      attention_row("", {},
                    {square,
                     wide,
                     {real({3, 2}), real({4, 2}), real({4, 1})},
                     {real({2, 1, 2, 3, 2}), real({2, 1, 2, 3, 2}), real({2, 1, 2, 3, 2})},
                     {real({2, 0, 4}), real({2, 3, 4}), real({2, 3, 4})},
                     {real({2, 3, 4}), real({2, 0, 4}), real({2, 0, 4})}}));
  rows.push_back(attention_row(".causal", {.causal = true},
                               {square, wide, {real({7, 3}), real({4, 3}), real({4, 3})}}));
  rows.push_back(attention_row(
      ".where", {.bool_mask = true, .scale = 0.3},
      {{real({2, 3, 4}), real({2, 5, 4}), real({2, 5, 3}), mask({3, 5})},
       {real({2, 2, 3, 2}), real({2, 2, 4, 2}), real({2, 2, 4, 2}), mask({2, 3, 4})}}));
  rows.push_back(
      attention_row(".added", {.added_mask = true},
                    {{real({2, 3, 4}), real({2, 5, 4}), real({2, 5, 3}), real({3, 5})}}));
  rows.push_back(attention_row(".shared", {.causal = true, .gqa = true},
                               {{real({2, 4, 3, 2}), real({2, 2, 5, 2}), real({2, 2, 5, 3})},
                                {real({4, 3, 2}), real({1, 3, 2}), real({1, 3, 2})}}));
  return rows;
}

}  // namespace taeda::testing
