#include "taeda/device/host_copies.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

namespace {

std::atomic<bool>& strict() {
  static std::atomic<bool> on = [] {
    const char* text = std::getenv("TAEDA_STRICT_COPIES");
    return text && *text && *text != '0';
  }();
  return on;
}

}  // namespace

void set_strict_copies(bool on) { strict() = on; }
bool strict_copies() { return strict(); }

namespace detail {

void HostCopies::order(const Stream& stream, bool writes_host) {
  if (!pending_.load(std::memory_order_acquire)) return;
  std::lock_guard lock(mutex_);
  for (const Place& p : places_)
    if (!(p.stream == stream) && (writes_host || p.writes_host)) stream.wait_event(p.event);
}

void HostCopies::add(const Stream& stream, bool writes_host) {
  std::lock_guard lock(mutex_);
  Place* place = nullptr;
  for (Place& p : places_)
    if (p.stream == stream && p.writes_host == writes_host) place = &p;
  if (!place) place = &places_.emplace_back(Place{stream, Event(), writes_host});
  place->event.record(stream);
  pending_.store(true, std::memory_order_release);
}

void HostCopies::use_after(const Stream& stream) {
  std::lock_guard lock(mutex_);
  const auto at = std::ranges::find(uses_, stream, &Use::stream);
  Use& use = at != uses_.end() ? *at : uses_.emplace_back(Use{stream, Event(), {}});
  use.event.record(stream);
  use.joined.assign(1, stream);
  used_.store(true, std::memory_order_release);
}

void HostCopies::join_streams() {
  std::lock_guard lock(mutex_);
  for (Use& use : uses_) {
    const Stream here = current_stream(use.stream.device());
    if (std::ranges::find(use.joined, here) != use.joined.end()) continue;
    here.wait_event(use.event);
    use.joined.push_back(here);
  }
}

void HostCopies::finish() {
  if (used_.load(std::memory_order_acquire)) join_streams();
  if (!pending_.load(std::memory_order_acquire)) return;
  std::lock_guard lock(mutex_);
  if (!pending_.load(std::memory_order_relaxed)) return;
  for (const Place& p : places_) {
    TAEDA_CHECK(!strict_copies() || p.event.query(),
                "the host asked for memory that a non-blocking copy on ", p.stream.device(),
                ", stream ", p.stream.id(), ", still ", p.writes_host ? "writes" : "reads",
                ": synchronize the stream first, or turn strict copies off to wait here");
    p.event.synchronize();
  }
  pending_.store(false, std::memory_order_release);
}

}  // namespace detail
}  // namespace taeda
