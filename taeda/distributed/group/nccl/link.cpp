#include "taeda/distributed/group/nccl/link.h"

#include <cstring>

#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/distributed/group/patience.h"

namespace taeda::inline v0_2::distributed::nccl {

namespace {

std::string text_of(const Library& library, ncclComm_t comm, ncclResult_t result) {
  const char* more = library.last_error(comm);
  return std::string("nccl: ") + library.error_string(result) +
         (more && *more ? std::string(": ") + more : "");
}

}  // namespace

void check(const Library& library, ncclComm_t comm, ncclResult_t result) {
  if (result != ncclSuccess && result != ncclInProgress)
    throw CommunicatorError(text_of(library, comm, result), -1);
}

Link::Link(StorePtr store, std::string key, int rank, int size, Device device)
    : library_(library()),
      store_(std::move(store)),
      key_(std::move(key)),
      rank_(rank),
      size_(size),
      device_(device) {}

Link::~Link() { abort(); }

/// Throws unless there is still something to wait for.
void Link::go_on(const Call& call, const char* what) const {
  if (aborted_) throw CommunicatorError("nccl: the communicator was aborted", -1);
  if (Clock::now() >= call.deadline)
    throw CommunicatorError(std::string("nccl: ") + what + " did not end in time", -1);
}

/// The number under which NCCL's ranks find each other, from its first.
ncclUniqueId Link::meet(const Call& call) {
  ncclUniqueId id;
  if (rank_ == 0) {
    check(library_, nullptr, library_.get_unique_id(&id));
    store_->set(key_, std::string_view(id.internal, sizeof id.internal));
    return id;
  }
  Backoff turns = Backoff::for_store();
  while (!store_->check({key_})) {
    go_on(call, "meeting the other ranks");
    turns.sleep();
  }
  const std::string text = store_->get(key_);
  TAEDA_CHECK_AS(DistributedError, text.size() == sizeof id.internal, "nccl: expected ",
                 sizeof id.internal, " bytes under '", key_, "' of the store, got ", text.size());
  std::memcpy(id.internal, text.data(), sizeof id.internal);
  return id;
}

void Link::connect(const Call& call) {
  std::lock_guard once(connecting_);
  {
    std::lock_guard lock(mutex_);
    if (comm_) return;
  }
  const ncclUniqueId id = meet(call);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const DeviceGuard guard(device_);
  Event current;  // a call of the backend's: NCCL asks CUDA for this thread's device
  current.record(current_stream(device_));
  ncclResult_t result;
  {
    std::lock_guard lock(mutex_);
    go_on(call, "connecting");
    result = library_.init_rank(&comm_, size_, id, rank_, &config);
  }
  wait_until_queued(result, call, "connecting");
}

void Link::wait_until_queued(ncclResult_t result, const Call& call, const char* what) {
  Backoff turns(std::chrono::microseconds(10), std::chrono::milliseconds(1));
  while (result == ncclInProgress) {
    turns.sleep();
    go_on(call, what);
    std::lock_guard lock(mutex_);
    if (comm_) check(library_, comm_, library_.async_error(comm_, &result));
  }
  check(library_, nullptr, result);
}

std::string Link::failure() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !comm_) return {};
  ncclResult_t result = ncclSuccess;
  const ncclResult_t asked = library_.async_error(comm_, &result);
  if (asked != ncclSuccess) result = asked;
  if (result == ncclSuccess || result == ncclInProgress) return {};
  return text_of(library_, comm_, result);
}

void Link::abort() noexcept {
  aborted_ = true;
  std::lock_guard lock(mutex_);
  if (ncclComm_t comm = std::exchange(comm_, nullptr)) library_.abort(comm);
}

}  // namespace taeda::inline v0_2::distributed::nccl
