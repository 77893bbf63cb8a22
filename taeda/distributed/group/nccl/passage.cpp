#include "taeda/distributed/group/nccl/passage.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/distributed/group/patience.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::distributed::nccl {

namespace {

/// A thread's own: threads that send and receive wait for different ranks.
Stream stream_for_host_memory(Device device) {
  thread_local std::map<int, Stream> streams;
  const auto [it, added] = streams.try_emplace(device.index());
  if (added) it->second = new_stream(device);
  return it->second;
}

}  // namespace

Passage::Passage(const Call& call, Device home)
    : stream_(call.queued ? call.queued->stream : stream_for_host_memory(home)),
      current_(stream_) {}

Tensor Passage::make(const Elements& e) {
  return make_tensor({static_cast<int64_t>(e.nbytes())}, kByte, device());
}

void Passage::copy(void* to, const void* from, size_t bytes, bool to_host) const {
  const int index = device().index();
  if (bytes > 0)
    backend_of(device().type())
        .copy(to, to_host ? -1 : index, from, to_host ? index : -1, bytes, index, stream_.id());
}

void* Passage::in(const Elements& e) {
  if (!e.device.is_cpu()) return e.data;
  const Tensor& t = ins_.emplace_back(make(e));
  copy(t.data_ptr(), e.data, e.nbytes(), false);
  return t.data_ptr();
}

void* Passage::out(const Elements& e) {
  if (!e.device.is_cpu()) return e.data;
  return outs_.emplace_back(Copy{e, make(e)}).device.data_ptr();
}

void* Passage::in_out(const Elements& e) {
  void* const p = out(e);
  if (e.device.is_cpu()) copy(p, e.data, e.nbytes(), false);
  return p;
}

void Passage::finish(const Call& call, std::function<void()> confirm,
                     const std::function<bool()>& aborted) {
  if (call.queued) {
    call.queued->confirm = std::move(confirm);
    return;
  }
  Event end;
  end.record(stream_);
  Backoff turns(std::chrono::microseconds(10), std::chrono::milliseconds(1));
  while (!end.query()) {
    if (aborted()) throw CommunicatorError("nccl: the communicator was aborted", -1);
    if (Clock::now() >= call.deadline)
      throw CommunicatorError("nccl: the exchange did not end in time", -1);
    turns.sleep();
  }
  if (aborted()) throw CommunicatorError("nccl: the communicator was aborted", -1);
  if (confirm) confirm();
  for (const Copy& c : outs_) copy(c.host.data, c.device.data_ptr(), c.host.nbytes(), true);
  stream_.synchronize();  // which has nothing left but these copies
}

}  // namespace taeda::inline v0_2::distributed::nccl
