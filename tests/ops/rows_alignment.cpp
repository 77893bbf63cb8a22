// Rows of connectionist temporal classification and of fractional pooling.
#include <cmath>
#include <limits>

#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/ctc_loss.h"
#include "taeda/ops/nn/fractional_pool.h"
#include "taeda/ops/nn/softmax.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

/// The probability of `target` behind `from` when the steps from t on are still to come, by trying
/// every alignment: each step emits a class, of which repetitions and then blanks (0) are dropped.
double all_alignments(const Array& p, int64_t t, int64_t n, const std::vector<int64_t>& target,
                      size_t done, int64_t last) {
  if (t == p.sizes[0]) return done == target.size() ? 1 : 0;
  double sum = 0;
  for (int64_t c = 0; c < p.sizes[2]; ++c) {
    const bool emits = c != 0 && c != last;
    if (emits && (done == target.size() || target[done] != c)) continue;
    sum += p.at({t, n, c}) * all_alignments(p, t + 1, n, target, done + (emits ? 1 : 0), c);
  }
  return sum;
}

Arrays alignment_losses(const Arrays& in) {
  const Array& x = in[0];
  const std::vector<std::vector<int64_t>> targets = {{1, 2}, {2, 2}, {}};
  Array p = x, out = array({3}, {});
  for (int64_t t = 0; t < x.sizes[0]; ++t)
    for (int64_t n = 0; n < x.sizes[1]; ++n) {
      double sum = 0;
      for (int64_t c = 0; c < x.sizes[2]; ++c) sum += std::exp(x.at({t, n, c}));
      for (int64_t c = 0; c < x.sizes[2]; ++c) p.at({t, n, c}) = std::exp(x.at({t, n, c})) / sum;
    }
  for (int64_t n = 0; n < 3; ++n)
    out.data.push_back(-std::log(all_alignments(p, 0, n, targets[static_cast<size_t>(n)], 0, 0)));
  return {out};
}

OpRow ctc_row() {
  OpRow row;
  row.name = "ctc_loss";
  row.call = [](const Tensors& t) {
    const Tensor targets = tensor({1, 2, 2, 2}).to(t[0].device());
    return Tensors{
        ctc_loss(t[0].log_softmax(2), targets, {5, 5, 5}, {2, 2, 0}, 0, Reduction::None)};
  };
  row.samples = {{real({5, 3, 3})}};
  row.reference = &alignment_losses;
  row.dtypes = kWide;
  row.tolerance = 4;
  return row;
}

/// Windows that begin at int((i + u) a) - int(u a).
int64_t window_begin(double u, int64_t i, int64_t input, int64_t kernel, int64_t output) {
  if (i == output - 1) return input - kernel;
  const double a = static_cast<double>(input - kernel) / static_cast<double>(output - 1);
  return static_cast<int64_t>((static_cast<double>(i) + u) * a) - static_cast<int64_t>(u * a);
}

/// 7 x 8 x 6 volumes to 3 x 4 x 2 with windows of 2 x 2 x 3; of images the last two.
Arrays fractional_reference(const Arrays& in, size_t dims) {
  const std::vector<int64_t> outputs = {3, 4, 2}, kernels = {2, 2, 3};
  const Array &x = in[0], &u = in[1];
  const size_t skipped = 3 - dims;
  std::vector<int64_t> sizes(x.sizes.begin(), x.sizes.begin() + 2);
  for (size_t d = 0; d < 3; ++d)
    if (d >= skipped) sizes.push_back(outputs[d]);
  Array out = array(sizes, {});
  const auto size = [&](size_t d) { return d < skipped ? 1 : x.sizes[2 + d - skipped]; };
  const auto count = [&](size_t d) { return d < skipped ? 1 : outputs[d]; };
  const auto width = [&](size_t d) { return d < skipped ? 1 : kernels[d]; };
  for (int64_t plane = 0; plane < x.sizes[0] * x.sizes[1]; ++plane)
    for (int64_t i = 0; i < count(0) * count(1) * count(2); ++i) {
      const int64_t at[] = {i / (count(1) * count(2)), i / count(2) % count(1), i % count(2)};
      int64_t begin[3];
      for (size_t d = 0; d < 3; ++d) {
        const size_t sample = dims == 2 ? 2 - d : d;
        begin[d] = d < skipped ? 0
                               : window_begin(u.data[static_cast<size_t>(plane) * dims + sample],
                                              at[d], size(d), width(d), count(d));
      }
      double best = -std::numeric_limits<double>::infinity();
      for (int64_t k = 0; k < width(0) * width(1) * width(2); ++k) {
        const int64_t a = begin[0] + k / (width(1) * width(2)),
                      b = begin[1] + k / width(2) % width(1), c = begin[2] + k % width(2);
        const int64_t place = ((plane * size(0) + a) * size(1) + b) * size(2) + c;
        best = std::max(best, x.data[static_cast<size_t>(place)]);
      }
      out.data.push_back(best);
    }
  return {out};
}

OpRow fractional_row(size_t dims) {
  OpRow row;
  row.name = dims == 2 ? "fractional_max_pool2d" : "fractional_max_pool3d";
  row.call = [dims](const Tensors& t) {
    return Tensors{std::get<0>(
        dims == 2
            ? fractional_max_pool2d(t[0], {2, 3}, {4, 2}, t[1].to(t[0].dtype()).div(100))
            : fractional_max_pool3d(t[0], {2, 2, 3}, {3, 4, 2}, t[1].to(t[0].dtype()).div(100)))};
  };
  const auto count = static_cast<int64_t>(dims);
  row.samples = {
      {real(dims == 2 ? std::vector<int64_t>{2, 3, 8, 6} : std::vector<int64_t>{2, 1, 7, 8, 6}),
       Arg{{2, dims == 2 ? 3 : 1, count}, 5, 95, Arg::Kind::Index}}};
  row.reference = [dims](Arrays in) {
    for (double& u : in[1].data) u /= 100;
    return fractional_reference(in, dims);
  };
  row.dtypes = kWide;
  return row;
}

}  // namespace

std::vector<OpRow> alignment_rows() { return {ctc_row(), fractional_row(2), fractional_row(3)}; }

}  // namespace taeda::testing
