// The rules of views and in-place changes without a view or an in-place change: the reference that
// programs are compared with.
//
// Every tensor that is no view has an expression for the whole memory behind it, as a list of real
// numbers, made of out-of-place operations alone. A view is a list of positions in it. A recorded
// change makes a new expression; a change that is not recorded gives the expression new values and
// leaves its gradient as it was.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::programs {

struct Memory;

/// A tensor that is no view.
struct Base {
  std::shared_ptr<Memory> memory;
  Tensor expression;  ///< of all of the memory's numbers
  bool requires_grad = false;
  bool leaf = true;
};

/// Memory that several bases may show (detach), and how often it was changed.
struct Memory {
  std::vector<std::weak_ptr<Base>> bases;
  int version = 0;
};

/// What an operation kept for its backward, and when.
struct Kept {
  std::shared_ptr<Memory> memory;
  int version;
};

/// A tensor of the program, as the rules see it.
struct Var {
  std::shared_ptr<Base> base;
  Tensor
      positions;  ///< of its numbers in the memory, int64; a complex one has a last dimension of 2
  bool complex = false;
  bool view = false;
  ViewKind kind = ViewKind::None;
  /// A view that was made without gradients, where they end, or a view of one.
  bool is_end = false;
  bool has_node = false;  ///< made by an operation that was recorded
  int version = 0;        ///< of the memory when its history was made
  /// The value of a user-defined function's view, while it is up to date.
  Tensor own;

  bool requires_grad() const { return base->requires_grad || own.defined(); }
};

/// A new tensor of zeros, laid out as `shown`, the tensor that Taeda made.
Var fresh(const Tensor& shown, bool requires_grad, bool leaf);
void set_value(Var& v, const Tensor& value);
/// A view of `of` with the positions that `shown`, the tensor that Taeda made, has in its memory.
Var view_of(const Var& of, const Tensor& shown, ViewKind made);
/// `shown`, which shares the memory of `of` without its history.
Var detached(const Var& of, const Tensor& shown);

/// Why `v` cannot be used in grad mode: a part of the error; empty if it can.
std::string stale(const Var& v);
/// Why `v` cannot be changed in place; `recorded`: a gradient is wanted.
std::string unchangeable(const Var& v, bool recorded);

/// The value, differentiable.
Tensor read(const Var& v);
/// The value changes; `recorded` says whether the history does.
void write(Var& v, const Tensor& value, bool recorded);

/// `value`, an operand whose gradient takes what the operation kept. `ran` gets that when the
/// gradient is computed.
Tensor watch(const Tensor& value, std::vector<Kept> kept, std::vector<Kept>* ran);

}  // namespace taeda::programs
