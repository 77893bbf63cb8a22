#include "taeda/device/memory_history.h"

#include <cstdlib>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "taeda/base/tracing_log.h"
#include "taeda/device/caching_allocator.h"

namespace taeda::inline v0_2 {

namespace {

/// An allocation whose operation is not known yet.
struct Waiting {
  detail::CachingAllocator* allocator;
  void* p;
  uint64_t stamp;
};

constexpr size_t kMostWaiting = 64;
constinit thread_local std::vector<Waiting>* waiting = nullptr;
constinit thread_local bool thread_ends = false;

std::vector<Waiting>& waiting_list() {
  static thread_local struct Owner {
    ~Owner() {
      delete std::exchange(waiting, nullptr);
      thread_ends = true;
    }
  } owner;
  (void)owner;
  if (!waiting) waiting = new std::vector<Waiting>;
  return *waiting;
}

/// The results that an operation has allocated before it called its kernel are its own.
void name_waiting(const char* operation) {
  if (!waiting || waiting->empty()) return;
  const std::string* name = detail::intern(operation);
  for (const Waiting& w : *waiting) w.allocator->set_operation(w.p, w.stamp, name);
  waiting->clear();
}

/// The innermost running operation or node of backward, or nullptr.
const char* running_operation() {
  for (const tracing::Span* s = tracing::innermost(); s; s = s->outer())
    if (s->kind() == tracing::Kind::Operation || s->kind() == tracing::Kind::Backward)
      return s->name();
  return nullptr;
}

}  // namespace

const std::string* detail::intern(std::string text) {
  static std::mutex mutex;
  static auto* texts = new std::unordered_set<std::string>;
  std::lock_guard lock(mutex);
  return &*texts->insert(std::move(text)).first;
}

const std::string* detail::current_module_path() {
  std::string path = tracing::module_path();
  return path.empty() ? nullptr : intern(std::move(path));
}

void detail::note_allocation(CachingAllocator& allocator, void* p, uint64_t stamp) {
  if (const char* name = running_operation()) {
    allocator.set_operation(p, stamp, intern(name));
    return;
  }
  if (thread_ends) return;
  std::vector<Waiting>& list = waiting_list();
  if (list.size() == kMostWaiting) list.erase(list.begin());
  list.push_back({&allocator, p, stamp});
}

void memory::record_history(bool on) {
  const auto listener = on ? name_waiting : nullptr;
  const auto before = tracing::operation_listener.exchange(listener, std::memory_order_acq_rel);
  if (before != listener) tracing::want_scopes(on);
}

bool memory::records_history() {
  return tracing::operation_listener.load(std::memory_order_acquire) != nullptr;
}

void detail::start_history_from_environment() {
  static const bool asked = [] {
    const char* text = std::getenv("TAEDA_MEMORY_HISTORY");
    return text && *text && *text != '0';
  }();
  static std::once_flag once;
  std::call_once(once, [] {
    if (asked) memory::record_history();
  });
}

}  // namespace taeda
