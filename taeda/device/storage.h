// Reference-counted memory of one device, with the version that autograd checks.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "taeda/base/block_cache.h"
#include "taeda/base/device.h"
#include "taeda/base/intrusive_ptr.h"

namespace taeda::inline v0_2 {

class Stream;
namespace detail {
class HostCopies;
}

/// What a storage has in the place of memory: Note [Storages without memory].
struct StorageContent {
  virtual ~StorageContent() = default;
};

/// The memory behind tensors. Host storages of at most kInlineBytes live in the same block as this
/// header; others come from the caching allocator, or belong to the user (from_blob).
class StorageImpl final : public RefCounted {
 public:
  static constexpr size_t kInlineBytes = 512;

  /// Where the bytes are. Waits for non-blocking copies of this memory, or has the current stream
  /// wait: Note [Non-blocking copies] in host_copies.h.
  void* data() const {
    if (copies_.load(std::memory_order_acquire)) [[unlikely]]
      finish_copies();
    return data_;
  }
  /// The same for the arguments of kernels, copies and fills, which a capture of the CPU's work may
  /// keep: Note [Graphs on the CPU] in host_graph.h.
  void* data_for_work() const {
    if (copies_.load(std::memory_order_acquire)) [[unlikely]]
      finish_copies(true);
    return data_;
  }
  /// The same without waiting, for work that is queued behind those copies.
  void* address() const { return data_; }
  /// To be called before and after a non-blocking copy to or from this memory is queued on
  /// `stream`.
  void order_copy(const Stream& stream, bool writes_host) const;
  void add_copy(const Stream& stream, bool writes_host);
  /// For memory of a device that `stream` has queued work on: other streams of the device that use
  /// it from now on wait for that work, though only those that do.
  void use_after(const Stream& stream);
  size_t nbytes() const { return nbytes_; }
  Device device() const { return device_; }
  bool is_pinned() const { return pinned_; }
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }
  bool resizable() const { return owner_ != Owner::User && loans_ == 0; }
  /// Between both, others know the address and would not follow: an array of NumPy, a DLPack.
  void begin_loan() { loans_.fetch_add(1, std::memory_order_relaxed); }
  void end_loan() { loans_.fetch_sub(1, std::memory_order_relaxed); }
  /// What it has in the place of memory, or nullptr.
  StorageContent* content() const;
  /// What `data` does then.
  [[noreturn]] void throw_without_memory() const;

 private:
  friend class Storage;
  friend void destroy(StorageImpl* s);
  enum class Owner : uint8_t { Inline, Allocator, Pinned, User };
  StorageImpl(Device device, size_t nbytes) : nbytes_(nbytes), device_(device) {}
  ~StorageImpl();
  void finish_copies() const;
  void finish_copies(bool for_work) const;
  detail::HostCopies& copies();
  void free_memory();

  uint16_t inline_bytes_ = 0;  ///< behind the header, in the same block
  void* data_ = nullptr;
  size_t nbytes_;
  std::atomic<uint32_t> version_{0};
  Device device_;
  Owner owner_ = Owner::Inline;
  bool pinned_ = false;
  std::function<void(void*)>* deleter_ = nullptr;
  std::atomic<detail::HostCopies*> copies_{nullptr};  ///< made by the first non-blocking copy
  std::atomic<uint32_t> loans_{0};
};

/// Gives the memory back to whom it came from.
void destroy(StorageImpl* s);

/// Handle to shared memory.
/// An empty one, by default, has no memory and 0 bytes; copies share.
class Storage {
 public:
  Storage() = default;
  /// Uninitialised memory on `device` (which must carry an index if it is an accelerator); none on
  /// meta, where `nbytes` is what the elements would take.
  static Storage allocate(Device device, size_t nbytes);
  /// Host memory that accelerator `type` copies without staging.
  static Storage allocate_pinned(DeviceType type, size_t nbytes);
  /// Memory of somebody else; `deleter` (may be empty) is called when the last tensor lets go.
  static Storage from_user(void* data, size_t nbytes, Device device,
                           std::function<void(void*)> deleter);
  /// Of no bytes: `data` throws NotImplementedError, in the name of the operation that asked.
  static Storage without_memory(Device device, std::unique_ptr<StorageContent> content);

  StorageImpl* get() const { return impl_.get(); }
  StorageImpl* operator->() const { return impl_.get(); }
  explicit operator bool() const { return static_cast<bool>(impl_); }
  uint32_t use_count() const { return impl_ ? impl_->use_count() : 0; }
  size_t nbytes() const { return impl_->nbytes(); }
  void* data() const { return impl_->data(); }
  void* data_ptr() const { return impl_->data(); }
  Device device() const { return impl_->device(); }
  DeviceType device_type() const { return impl_->device().type(); }
  bool resizable() const { return impl_->resizable(); }
  /// Gives the storage memory of `nbytes` bytes, which all tensors over it see; the bytes that both
  /// sizes have stay. What a tensor has beyond a smaller one is out of bounds. Throws Error for
  /// memory of somebody else, and for memory that a graph of the CPU's work has captured.
  void resize(size_t nbytes) const;
  bool unique() const { return use_count() == 1; }
  /// Whether both are the same memory.
  bool is_alias_of(const Storage& other) const { return *this == other; }
  friend bool operator==(const Storage&, const Storage&) = default;

 private:
  explicit Storage(IntrusivePtr<StorageImpl> impl) : impl_(std::move(impl)) {}
  IntrusivePtr<StorageImpl> impl_;
};

}  // namespace taeda::inline v0_2
