// Random programs of views and in-place changes: lists of instructions whose operands are numbers
// taken modulo what there is, so that every part of a program is a program. That makes it easy to
// find the shortest one that fails.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace taeda::programs {

enum class Mode : uint8_t { Grad, NoGrad, Inference };

enum class Op : uint8_t {
  // new tensors
  Leaf,      ///< p: shape; q: bit 0 complex, bit 1 plain (needs no gradient)
  Scaled,    ///< a * constant: a result with a history
  Product,   ///< a * b, or a * a where no b fits: saves its operands
  Exp,       ///< exp(a): saves its result
  Detach,    ///< a.detach()
  /// a.view(dtype): complex numbers as real ones or the other way round, without a history
  Reinterpret,
  Function,  ///< a user-defined function that returns its input and triples the gradient
  // views; p and q choose dimensions and indices
  Flatten,
  Transpose,
  Permute,
  Select,
  Slice,
  Narrow,
  Squeeze,
  Unsqueeze,
  Expand,
  Diagonal,
  Unfold,
  AsStrided,
  Chunk,
  Unbind,
  ViewAsReal,
  ViewAsComplex,
  Real,
  Imag,
  // changes in place
  ScaleInplace,
  AddNumberInplace,
  MulInplace,
  AddInplace,
  CopyInplace,
  ZeroInplace,
  ExpInplace,
  SubInplace,
  // what the loss is made of
  UseLinear,
  UseSquare,
  kCount,
};

struct Instruction {
  Op op;
  Mode mode;
  uint32_t a, b, p, q;
};

using Program = std::vector<Instruction>;

/// The program of a seed: 4 to 24 instructions after two leaves.
Program generate(uint64_t seed);

/// What went wrong when the program ran; empty if nothing. `python`, if given, gets the same
/// program for PyTorch, with what it shall come to.
std::string run(const Program& program, std::string* python = nullptr);

/// The shortest part of a failing program, by leaving out, that still fails.
Program shrink(Program program);

std::string to_text(const Program& program);

}  // namespace taeda::programs
