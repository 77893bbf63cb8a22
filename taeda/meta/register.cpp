// Meta's kernels: for every slot that the CPU fills, a function that touches nothing. Operations
// have found shapes, dtypes and strides, and have allocated their results, before they call a slot;
// what is left to do concerns data, and there is none.
#include <concepts>
#include <type_traits>

#include "taeda/kernels/all.h"
#include "taeda/kernels/registration.h"

namespace taeda::inline v0_2 {

namespace {

/// Whether an argument is an answer to the caller.
template <class T>
constexpr bool kAnswers = (std::is_pointer_v<T> && !std::same_as<T, const char*>) ||
                          (std::is_lvalue_reference_v<T> &&
                           !std::is_const_v<std::remove_reference_t<T>>);

/// One function for all slots that take the same arguments.
template <class... Args>
void do_nothing(Args...) {}

template <auto* slot, class... Args>
constexpr auto kernel_of(std::type_identity<void(Args...)>) -> void (*)(Args...) {
  // What a kernel tells its caller - how much room a network takes - follows from shapes.
  if constexpr ((kAnswers<Args> || ...))
    return [](Args... args) { slot->get(kCPU)(static_cast<Args>(args)...); };
  else
    return &do_nothing<Args...>;
}

}  // namespace

void register_meta_kernels() {
  for_each_slot([]<auto * slot>() {
    using Signature = typename std::remove_pointer_t<decltype(slot)>::Signature;
    if (slot->get(kCPU)) slot->set(kMeta, kernel_of<slot>(std::type_identity<Signature>()));
  });
  set_converts_operands(kMeta);  // as the CPU's kernels do
}

}  // namespace taeda::inline v0_2
