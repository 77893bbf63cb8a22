#include "tests/func/map_programs.h"

#include <random>
#include <sstream>

#include "taeda/autograd/engine.h"
#include "taeda/func/vmap.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/mapped.h"

namespace taeda::map_programs {

namespace {

constexpr size_t kInputs = 3, kResults = 3;
constexpr int64_t kLargest = 64;  // elements of what steps take

/// Runs steps on registers, to which each adds one.
class Runner {
 public:
  Runner(const Program& program, bool at_once) : program_(program), at_once_(at_once) {}

  /// `inner`: in a map within the program, which may not change what is outside of it.
  Tensors steps(size_t begin, size_t end, Tensors registers, bool inner) const {
    for (size_t i = begin; i < end; ++i) {
      const Step& s = program_[i];
      const size_t a = s.a % registers.size();
      Tensor x = registers[a];
      const Tensor y = registers[s.b % registers.size()];
      if (x.numel() > kLargest) x = x.mean();
      if (s.operation < operations().size()) {
        const Operation& o = operations()[s.operation];
        const bool changes = std::string_view(o.name).ends_with('_');
        if (changes && (inner || s.q % 2)) x = map_everywhere(x).clone();
        registers.push_back(o.call(x, y, s.p, s.q));
        continue;
      }
      const size_t last = std::min(end, i + 2 + s.q % 4);
      if (last == i + 1) break;
      const bool is_grad = s.operation == higher(kGrad);
      registers.push_back(is_grad ? gradient(i + 1, last, registers, a, x, inner)
                                  : map(i + 1, last, registers, a, x, s));
      i = last - 1;
    }
    return registers;
  }

 private:
  Tensor gradient(size_t begin, size_t end, Tensors registers, size_t a, const Tensor& x,
                  bool inner) const {
    const Tensor own = map_everywhere(x).mul(1);
    if (!own.requires_grad()) own.requires_grad_();
    registers[a] = own.mul(1);
    const Tensor value = steps(begin, end, registers, inner).back().sin().sum();
    if (!value.requires_grad()) return zeros_like(own);
    const Tensor g = autograd::grad({value}, {own}, {}, {}, true, true)[0];
    return g.defined() ? g.tanh() : zeros_like(own);
  }

  Tensor map(size_t begin, size_t end, const Tensors& registers, size_t a, const Tensor& x,
             const Step& s) const {
    if (x.dim() == 0) return x;
    const int64_t in = s.p % x.dim(), out = s.p % 2 ? -1 : 0;
    const auto one = [&](const Tensor& sample) {
      Tensors inside = registers;
      inside[a] = sample;
      return steps(begin, end, std::move(inside), true).back();
    };
    // A map may give memory that others see, as any operation; a loop never does.
    if (at_once_) return func::vmap(one, {.in_dims = {in}, .out_dims = {out}})(x).clone();
    Tensors parts;
    for (int64_t i = 0; i < x.size(in); ++i) parts.push_back(one(x.select(in, i)));
    return stack(parts, out);
  }

  const Program& program_;
  bool at_once_;
};

}  // namespace

uint32_t higher(uint32_t kind) { return static_cast<uint32_t>(operations().size()) + kind; }

Program generate(uint64_t seed) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15ull + 7);
  const auto number = [&] { return static_cast<uint32_t>(random() >> 44); };
  Program out;
  for (uint64_t n = 3 + random() % 8; n > 0; --n) {
    const uint32_t kind =
        random() % 6 == 0 ? higher(random() % 2 ? kGrad : kMap) : number() % operations().size();
    out.push_back({kind, number(), number(), number(), number()});
  }
  return out;
}

std::string to_text(const Program& program) {
  std::ostringstream out;
  for (const Step& s : program)
    out << "  "
        << (s.operation < operations().size() ? operations()[s.operation].name
            : s.operation == higher(kGrad)    ? "GRAD"
                                              : "MAP")
        << " a " << s.a << " b " << s.b << " p " << s.p << " q " << s.q << "\n";
  return out.str();
}

Inputs inputs_of(uint64_t seed) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15ull + 3);
  const std::vector<DimVector> shapes = {{}, {3}, {2, 3}, {1, 2}, {2, 1, 3}, {2, 2}, {1}};
  Inputs out;
  out.samples = 2 + static_cast<int64_t>(random() % 2);
  for (size_t k = 0; k < kInputs; ++k) {
    DimVector sizes = shapes[random() % shapes.size()];
    out.dims.emplace_back();
    if (k == 0 || random() % 3) {
      out.dims[k] = static_cast<int64_t>(random() % (sizes.size() + 1));
      sizes.insert(static_cast<size_t>(*out.dims[k]), out.samples);
    }
    const double at = static_cast<double>(random() % 1000);
    out.tensors.push_back(arange(product(sizes), TensorOptions(kDouble))
                              .mul(1.37)
                              .add(at)
                              .sin()
                              .mul(1.3)
                              .reshape(sizes));
  }
  return out;
}

Tensors run(const Program& program, const Inputs& inputs, bool at_once) {
  const Runner runner(program, at_once);
  Tensors leaves;
  for (const Tensor& t : inputs.tensors) leaves.push_back(t.clone().requires_grad_());
  const auto one = [&](const Tensors& samples) {
    Tensors registers;
    for (const Tensor& t : samples) registers.push_back(t.mul(1));
    registers = runner.steps(0, program.size(), std::move(registers), false);
    registers.erase(registers.begin(), registers.end() - kResults);
    return registers;
  };
  Tensors results;
  if (at_once) {
    const auto mapped = [&](const Tensors& samples) {
      func::MapResults made{one(samples), {}};
      made.dims = {0, -1, 0};
      return made;
    };
    results = func::map_samples(mapped, leaves, inputs.dims, Randomness::Error, {}, "program");
  } else {
    std::vector<Tensors> parts(kResults);
    for (int64_t i = 0; i < inputs.samples; ++i) {
      Tensors samples;
      for (size_t k = 0; k < kInputs; ++k)
        samples.push_back(inputs.dims[k] ? leaves[k].select(*inputs.dims[k], i) : leaves[k]);
      const Tensors made = one(samples);
      for (size_t k = 0; k < kResults; ++k) parts[k].push_back(made[k]);
    }
    for (size_t k = 0; k < kResults; ++k) results.push_back(stack(parts[k], k == 1 ? -1 : 0));
  }
  Tensors outputs, weights;
  for (const Tensor& r : results)
    if (r.requires_grad()) {
      outputs.push_back(r);
      weights.push_back(linspace(0.5, 1.5, r.numel(), TensorOptions(r.dtype())).reshape(r.sizes()));
    }
  if (!outputs.empty())
    for (const Tensor& g : autograd::grad(outputs, leaves, weights, {}, false, true))
      results.push_back(g.defined() ? g : zeros_like(leaves[results.size() - kResults]));
  return results;
}

}  // namespace taeda::map_programs
