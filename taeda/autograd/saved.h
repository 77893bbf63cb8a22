// Tensors kept by an operation for its backward, with the checks that keep gradients right.
#pragma once

#include "taeda/autograd/node.h"

namespace taeda::inline v0_2::autograd {

/// What hooks made of a saved tensor (graph.h).
struct Packed : RefCounted {
  virtual ~Packed() = default;
  /// The tensor that was given to the pack hook, as the unpack hook makes it again.
  virtual Tensor unpack() const = 0;
};
/// By this thread's innermost hooks; only where it has some.
IntrusivePtr<Packed> pack(const Tensor& t);

/// A tensor as it was when it was saved. `unpack` throws Error if its memory was changed in place
/// since. Saving an operation's own output makes no reference cycle: only the data is kept, and the
/// history is put back on unpacking. Under hooks (graph.h) what they made of it is kept
/// instead.
class Saved {
 public:
  Saved() = default;
  Saved(const Tensor& t, const char* name, bool is_output, uint32_t output_nr = 0);
  Saved(const Saved& other);
  Saved(Saved&&) noexcept = default;
  Saved& operator=(const Saved&) = default;
  Saved& operator=(Saved&&) noexcept = default;
  ~Saved() = default;

  bool defined() const { return data_.defined() || packed_; }
  Tensor unpack() const;
  operator Tensor() const { return unpack(); }
  /// "self", "result", ...: what the operation calls the tensor; nullptr without a name.
  const char* name() const { return name_; }

 private:
  [[noreturn]] void throw_modified() const;
  Tensor with_history(const Tensor& data) const;

  Tensor data_;
  NodePtr grad_fn_;  // of an input; under hooks a leaf's sink
  IntrusivePtr<Packed> packed_;
  const char* name_ = nullptr;
  uint32_t output_nr_ = 0;
  uint32_t version_ = 0;
  bool is_output_ = false;
  bool wants_grad_ = false;
};

/// Saves an input, under the name of the operation's argument. Undefined tensors may be saved.
Saved save_tensor(const Tensor& t, const char* name = "self");
/// Saves an input that only some gradients read if one of those is wanted. What a node does not
/// keep may change in place, and a node that keeps nothing may be run again.
Saved save_if(bool needed, const Tensor& t, const char* name = "self");
/// Saves the `output_nr`-th output of the operation that is being recorded.
Saved save_output(const Tensor& t, uint32_t output_nr = 0, const char* name = "result");

/// Tensors saved on this thread since the last node took them: tells a node whether it holds any.
int take_saved_count();

/// What copying a closure shows of the tensors that it saved: each is noted while one of these
/// lives on the thread.
class SavedVisitor {
 public:
  SavedVisitor();
  ~SavedVisitor();
  SavedVisitor(const SavedVisitor&) = delete;
  SavedVisitor& operator=(const SavedVisitor&) = delete;
  /// Called by each saved tensor that a node holds.
  void note(const Saved& s) { found_.push_back(&s); }
  const std::vector<const Saved*>& found() const { return found_; }

 private:
  std::vector<const Saved*> found_;
  SavedVisitor* previous_;
};

}  // namespace taeda::inline v0_2::autograd
