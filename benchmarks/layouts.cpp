// Operations on every layout that a tensor comes in - contiguous, transposed, every second column,
// one row for all, images with their channels last - and copies from one layout to another. A
// layout that takes three times as long as contiguous memory is a defect.
#include "harness.h"

using bench::keep;
using torch::Tensor;

namespace {

struct Layout {
  std::string name;
  Tensor x;
};

/// Matrices of one shape, in the layouts that matrices have.
std::vector<Layout> matrices(int64_t rows, int64_t columns, torch::ScalarType dtype) {
  const auto draw = [&](int64_t r, int64_t c) { return (torch::rand({r, c}) + 0.1).to(dtype); };
  return {{"contiguous", draw(rows, columns)},
          {"transposed", draw(columns, rows).t()},
          {"columns", draw(rows, 2 * columns).narrow(1, 0, columns)},
          {"stepped", draw(rows, 2 * columns).slice(1, 0, 2 * columns, 2)},
          {"row_for_all", draw(1, columns).expand({rows, columns})},
          {"column_for_all", draw(rows, 1).expand({rows, columns})}};
}

void pointwise(bench::Runner& r, const std::string& type, torch::ScalarType dtype) {
  const Tensor y = (torch::rand({512, 1024}) + 0.1).to(dtype);
  for (const Layout& l : matrices(512, 1024, dtype)) {
    const auto run = [&, x = l.x](const std::string& op, const auto& f) {
      r.run("layout/" + op + type + "_" + l.name, [&] { keep(f(x)); });
    };
    run("add", [&](const Tensor& x) { return y + x; });
    run("relu", [](const Tensor& x) { return torch::relu(x); });
    run("exp", [](const Tensor& x) { return torch::exp(x); });
    run("where", [&](const Tensor& x) { return torch::where(y > 0.6, y, x); });
    run("clone", [](const Tensor& x) { return x.contiguous(); });
    run("copy", [into = y.clone()](const Tensor& x) { return into.copy_(x); });
    run("mul_inplace", [into = y.clone()](const Tensor& x) { return into.mul_(x); });
  }
}

void along_dimensions(bench::Runner& r) {
  const Tensor w = torch::ones({1024}), b = torch::zeros({1024}), y = torch::rand({1024, 256}),
               i = torch::randint(0, 512, {512}, torch::kLong);
  for (const Layout& l : matrices(512, 1024, torch::kFloat)) {
    const auto run = [&, x = l.x](const std::string& op, const auto& f) {
      r.run("layout/" + op + "_" + l.name, [&] { keep(f(x)); });
    };
    run("sum", [](const Tensor& x) { return x.sum(); });
    run("sum_dim0", [](const Tensor& x) { return x.sum(0); });
    run("sum_dim1", [](const Tensor& x) { return x.sum(1); });
    run("max_dim1", [](const Tensor& x) { return std::get<0>(x.max(1)); });
    run("softmax_dim0", [](const Tensor& x) { return x.softmax(0); });
    run("softmax_dim1", [](const Tensor& x) { return x.softmax(1); });
    run("layer_norm", [&](const Tensor& x) { return torch::layer_norm(x, {1024}, w, b); });
    run("cumsum_dim1", [](const Tensor& x) { return x.cumsum(1); });
    run("index_select", [&](const Tensor& x) { return x.index_select(0, i); });
    run("cat_dim0", [](const Tensor& x) { return torch::cat({x, x}, 0); });
    run("cat_dim1", [](const Tensor& x) { return torch::cat({x, x}, 1); });
    run("mm", [&](const Tensor& x) { return x.mm(y); });
  }
}

void images(bench::Runner& r) {
  const Tensor w = torch::rand({64, 64, 3, 3}) - 0.5, scale = torch::ones({64}),
               shift = torch::zeros({64});
  const Tensor first = torch::rand({8, 64, 32, 32});
  for (const Layout& l :
       {Layout{"contiguous", first},
        Layout{"channels_last", first.contiguous(torch::MemoryFormat::ChannelsLast)}}) {
    const auto run = [&, x = l.x](const std::string& op, const auto& f) {
      r.run("layout/" + op + "_" + l.name, [&] { keep(f(x)); });
    };
    const Tensor other = torch::rand_like(l.x);
    run("images_add", [&](const Tensor& x) { return x + other; });
    run("images_relu", [](const Tensor& x) { return torch::relu(x); });
    run("images_bias", [&](const Tensor& x) { return x + scale.view({1, 64, 1, 1}); });
    run("images_sum", [](const Tensor& x) { return x.sum({0, 2, 3}); });
    run("conv2d", [&](const Tensor& x) { return torch::conv2d(x, w, {}, 1, 1); });
    run("max_pool2d", [](const Tensor& x) { return torch::max_pool2d(x, 2); });
    run("adaptive_avg_pool2d", [](const Tensor& x) {
      return torch::adaptive_avg_pool2d(x, {1, 1});
    });
    const Tensor mean = torch::zeros({64}), var = torch::ones({64});
    run("batch_norm", [&](const Tensor& x) {
      return torch::batch_norm(x, scale, shift, mean, var, true, 0.1, 1e-5, false);
    });
  }
}

/// Cases that were slower than PyTorch once.
void once_slower(bench::Runner& r) {
  const Tensor m = torch::rand({512, 1024}), heads = torch::rand({8, 128, 8, 64}),
               pictures = torch::rand({8, 64, 56, 56}), x = torch::rand({1000, 512}),
               bias = torch::rand({512}), table = torch::rand({20000, 256}),
               i = torch::randint(0, 20000, {4096}, torch::kLong), a = torch::rand({1024, 512});
  r.run("slow/transpose_contiguous", [&] { keep(m.t().contiguous()); });
  r.run("slow/heads_contiguous", [&] { keep(heads.permute({0, 2, 1, 3}).contiguous()); });
  r.run("slow/to_channels_last",
        [&] { keep(pictures.contiguous(torch::MemoryFormat::ChannelsLast)); });
  r.run("slow/softmax_transposed", [&] { keep(m.t().softmax(-1)); });
  r.run("slow/bias_row_1000x512", [&] { keep(x + bias); });
  r.run("slow/index_select_4096x256", [&] { keep(table.index_select(0, i)); });
  r.run("slow/cat_dim1", [&] { keep(torch::cat({a, a}, 1)); });
  const Tensor column = torch::rand({1000, 1}), few = torch::rand({100000, 8}),
               channels = pictures.contiguous(torch::MemoryFormat::ChannelsLast);
  r.run("slow/column_1000x512", [&] { keep(x * column); });
  r.run("slow/column_inplace_1000x512", [&] { x.mul_(column); });
  r.run("slow/sum_of_8_columns", [&] { keep(few.sum(0)); });
  r.run("slow/nearest_to_half", [&] {
    keep(torch::upsample_nearest2d(channels, torch::IntArrayRef{28, 28}));
  });
  for (const int64_t n : {1000, 100000, 10000000}) {
    const std::string size = std::to_string(n);
    if (!r.wants_any("slow/")) return;
    const Tensor v = torch::rand({n}) - 0.5, w = torch::ones({n});
    r.run("slow/sigmoid_" + size, [&] { keep(torch::sigmoid(v)); });
    r.run("slow/mul_inplace_" + size, [&] { v.mul_(w); });
    r.run("slow/mul_number_inplace_" + size, [&] { v.mul_(1.0); });
    r.run("slow/sum_" + size, [&] { keep(v.sum()); });
    r.run("slow/atan2_" + size, [&] { keep(torch::atan2(v, w)); });
    r.run("slow/pow_" + size, [&] { keep(w.pow(1.7)); });
    const Tensor wide = v.to(torch::kDouble), narrow = v.to(torch::kBFloat16);
    r.run("slow/sin_double_" + size, [&] { keep(torch::sin(wide)); });
    r.run("slow/tanh_double_" + size, [&] { keep(torch::tanh(wide)); });
    r.run("slow/log1p_double_" + size, [&] { keep(torch::log1p(wide)); });
    r.run("slow/add_bfloat16_" + size, [&] { keep(narrow + narrow); });
    r.run("slow/neg_bfloat16_" + size, [&] { keep(torch::neg(narrow)); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner runner(bench::parse(argc, argv));
  torch::manual_seed(0);
  torch::NoGradGuard no_grad;
  once_slower(runner);
  pointwise(runner, "", torch::kFloat);
  pointwise(runner, "_bfloat16", torch::kBFloat16);
  along_dimensions(runner);
  images(runner);
}
