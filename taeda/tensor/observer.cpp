#include "taeda/tensor/observer.h"

#include <mutex>

#include "taeda/base/tracing_log.h"

namespace taeda::inline v0_2 {

namespace {

struct Observed {
  OperationObserver* observer = nullptr;
  int depth = 0;
};
constinit thread_local Observed observed;

void tell_kernel(const char* kernel) {
  if (observed.observer && observed.depth == 0) observed.observer->unobserved_kernel(kernel);
}

}  // namespace

bool detail::observed_here() { return observed.observer && observed.depth == 0; }

void detail::begin_observed(const char* name, std::vector<ObservedValue> arguments) {
  const InsideObserved inside;
  observed.observer->begins(name, std::move(arguments));
}

void detail::end_observed(const std::vector<Tensor>& results) {
  const InsideObserved inside;
  observed.observer->ends(results);
}

detail::InsideObserved::InsideObserved() { ++observed.depth; }
detail::InsideObserved::~InsideObserved() { --observed.depth; }

namespace {

/// Kernels are told while there is an observer on any thread.
void count_observer(int change) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const int count = detail::observers.load() + change;
  detail::observers.store(count);
  tracing::observe_kernels(count > 0 ? tell_kernel : nullptr);
}

}  // namespace

OperationObserver::OperationObserver() {
  TAEDA_CHECK(!observed.observer, "the operations of this thread are observed already");
  observed.observer = this;
  count_observer(1);
}

OperationObserver::~OperationObserver() {
  count_observer(-1);
  observed.observer = nullptr;
}

}  // namespace taeda::inline v0_2
