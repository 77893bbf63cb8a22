// Reference counting inside the object: one pointer wide, no control block.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace taeda::inline v0_2 {

/// Base of reference-counted objects. The count starts at zero; IntrusivePtr takes the first one.
///
/// Note [Weak promotion]
/// Who points at an object without owning it may take a reference only while somebody else has one:
/// `retain_if_alive` claims it by compare-and-swap. The quick path of `release`, on which a sole
/// owner does not change the count, would let it claim an object that is about to be destroyed. So
/// an object that can be promoted carries a flag beside its count, which keeps it off that path:
/// its count reaches zero in one atomic step, and after that nobody gets a reference. Other objects
/// pay nothing.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void retain() const noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  /// The same for an object that only its maker knows: without a read-modify-write, unless its
  /// constructor gave references away.
  void retain_new() const noexcept {
    if (refs_.load(std::memory_order_relaxed) == 0) [[likely]]
      refs_.store(1, std::memory_order_relaxed);
    else
      retain();
  }
  /// True when the caller dropped the last reference and must destroy the object.
  bool release() const noexcept {
    // A sole owner needs no read-modify-write: nobody else can copy the reference.
    if (refs_.load(std::memory_order_acquire) == 1) return true;
    return (refs_.fetch_sub(1, std::memory_order_acq_rel) & ~kPromotable) == 1;
  }
  /// Lets `retain_if_alive` be called from now on. The caller has a reference.
  void allow_promotion() const noexcept { refs_.fetch_or(kPromotable, std::memory_order_relaxed); }
  /// Takes a reference unless the last one is gone. The caller keeps the object's memory from being
  /// freed meanwhile: its destructor waits for a lock that the caller holds, say.
  bool retain_if_alive() const noexcept {
    uint32_t n = refs_.load(std::memory_order_relaxed);
    while ((n & ~kPromotable) != 0)
      if (refs_.compare_exchange_weak(n, n + 1, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return true;
    return false;
  }
  /// What others did before they dropped their references has happened when it is 1.
  uint32_t use_count() const noexcept {
    return refs_.load(std::memory_order_acquire) & ~kPromotable;
  }

 protected:
  ~RefCounted() = default;

 private:
  static constexpr uint32_t kPromotable = uint32_t{1} << 31;
  mutable std::atomic<uint32_t> refs_{0};
};

/// Owning pointer to a RefCounted object. `destroy(T*)`, found by argument-dependent lookup, ends
/// the object's life; the default below is `delete`.
template <class T>
class IntrusivePtr {
 public:
  IntrusivePtr() = default;
  IntrusivePtr(std::nullptr_t) {}
  explicit IntrusivePtr(T* p) : p_(p) {
    if (p_) p_->retain();
  }
  IntrusivePtr(const IntrusivePtr& o) : IntrusivePtr(o.p_) {}
  IntrusivePtr(IntrusivePtr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <class U>
  IntrusivePtr(IntrusivePtr<U> o) : p_(o.detach()) {}
  ~IntrusivePtr() { reset(); }
  IntrusivePtr& operator=(IntrusivePtr o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }

  void reset() {
    T* old = std::exchange(p_, nullptr);
    if (old && old->release()) destroy(old);
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  friend bool operator==(const IntrusivePtr& a, const IntrusivePtr& b) { return a.p_ == b.p_; }

  /// Gives the reference away without dropping it.
  T* detach() { return std::exchange(p_, nullptr); }
  /// Takes over a reference that was counted already.
  static IntrusivePtr adopt(T* p) {
    IntrusivePtr out;
    out.p_ = p;
    return out;
  }
  /// The first reference to an object that was just made.
  static IntrusivePtr take_new(T* p) {
    p->retain_new();
    return adopt(p);
  }

 private:
  T* p_ = nullptr;
};

/// What the last owner calls; classes that are not made by `new` have an overload.
template <class T>
void destroy(T* p) {
  delete p;
}

/// A counted object with one owner.
template <class T, class... Args>
IntrusivePtr<T> make_intrusive(Args&&... args) {
  return IntrusivePtr<T>::take_new(new T(std::forward<Args>(args)...));
}

}  // namespace taeda
