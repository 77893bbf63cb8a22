// Tensors kept by an operation for its backward, with the checks that keep gradients right.
#pragma once

#include "taeda/autograd/node.h"

namespace taeda::autograd {

/// A tensor as it was when it was saved. `unpack` throws Error if its memory was changed in place
/// since. Saving an operation's own output makes no reference cycle: only the data is kept, and the
/// history is put back on unpacking.
class Saved {
 public:
  Saved() = default;
  Saved(const Tensor& t, bool is_output, uint32_t output_nr = 0);
  bool defined() const { return data_.defined(); }
  Tensor unpack() const;
  operator Tensor() const { return unpack(); }

 private:
  [[noreturn]] void throw_modified() const;

  Tensor data_;
  NodePtr grad_fn_;
  uint32_t output_nr_ = 0;
  uint32_t version_ = 0;
  bool is_output_ = false;
  bool wants_grad_ = false;
};

/// Saves an input. Undefined tensors may be saved.
Saved save(const Tensor& t);
/// Saves an input that only some gradients read if one of those is wanted. What a node does not
/// keep may change in place, and a node that keeps nothing may be run again.
Saved save_if(bool needed, const Tensor& t);
/// Saves the `output_nr`-th output of the operation that is being recorded.
Saved save_output(const Tensor& t, uint32_t output_nr = 0);

/// Tensors saved on this thread since the last node took them: tells a node whether it holds any.
int take_saved_count();

}  // namespace taeda::autograd
