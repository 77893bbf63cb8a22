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

/// After a change of either: doors look at the one word.
void update() {
  Interceptors::set(Interceptors::kObserver, observed.observer && observed.depth == 0);
}

void tell_kernel(const char* kernel) {
  if (observed.observer && observed.depth == 0) observed.observer->unobserved_kernel(kernel);
}

}  // namespace

void detail::begin_observed(const char* name, std::vector<ObservedValue> arguments) {
  const InsideObserved inside;
  observed.observer->begins(name, std::move(arguments));
}

void detail::end_observed(const std::vector<Tensor>& results) {
  const InsideObserved inside;
  observed.observer->ends(results);
}

bool detail::observer_prefers_parts(const char* name) {
  const InsideObserved inside;
  return observed.observer->prefers_parts(name);
}

void detail::tell_replaced(const std::vector<Tensor>& results, const std::vector<Tensor>& parts) {
  const InsideObserved inside;
  observed.observer->replaces(results, parts);
}

detail::InsideObserved::InsideObserved() {
  ++observed.depth;
  update();
}
detail::InsideObserved::~InsideObserved() {
  --observed.depth;
  update();
}

namespace {

/// Kernels are told while there is an observer on any thread.
void count_observer(int change) {
  static std::mutex mutex;
  static int count = 0;
  const std::lock_guard lock(mutex);
  count += change;
  tracing::observe_kernels(count > 0 ? tell_kernel : nullptr);
}

}  // namespace

OperationObserver::OperationObserver() {
  TAEDA_CHECK(!observed.observer, "the operations of this thread are observed already");
  observed.observer = this;
  count_observer(1);
  update();
}

OperationObserver::~OperationObserver() {
  count_observer(-1);
  observed.observer = nullptr;
  update();
}

}  // namespace taeda::inline v0_2
