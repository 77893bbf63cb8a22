#include "taeda/device/storage.h"

#include <algorithm>
#include <new>
#include <string>
#include <string_view>

#include "taeda/base/called_function.h"
#include "taeda/base/device_types.h"
#include "taeda/base/error.h"
#include "taeda/device/allocator.h"
#include "taeda/device/content.h"
#include "taeda/device/host_copies.h"
#include "taeda/device/host_graph.h"
#include "taeda/device/transfer.h"

namespace taeda::inline v0_2 {

namespace {

constexpr size_t kHeader = 64;  // the inline data starts on the next cache line
static_assert(sizeof(StorageImpl) <= kHeader);

size_t block_bytes(Device device, size_t nbytes) {
  return device.is_cpu() && nbytes <= StorageImpl::kInlineBytes ? kHeader + nbytes : kHeader;
}

/// "CPU", "CUDA", ...
std::string_view title_of(DeviceType type) {
  const DeviceTypeInfo& info = device_type_info(type);
  return info.title ? info.title : info.name;
}

}  // namespace

StorageImpl::~StorageImpl() { delete copies_.load(std::memory_order_acquire); }

void StorageImpl::finish_copies() const { finish_copies(false); }

void StorageImpl::finish_copies(bool for_work) const {
  detail::HostCopies& copies = *copies_.load(std::memory_order_acquire);
  if (copies.content) throw_without_memory();
  if (copies.captured) copies.captured->ask(*this, for_work);
  copies.finish();
}

void StorageImpl::throw_without_memory() const {
  if (const auto* own = dynamic_cast<const OwnedContent*>(content())) own->refuse();
  std::string asked = detail::called_function();
  if (asked.starts_with("StorageImpl::")) asked = "data_ptr";  // inline, so not on the stack
  throw NotImplementedError(detail::concat(
      "Could not run '", asked, "' with arguments from the 'Sparse", title_of(device_.type()),
      "' backend: it takes dense tensors only, such as to_dense() gives"));
}

void StorageImpl::order_copy(const Stream& stream, bool writes_host) const {
  if (detail::HostCopies* copies = copies_.load(std::memory_order_acquire))
    copies->order(stream, writes_host);
}

detail::HostCopies& StorageImpl::copies() {
  if (detail::HostCopies* have = copies_.load(std::memory_order_acquire)) return *have;
  auto* made = new detail::HostCopies;
  detail::HostCopies* first = nullptr;
  if (copies_.compare_exchange_strong(first, made)) return *made;
  delete made;  // another thread was faster
  return *first;
}

void StorageImpl::add_copy(const Stream& stream, bool writes_host) {
  copies().add(stream, writes_host);
}

StorageContent* StorageImpl::content() const {
  const detail::HostCopies* copies = copies_.load(std::memory_order_acquire);
  return copies ? copies->content.get() : nullptr;
}

void StorageImpl::use_after(const Stream& stream) { copies().use_after(stream); }

Storage Storage::allocate(Device device, size_t nbytes) {
  detail::HostGraph* const recording = device.is_cpu() ? detail::host_recording() : nullptr;
  const size_t bytes = recording ? kHeader : block_bytes(device, nbytes);
  if (device.is_cpu() && nbytes <= StorageImpl::kInlineBytes && !recording) {
    void* block = cached_block_allocate(bytes);
    auto* s = new (block) StorageImpl(device, nbytes);
    s->data_ = static_cast<char*>(block) + kHeader;
    s->inline_bytes_ = static_cast<uint16_t>(nbytes);
    return Storage(IntrusivePtr<StorageImpl>::take_new(s));
  }
  void* block = cached_block_allocate(bytes);
  void* data = nullptr;
  try {
    if (nbytes > 0 && !device.is_meta()) data = allocator::allocate(device, nbytes);
  } catch (...) {
    cached_block_free(block, bytes);
    throw;
  }
  auto* s = new (block) StorageImpl(device, nbytes);
  s->data_ = data;
  s->owner_ = StorageImpl::Owner::Allocator;
  if (recording) [[unlikely]]
    s->copies().captured = std::make_unique<detail::CapturedMemory>(recording);
  return Storage(IntrusivePtr<StorageImpl>::take_new(s));
}

Storage Storage::allocate_pinned(DeviceType type, size_t nbytes) {
  void* data = allocator::allocate_pinned(type, nbytes == 0 ? 1 : nbytes);
  auto* s = new (cached_block_allocate(kHeader)) StorageImpl(Device(type), nbytes);
  s->device_ = Device(kCPU);
  s->data_ = data;
  s->owner_ = StorageImpl::Owner::Pinned;
  s->pinned_ = true;
  s->deleter_ =
      new std::function<void(void*)>([type](void* p) { allocator::deallocate_pinned(type, p); });
  return Storage(IntrusivePtr<StorageImpl>::take_new(s));
}

Storage Storage::from_user(void* data, size_t nbytes, Device device,
                           std::function<void(void*)> deleter) {
  auto* s = new (cached_block_allocate(kHeader)) StorageImpl(device, nbytes);
  s->data_ = data;
  s->owner_ = StorageImpl::Owner::User;
  if (deleter) s->deleter_ = new std::function<void(void*)>(std::move(deleter));
  return Storage(IntrusivePtr<StorageImpl>::take_new(s));
}

Storage Storage::without_memory(Device device, std::unique_ptr<StorageContent> content) {
  auto* s = new (cached_block_allocate(kHeader)) StorageImpl(device, 0);
  const Storage out(IntrusivePtr<StorageImpl>::take_new(s));
  s->copies().content = std::move(content);
  return out;
}

void Storage::resize(size_t nbytes) const {
  StorageImpl& s = *impl_;
  if (s.content()) s.throw_without_memory();
  TAEDA_CHECK(s.resizable(), "Trying to resize storage that is not resizable");
  const detail::HostCopies* copies = s.copies_.load(std::memory_order_acquire);
  TAEDA_CHECK(!copies || !copies->captured, "Trying to resize storage that a graph has captured");
  if (nbytes == s.nbytes_) return;
  const Device device = s.device_;
  void* fresh = nbytes > 0 && !device.is_meta() ? allocator::allocate(device, nbytes) : nullptr;
  const size_t kept = fresh ? std::min(nbytes, s.nbytes_) : 0;
  const void* old = s.data();  // waits for copies
  if (kept > 0) transfer(fresh, device, old, device, kept);
  s.free_memory();
  s.data_ = fresh, s.nbytes_ = nbytes;
  s.owner_ = StorageImpl::Owner::Allocator, s.pinned_ = false;
}

void StorageImpl::free_memory() {
  if (owner_ == Owner::Allocator && data_) allocator::deallocate(device_, data_);
  if (!deleter_) return;
  (*deleter_)(data_);
  delete deleter_;
  deleter_ = nullptr;
}

void destroy(StorageImpl* s) {
  const size_t bytes = kHeader + s->inline_bytes_;
  s->free_memory();
  s->~StorageImpl();
  cached_block_free(s, bytes);
}

}  // namespace taeda::inline v0_2
