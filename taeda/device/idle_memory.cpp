// Note [Idle programs]
// The host's cache keeps what recent steps had in use at once (high_water.h), and no more than its
// limit (memory_limit.h). What is kept too much goes back oldest first: whole segments are
// unmapped; of free blocks in segments that are partly in use the pages are dropped and the
// addresses stay.
//
// The mark falls with time, and time is looked at in two places. Every 256th call that frees a
// block looks at the clock; that is all while a program works. A program that has stopped calling
// (a notebook whose user reads, a server at night) can only be helped by somebody else. Marking
// blocks as reclaimable when they are freed (MADV_FREE) would need no one, but costs a walk over
// the pages of every large block that is freed in every step, and memory would leave only under
// pressure: a container would still be charged for it. So there is a thread, but only while it has
// something to do: a program gets it with the first 64 MiB of cached memory, it wakes up every 30
// seconds, and it ends when less than that is left. A child of fork() starts its own.
#include "taeda/device/idle_memory.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "taeda/base/signals.h"
#include "taeda/device/caching_allocator.h"

namespace taeda::inline v0_2::detail {

namespace {

constexpr size_t kWorthTrimming = size_t{64} << 20;
/// Smaller free blocks of segments that are in use stay as they are.
constexpr size_t kWorthDiscarding = size_t{64} << 10;
constexpr size_t kThreadStack = size_t{256} << 10;

/// The one allocator of the host, for the handlers of fork().
CachingAllocator* host = nullptr;

void sleep_a_period() { std::this_thread::sleep_for(HighWater::kPeriod); }

void* trimming_thread(void* allocator) {
  keep_trimming(*static_cast<CachingAllocator*>(allocator), &sleep_a_period);
  return nullptr;
}

/// The thread's code must stay where it is, even if the library is unloaded.
void stay_loaded() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&stay_loaded), &info) && info.dli_fname)
    dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

bool start_thread(CachingAllocator& allocator) {
  stay_loaded();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kThreadStack);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const auto start = [&] {
    const WithoutSignals none;
    return pthread_create(&thread, &attributes, &trimming_thread, &allocator) == 0;
  };
  const bool started = start();
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace

void trim_while_idle(CachingAllocator& allocator) {
  host = &allocator;
  allocator.set_keeper(&start_thread);
  pthread_atfork([] { host->before_fork(); }, [] { host->after_fork(false); },
                 [] { host->after_fork(true); });
}

void keep_trimming(CachingAllocator& allocator, void (*wait)()) {
  do wait();
  while (allocator.trim(allocator.now()));
}

void CachingAllocator::set_keeper(bool (*start)(CachingAllocator&)) {
  Lock lock(mutex_);
  keeper_ = start;
}

bool CachingAllocator::trim(Time now) {
  Lock lock(mutex_);
  try {
    end_periods(now, lock);
  } catch (const std::bad_alloc&) {
    // As in deallocate: there is a next time.
  }
  return keeper_runs_ = cached() >= kWorthTrimming;
}

/// After the host's allocator has taken a block back.
void CachingAllocator::watch_idleness(Lock& lock) {
  if (++frees_ % 256 == 0) end_periods(clock_(), lock);
  if (keeper_ && !keeper_runs_ && cached() >= kWorthTrimming) {
    keeper_runs_ = keeper_(*this);
    if (!keeper_runs_) keeper_ = nullptr;  // no thread can be had: calls have to do
  }
}

/// Trims the cache when a period is over. A quarter more than the mark may stay, because blocks do
/// not fill segments, and whatever was used in that period: however badly its blocks fit, a program
/// whose steps repeat finds everything where it was.
void CachingAllocator::end_periods(Time now, Lock& lock) {
  const auto live = static_cast<size_t>(live_bytes_.current());
  const int64_t periods = high_water_.advance(now, live);
  if (periods == 0) return;
  const uint64_t before = std::exchange(period_stamp_, stamps_);
  const uint64_t newest = periods == 1 ? before : stamps_;
  const size_t wanted = high_water_.mark() + high_water_.mark() / 4;
  const size_t keep = wanted > live ? wanted - live : 0;
  if (cached() <= keep) return;
  release_segments(keep, lock, newest);
  discard_pages(keep, newest);
}

/// Takes the memory of free blocks back, those that were not used for longest first, until at most
/// `keep_cached` bytes are cached.
void CachingAllocator::discard_pages(size_t keep_cached, uint64_t newest) {
  std::vector<Block*> blocks;
  for (auto& p : pools_) {
    if (is_private(*p)) continue;  // a replay may be writing there
    for (const FreeLists* lists : {&p->small, &p->large})
      lists->for_each([&](Block* b) {
        if (b->bytes >= kWorthDiscarding && b->discarded == 0 && b->stamp <= newest)
          blocks.push_back(b);
      });
  }
  std::sort(blocks.begin(), blocks.end(), [](Block* a, Block* b) { return a->stamp < b->stamp; });
  for (Block* block : blocks) {
    if (cached() <= keep_cached) return;
    block->discarded = backend_.discard(device_, block->address, block->bytes);
    discarded_ += block->discarded;
  }
}

}  // namespace taeda::inline v0_2::detail
