#include "tests/autograd/programs/program.h"

#include <random>
#include <sstream>

namespace taeda::programs {

namespace {

constexpr const char* kNames[] = {
    "Leaf",        "Scaled",       "Product",          "Exp",        "Detach",        "Reinterpret",
    "Function",    "Flatten",      "Transpose",        "Permute",    "Select",        "Slice",
    "Narrow",      "Squeeze",      "Unsqueeze",        "Expand",     "Diagonal",      "Unfold",
    "AsStrided",   "Chunk",        "Unbind",           "ViewAsReal", "ViewAsComplex", "Real",
    "Imag",        "ScaleInplace", "AddNumberInplace", "MulInplace", "AddInplace",    "CopyInplace",
    "ZeroInplace", "ExpInplace",   "SubInplace",       "UseLinear",  "UseSquare"};
static_assert(std::size(kNames) == static_cast<size_t>(Op::kCount));
constexpr const char* kModes[] = {"grad", "no_grad", "inference"};

/// Families in the proportions that lead to interesting programs.
Op choose(std::mt19937_64& random) {
  const auto between = [&](Op first, Op last) {
    const auto lo = static_cast<uint64_t>(first), hi = static_cast<uint64_t>(last);
    return static_cast<Op>(lo + random() % (hi - lo + 1));
  };
  switch (random() % 16) {
    case 0: return between(Op::Leaf, Op::Function);
    case 1:
    case 2: return between(Op::Scaled, Op::Function);
    case 3:
    case 4:
    case 5:
    case 6:
    case 7: return between(Op::Flatten, Op::Imag);
    case 8:
    case 9:
    case 10:
    case 11:
    case 12: return between(Op::ScaleInplace, Op::SubInplace);
    default: return between(Op::UseLinear, Op::UseSquare);
  }
}

}  // namespace

Program generate(uint64_t seed) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15ull + 1);
  const auto number = [&] { return static_cast<uint32_t>(random() >> 40); };
  Program out;
  const uint32_t complex = random() % 3 == 0;
  out.push_back({Op::Leaf, Mode::Grad, 0, 0, number(), complex});
  out.push_back({Op::Leaf, Mode::Grad, 0, 0, out[0].p, complex | (random() % 3 == 0 ? 2u : 0u)});
  out.push_back({Op::Scaled, Mode::Grad, 0, 0, number(), number()});
  for (uint64_t n = 4 + random() % 21; n > 0; --n) {
    const uint64_t m = random() % 12;
    const Mode mode = m == 0 ? Mode::Inference : m <= 2 ? Mode::NoGrad : Mode::Grad;
    out.push_back({choose(random), mode, number(), number(), number(), number()});
  }
  return out;
}

Program shrink(Program program) {
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (size_t i = program.size(); i-- > 0;) {
      Program without = program;
      without.erase(without.begin() + static_cast<ptrdiff_t>(i));
      if (without.empty() || run(without).empty()) continue;
      program = std::move(without);
      shorter = true;
    }
  }
  return program;
}

std::string to_text(const Program& program) {
  std::ostringstream out;
  for (const Instruction& i : program)
    out << "  {" << kNames[static_cast<int>(i.op)] << ", " << kModes[static_cast<int>(i.mode)]
        << ", a " << i.a << ", b " << i.b << ", p " << i.p << ", q " << i.q << "}\n";
  return out.str();
}

}  // namespace taeda::programs
