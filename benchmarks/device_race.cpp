// Taeda's side of the race on a device: one JSON line a case. benchmarks/device_race.py runs it
// beside device_race_torch.py, whose cases have the same names, shapes and seeds.
#include <cmath>

#include "device_harness.h"
#include "device_training.h"

namespace {

namespace F = torch::nn::functional;
using race::Race;
using torch::Tensor;

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

/// A case of one input that is read once and one result that is written once.
void unary(Race& r, const std::string& name, torch::IntArrayRef sizes, torch::ScalarType dtype,
           Unary f, double output_bytes, bool comparable = true) {
  double elements = 1;
  for (int64_t s : sizes) elements *= static_cast<double>(s);
  const double bytes = elements * static_cast<double>(torch::element_size(dtype)) + output_bytes;
  const std::vector<int64_t> shape(sizes.begin(), sizes.end());
  r.run(
      name, {bytes, 0},
      [&](int set) -> Race::Step {
        const Tensor x = r.randn(set, 0, shape, dtype);
        return [x, f] { return f(x); };
      },
      comparable);
}

void elementwise(Race& r) {
  const int64_t n = r.size(int64_t{1} << 26, 1 << 22, 1 << 12);
  const double m = static_cast<double>(n);
  // The bandwidth that the rest of this group is measured by.
  r.run("elementwise/copy", {8 * m, 0}, [&](int set) -> Race::Step {
    const Tensor x = r.randn(set, 0, {n}), y = torch::empty_like(x);
    return [x, y] { return y.copy_(x); };
  });
  const auto binary = [&](const std::string& name, torch::ScalarType dtype, Binary f) {
    r.run(name, {3 * m * static_cast<double>(torch::element_size(dtype)), 0},
          [&](int set) -> Race::Step {
            const Tensor x = r.randn(set, 0, {n}, dtype), y = r.randn(set, 1, {n}, dtype);
            return [x, y, f] { return f(x, y); };
          });
  };
  const Binary add = [](const Tensor& x, const Tensor& y) { return x + y; };
  binary("elementwise/add", torch::kFloat, add);
  binary("elementwise/add_half", torch::kHalf, add);
  binary("elementwise/add_bfloat16", torch::kBFloat16, add);
  const auto same = [&](const std::string& name, Unary f) {
    unary(r, "elementwise/" + name, {n}, torch::kFloat, f, 4 * m);
  };
  same("mul_scalar", [](const Tensor& x) { return x * 2.5; });
  same("relu", [](const Tensor& x) { return torch::relu(x); });
  same("exp", [](const Tensor& x) { return torch::exp(x); });
  same("tanh", [](const Tensor& x) { return torch::tanh(x); });
  same("gelu", [](const Tensor& x) { return torch::gelu(x); });
  unary(
      r, "elementwise/gelu_half", {n}, torch::kHalf, [](const Tensor& x) { return torch::gelu(x); },
      2 * m);
  unary(
      r, "cast/float_to_half", {n}, torch::kFloat,
      [](const Tensor& x) { return x.to(torch::kHalf); }, 2 * m);
  unary(
      r, "cast/half_to_float", {n}, torch::kHalf,
      [](const Tensor& x) { return x.to(torch::kFloat); }, 4 * m);
  unary(
      r, "cast/float_to_bfloat16", {n}, torch::kFloat,
      [](const Tensor& x) { return x.to(torch::kBFloat16); }, 2 * m);
  r.run("elementwise/add_inplace", {12 * m, 0}, [&](int set) -> Race::Step {
    const Tensor x = r.randn(set, 0, {n}), y = r.randn(set, 1, {n});
    return [x, y] { return x.add_(y, 1e-9); };
  });
  unary(
      r, "random/dropout", {n}, torch::kFloat,
      [](const Tensor& x) { return torch::dropout(x, 0.5, true); }, 4 * m, false);
  r.run("overhead/add_1", {}, [&](int set) -> Race::Step {
    const Tensor x = r.randn(set, 0, {1}), y = r.randn(set, 1, {1});
    return [x, y] { return x + y; };
  });
}

void reductions(Race& r) {
  const int64_t rows = r.size(8192, 2048, 32), columns = r.size(8192, 2048, 48);
  const auto reduce = [&](const std::string& name, Unary f) {
    unary(r, "reduce/" + name, {rows, columns}, torch::kFloat, f, 0);
  };
  reduce("sum", [](const Tensor& x) { return x.sum(); });
  reduce("sum_dim0", [](const Tensor& x) { return x.sum(0); });
  reduce("sum_dim1", [](const Tensor& x) { return x.sum(1); });
  reduce("max_dim1", [](const Tensor& x) { return std::get<0>(x.max(1)); });
  reduce("argmax_dim1", [](const Tensor& x) { return x.argmax(1); });
  unary(
      r, "reduce/sum_half", {rows, columns}, torch::kHalf, [](const Tensor& x) { return x.sum(1); },
      0);
  const int64_t width = r.size(4096, 1024, 40);
  const double moved = 4 * static_cast<double>(rows * width);
  unary(
      r, "rows/softmax", {rows, width}, torch::kFloat, [](const Tensor& x) { return x.softmax(1); },
      moved);
  unary(
      r, "rows/softmax_half", {rows, width}, torch::kHalf,
      [](const Tensor& x) { return x.softmax(1); }, moved / 2);
  unary(
      r, "rows/log_softmax", {rows, width}, torch::kFloat,
      [](const Tensor& x) { return x.log_softmax(1); }, moved);
  r.run("rows/layer_norm", {2 * moved, 0}, [&](int set) -> Race::Step {
    const Tensor x = r.randn(set, 0, {rows, width}), w = r.randn(set, 1, {width}),
                 b = r.randn(set, 2, {width});
    return [x, w, b, width] { return torch::layer_norm(x, {width}, w, b); };
  });
  r.run("rows/layer_norm_backward", {3 * moved, 0}, [&](int set) -> Race::Step {
    const Tensor x = r.randn(set, 0, {rows, width}).requires_grad_(),
                 w = r.randn(set, 1, {width}).requires_grad_(),
                 b = r.randn(set, 2, {width}).requires_grad_(), g = r.randn(set, 3, {rows, width});
    const Tensor y = torch::layer_norm(x, {width}, w, b);
    return [=] { return torch::autograd::grad({y}, {x, w, b}, {g}, true)[0]; };
  });
  const int64_t batch = r.size(4096, 512, 24), classes = r.size(32768, 8192, 50);
  r.run("rows/cross_entropy_forward_backward", {12 * static_cast<double>(batch * classes), 0},
        [&](int set) -> Race::Step {
          const Tensor x = r.randn(set, 0, {batch, classes}).requires_grad_(),
                       y = r.randint(set, 1, classes, {batch});
          return [x, y] { return torch::autograd::grad({F::cross_entropy(x, y)}, {x})[0]; };
        });
}

void indexing(Race& r) {
  const int64_t words = r.size(50000, 20000, 60), width = r.size(512, 256, 8),
                n = r.size(65536, 8192, 100);
  const double moved = 8 * static_cast<double>(n * width);
  r.run("index/embedding", {moved, 0}, [&](int set) -> Race::Step {
    const Tensor w = r.randn(set, 0, {words, width}), i = r.randint(set, 1, words, {n});
    return [w, i] { return torch::embedding(w, i); };
  });
  r.run("index/embedding_backward", {moved, 0}, [&](int set) -> Race::Step {
    const Tensor w = r.randn(set, 0, {words, width}).requires_grad_(),
                 i = r.randint(set, 1, words, {n}), g = r.randn(set, 2, {n, width});
    const Tensor y = torch::embedding(w, i);
    return [=] { return torch::autograd::grad({y}, {w}, {g}, true)[0]; };
  });
  r.run("index/index_select", {moved, 0}, [&](int set) -> Race::Step {
    const Tensor x = r.randn(set, 0, {words, width}), i = r.randint(set, 1, words, {n});
    return [x, i] { return x.index_select(0, i); };
  });
  r.run("index/gather", {moved, 0}, [&](int set) -> Race::Step {
    const Tensor x = r.randn(set, 0, {words, width}), i = r.randint(set, 1, words, {n, width});
    return [x, i] { return x.gather(0, i); };
  });
  r.run("index/scatter_add", {moved, 0}, [&](int set) -> Race::Step {
    const Tensor x = r.randn(set, 0, {n, width}), i = r.randint(set, 1, words, {n, width}),
                 zero = torch::zeros({words, width}, x.options());
    return [=] { return zero.scatter_add(0, i, x); };
  });
  const int64_t long_row = r.size(int64_t{1} << 24, 1 << 20, 1 << 10);
  unary(
      r, "sort/one_row", {long_row}, torch::kFloat,
      [](const Tensor& x) { return std::get<0>(x.sort()); }, 4 * static_cast<double>(long_row));
  const int64_t rows = r.size(4096, 1024, 16), columns = r.size(4096, 1024, 32);
  const double matrix = 4 * static_cast<double>(rows * columns);
  unary(
      r, "sort/rows", {rows, columns}, torch::kFloat,
      [](const Tensor& x) { return std::get<0>(x.sort(1)); }, matrix);
  unary(
      r, "sort/topk", {rows, columns}, torch::kFloat,
      [](const Tensor& x) { return std::get<0>(x.topk(10, 1)); }, 0);
  unary(
      r, "sort/cumsum", {rows, columns}, torch::kFloat, [](const Tensor& x) { return x.cumsum(1); },
      matrix);
}

struct Product {
  const char* name;
  torch::ScalarType dtype;
  bool tf32;
};
constexpr Product kProducts[] = {{"float", torch::kFloat, false},
                                 {"tf32", torch::kFloat, true},
                                 {"half", torch::kHalf, false},
                                 {"bfloat16", torch::kBFloat16, false}};

void products(Race& r) {
  const auto mm = [&](int64_t m, int64_t n, int64_t k) {
    const std::string size = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    for (const Product& p : kProducts) {
      torch::backends::cuda::matmul::allow_tf32 = p.tf32;
      r.run(
          "matmul/" + size + "_" + p.name, {0, 2.0 * static_cast<double>(m * n * k)},
          [&](int set) -> Race::Step {
            const Tensor a = r.randn(set, 0, {m, k}, p.dtype), b = r.randn(set, 1, {k, n}, p.dtype);
            return [a, b] { return a.mm(b); };
          });
    }
  };
  const int64_t large = r.size(4096, 1024, 48), middle = r.size(1024, 256, 32);
  mm(large, large, large);
  mm(middle, middle, middle);
  mm(r.size(64, 64, 8), large, large);
  torch::backends::cuda::matmul::allow_tf32 = false;
  // The tutorial's, which the CPU computes as well.
  for (const int64_t n : {r.size(1000, 500, 24), r.size(10000, 1500, 40)})
    r.run("seed/product_" + std::to_string(n), {0, 2.0 * std::pow(n, 3)},
          [&](int set) -> Race::Step {
            const Tensor a = r.randn(set, 0, {n, n}), b = r.randn(set, 1, {n, n});
            return [a, b] { return a.mm(b); };
          });
  const int64_t batch = r.size(128, 8, 4), t = r.size(512, 256, 16), d = 64;
  for (const Product& p : {kProducts[0], kProducts[2]})
    r.run(std::string("matmul/batched_") + p.name,
          {0, 2.0 * static_cast<double>(batch * t * t * d)}, [&](int set) -> Race::Step {
            const Tensor a = r.randn(set, 0, {batch, t, d}, p.dtype),
                         b = r.randn(set, 1, {batch, d, t}, p.dtype);
            return [a, b] { return a.bmm(b); };
          });
}

struct Layer {
  const char* name;
  int64_t batch, in, out, size, kernel, stride, padding;
};
constexpr Layer kLayers[] = {{"resnet_stem", 64, 3, 64, 224, 7, 2, 3},
                             {"resnet_56", 64, 64, 64, 56, 3, 1, 1},
                             {"resnet_14", 64, 256, 256, 14, 3, 1, 1},
                             {"lenet_1", 1000, 1, 6, 28, 5, 1, 0}};

void convolutions(Race& r) {
  for (const Layer& full : kLayers)
    for (const Product& p : {kProducts[0], kProducts[2]}) {
      Layer l = full;
      l.batch = r.size(full.batch, full.batch / 8, 2);
      if (r.tiny())
        l = {full.name,   l.batch,     std::min<int64_t>(full.in, 4), 4, 14, full.kernel,
             full.stride, full.padding};
      const int64_t out = (l.size + 2 * l.padding - l.kernel) / l.stride + 1;
      const double flops =
          2.0 * static_cast<double>(l.batch * out * out * l.out * l.in * l.kernel * l.kernel);
      const auto x = [&r, l, p](int set) {
        return r.randn(set, 0, {l.batch, l.in, l.size, l.size}, p.dtype);
      };
      const auto w = [&r, l, p](int set) {
        return r.randn(set, 1, {l.out, l.in, l.kernel, l.kernel}, p.dtype);
      };
      const std::string name = std::string("conv/") + l.name + "_" + p.name;
      r.run(name + "_forward", {0, flops}, [&](int set) -> Race::Step {
        return [l, a = x(set), b = w(set)] {
          return torch::conv2d(a, b, Tensor(), l.stride, l.padding);
        };
      });
      // Both gradients of one result, each by itself.
      const auto gradient = [&](const char* what, bool of_input) {
        r.run(name + what, {0, flops}, [&](int set) -> Race::Step {
          const Tensor a = x(set).requires_grad_(of_input), b = w(set).requires_grad_(!of_input),
                       y = torch::conv2d(a, b, Tensor(), l.stride, l.padding),
                       g = torch::ones_like(y), of = of_input ? a : b;
          return [y, g, of] { return torch::autograd::grad({y}, {of}, {g}, true)[0]; };
        });
      };
      gradient("_backward_input", true);
      gradient("_backward_weight", false);
    }
}

void attention(Race& r) {
  const int64_t b = r.size(16, 2, 2), h = 8, t = r.size(512, 256, 16), d = 64;
  for (const Product& p : {kProducts[0], kProducts[2]})
    for (const bool backward : {false, true})
      r.run(std::string("attention/") + p.name + (backward ? "_forward_backward" : "_forward"),
            {0, (backward ? 14.0 : 4.0) * static_cast<double>(b * h * t * t * d)},
            [&](int set) -> Race::Step {
              std::vector<Tensor> in;
              for (int i = 0; i < 3; ++i)
                in.push_back(r.randn(set, i, {b, h, t, d}, p.dtype).requires_grad_(backward));
              return [in, backward] {
                const Tensor y = F::scaled_dot_product_attention(in[0], in[1], in[2]);
                return backward ? torch::autograd::grad({y.sum()}, in)[0] : y;
              };
            });
}

void transfers(Race& r) {
  const int64_t n = r.size(int64_t{1} << 24, 1 << 22, 1 << 12);
  const double bytes = 4 * static_cast<double>(n);
  const auto host = [n](int set, bool pinned) {
    torch::manual_seed(static_cast<uint64_t>(1000 * set));
    const Tensor x = torch::randn({n});
    return pinned ? x.pin_memory() : x;
  };
  for (const bool pinned : {false, true}) {
    const std::string kind = pinned ? "pinned" : "pageable";
    r.run("transfer/to_device_" + kind, {bytes, 0}, [&](int set) -> Race::Step {
      const Tensor x = host(set, pinned), y = torch::empty({n}, x.options().device(r.device()));
      return [x, y, pinned] { return y.copy_(x, pinned); };
    });
    r.run("transfer/to_host_" + kind, {bytes, 0}, [&](int set) -> Race::Step {
      const Tensor x = host(set, false).to(r.device()), y = host(set, pinned);
      return [x, y, pinned] { return y.copy_(x, pinned); };
    });
  }
  // A copy on a stream of its own beside work that takes about as long.
  const auto side = std::make_shared<torch::Stream>(torch::new_stream(r.device()));
  r.run("transfer/overlapped_with_exp", {bytes, 0}, [&](int set) -> Race::Step {
    const Tensor x = host(set, true), y = torch::empty({n}, x.options().device(r.device())),
                 work = r.randn(set, 1, {r.size(int64_t{1} << 26, 1 << 22, 1 << 12)});
    return [=] {
      const torch::Stream main = torch::current_stream(work.device());
      side->wait_stream(main);
      {
        const torch::StreamGuard guard(*side);
        y.copy_(x, true);
      }
      torch::exp(work);
      main.wait_stream(*side);
      return y;
    };
  });
  for (const auto& [name, full] : {std::pair("1k", 256), std::pair("64m", 1 << 24)}) {
    const int64_t elements = r.size(full, full, 256);
    r.run(
        std::string("alloc/") + name, {},
        [&](int) -> Race::Step {
          const auto options = torch::TensorOptions(torch::kFloat).device(r.device());
          return [=] { return torch::empty({elements}, options); };
        },
        false);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  Race race(race::parse(argc, argv));
  elementwise(race);
  reductions(race);
  indexing(race);
  products(race);
  convolutions(race);
  attention(race);
  transfers(race);
  race::optimizers(race);
  race::training(race);
} catch (const std::exception& e) {
  std::fprintf(stderr, "device_race: %s\n", e.what());
  return 1;
}
