#include "taeda/tensor/wrapper.h"

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

namespace {

constexpr uintptr_t kOwned = 1;

std::atomic<WrapperHook> hook{nullptr};

std::atomic<uintptr_t>& word_of(const Tensor& t) {
  if (!t.defined()) detail::throw_undefined_tensor();
  return t.unsafe_impl()->wrapper;
}

void* address(uintptr_t word) { return reinterpret_cast<void*>(word & ~kOwned); }

}  // namespace

void TensorImpl::drop_wrapper() noexcept {
  hook.load(std::memory_order_acquire)(address(wrapper.load(std::memory_order_acquire)));
}

void set_wrapper_hook(WrapperHook h) {
  WrapperHook none = nullptr;
  TAEDA_CHECK(hook.compare_exchange_strong(none, h) || none == h,
              "set_wrapper_hook: another language's binding is loaded in this process");
}

void* wrapper_of(const Tensor& t) { return address(word_of(t).load(std::memory_order_acquire)); }

void* offer_wrapper(const Tensor& t, void* wrapper) {
  const auto word = reinterpret_cast<uintptr_t>(wrapper);
  TAEDA_CHECK(word != 0 && (word & kOwned) == 0,
              "offer_wrapper expects an even address that is not null, got ", wrapper);
  uintptr_t none = 0;
  word_of(t).compare_exchange_strong(none, word, std::memory_order_acq_rel);
  return none == 0 ? wrapper : address(none);
}

void set_owns_wrapper(const Tensor& t, bool owns) {
  TAEDA_CHECK(wrapper_of(t), "set_owns_wrapper: the tensor has no wrapper");
  TAEDA_CHECK(!owns || hook.load(), "set_owns_wrapper: there is no hook to end wrappers");
  if (owns)
    word_of(t).fetch_or(kOwned, std::memory_order_acq_rel);
  else
    word_of(t).fetch_and(~kOwned, std::memory_order_acq_rel);
}

bool owns_wrapper(const Tensor& t) { return word_of(t).load(std::memory_order_acquire) & kOwned; }

void clear_wrapper(const Tensor& t) { word_of(t).store(0, std::memory_order_release); }

}  // namespace taeda
