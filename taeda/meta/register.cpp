// Meta's kernels: for every slot that the CPU fills, a function that touches nothing. Operations
// have found shapes, dtypes and strides, and have allocated their results, before they call a slot;
// what is left to do concerns data, and there is none.
#include "taeda/kernels/all.h"
#include "taeda/kernels/registration.h"

namespace taeda::inline v0_2 {

namespace {

/// Whether an argument is an answer to the caller.
template <class T>
constexpr bool kAnswers = (std::is_pointer_v<T> && !std::same_as<T, const char*>) ||
                          (std::is_lvalue_reference_v<T> &&
                           !std::is_const_v<std::remove_reference_t<T>>);

template <auto* slot, class Signature>
struct Nothing;
template <auto* slot, class... Args>
struct Nothing<slot, void(Args...)> {
  static void run(Args... args) {
    // What a kernel tells its caller - how much room a network takes - follows from shapes.
    if constexpr ((kAnswers<Args> || ...)) slot->get(kCPU)(static_cast<Args>(args)...);
  }
};

}  // namespace

void register_meta_kernels() {
  for_each_slot([]<auto * slot>() {
    using Signature = typename std::remove_pointer_t<decltype(slot)>::Signature;
    if (slot->get(kCPU)) slot->set(kMeta, Nothing<slot, Signature>::run);
  });
  set_converts_operands(kMeta);  // as the CPU's kernels do
}

}  // namespace taeda::inline v0_2
