// The NCCL engine: every call is one of NCCL's collectives, or a group of its sends and receives,
// queued on a stream.
//
// Messages from one rank to another have a communicator and a stream of their own for each
// direction, so that two ranks may send to each other, and call collectives meanwhile, in any
// order.
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/distributed/engine.h"
#include "taeda/distributed/group/communicator.h"
#include "taeda/distributed/group/nccl/link.h"
#include "taeda/distributed/group/nccl/passage.h"
#include "taeda/distributed/group/nccl/roll_call.h"
#include "taeda/distributed/group/nccl/types.h"

namespace taeda::inline v0_2::distributed::nccl {

namespace {

using LinkPtr = std::shared_ptr<Link>;

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(StorePtr store, int rank, int size)
      : library_(library()), store_(std::move(store)), rank_(rank), size_(size) {}
  ~NcclCommunicator() override { abort(); }

  bool serves(DeviceType type) const override { return type == library_.device_type(); }
  bool computes(ReduceOp op, ScalarType dtype, Device device) const override {
    if (Communicator::computes(op, dtype, device)) return true;
    return !device.is_cpu() && scales(dtype) && !(op.kind == ReduceOp::AVG && is_complex(dtype));
  }
  bool notices_death() const override { return false; }

  void broadcast(const Call& call, Elements data, int root) override {
    Passage way(call, home());
    void* const p = way.in_out(data);
    collective(call, way, data.count, [&](ncclComm_t comm, cudaStream_t stream) {
      return library_.broadcast(p, p, data.nbytes(), ncclUint8, root, comm, stream);
    });
  }

  void all_reduce(const Call& call, Elements data, ReduceOp op) override {
    const Numbers numbers = numbers_of(data, op);
    Passage way(call, home());
    void* const p = way.in_out(data);
    collective(call, way, data.count, [&](ncclComm_t comm, cudaStream_t stream) {
      const Operation operation(library_, comm, op, data.dtype);
      return library_.all_reduce(p, p, numbers.count, numbers.type, operation.get(), comm, stream);
    });
  }

  void reduce(const Call& call, Elements data, ReduceOp op, int root) override {
    const Numbers numbers = numbers_of(data, op);
    Passage way(call, home());
    void* const p = rank_ == root ? way.in_out(data) : way.in(data);
    collective(call, way, data.count, [&](ncclComm_t comm, cudaStream_t stream) {
      const Operation operation(library_, comm, op, data.dtype);
      return library_.reduce(p, p, numbers.count, numbers.type, operation.get(), root, comm,
                             stream);
    });
  }

  void all_gather(const Call& call, Elements in, Elements out) override {
    Passage way(call, home());
    const void* const from = way.in(in);
    void* const to = way.out(out);
    collective(call, way, in.count, [&](ncclComm_t comm, cudaStream_t stream) {
      return library_.all_gather(from, to, in.nbytes(), ncclUint8, comm, stream);
    });
  }

  void gather(const Call& call, Elements in, Elements out, int root) override {
    Passage way(call, home());
    const void* const from = way.in(in);
    char* const to = rank_ == root ? static_cast<char*>(way.out(out)) : nullptr;
    const size_t part = in.nbytes();
    collective(call, way, in.count, [&](ncclComm_t comm, cudaStream_t stream) {
      for (size_t r = 0; to && r < ranks(); ++r)
        expect(comm,
               library_.recv(to + r * part, part, ncclUint8, static_cast<int>(r), comm, stream));
      return library_.send(from, part, ncclUint8, root, comm, stream);
    });
  }

  void scatter(const Call& call, Elements in, Elements out, int root) override {
    Passage way(call, home());
    const char* const from = rank_ == root ? static_cast<char*>(way.in(in)) : nullptr;
    void* const to = way.out(out);
    const size_t part = out.nbytes();
    collective(call, way, out.count, [&](ncclComm_t comm, cudaStream_t stream) {
      for (size_t r = 0; from && r < ranks(); ++r)
        expect(comm,
               library_.send(from + r * part, part, ncclUint8, static_cast<int>(r), comm, stream));
      return library_.recv(to, part, ncclUint8, root, comm, stream);
    });
  }

  void reduce_scatter(const Call& call, Elements in, Elements out, ReduceOp op) override {
    const Numbers numbers = numbers_of(out, op);
    Passage way(call, home());
    const void* const from = way.in(in);
    void* const to = way.out(out);
    collective(call, way, out.count, [&](ncclComm_t comm, cudaStream_t stream) {
      const Operation operation(library_, comm, op, out.dtype);
      return library_.reduce_scatter(from, to, numbers.count, numbers.type, operation.get(), comm,
                                     stream);
    });
  }

  void all_to_all(const Call& call, Elements in, IntArrayRef in_counts, Elements out,
                  IntArrayRef out_counts) override {
    Passage way(call, home());
    const char* from = static_cast<char*>(way.in(in));
    char* to = static_cast<char*>(way.out(out));
    const auto element = static_cast<size_t>(element_size(in.dtype));
    collective(call, way, 1, [&](ncclComm_t comm, cudaStream_t stream) {
      for (size_t r = 0; r < ranks(); ++r) {
        const int peer = static_cast<int>(r);
        const size_t sent = static_cast<size_t>(in_counts[r]) * element;
        const size_t got = static_cast<size_t>(out_counts[r]) * element;
        if (sent > 0) expect(comm, library_.send(from, sent, ncclUint8, peer, comm, stream));
        if (got > 0) expect(comm, library_.recv(to, got, ncclUint8, peer, comm, stream));
        from += sent;
        to += got;
      }
      return ncclSuccess;
    });
  }

  void barrier(const Call& call) override {
    Passage way(call, home());
    collective(call, way, 0, [](ncclComm_t, cudaStream_t) { return ncclSuccess; });
  }

  void send(const Call& call, Elements data, int to) override {
    Passage way(call, home());
    const void* const p = way.in(data);
    message(call, way, rank_, to, [&](ncclComm_t comm, const RollCall& roll, cudaStream_t stream) {
      expect(comm, library_.send(roll.own(), RollCall::kBytes, ncclUint8, 1, comm, stream));
      if (data.count > 0) expect(comm, library_.send(p, data.nbytes(), ncclUint8, 1, comm, stream));
    });
  }

  int recv(const Call& call, Elements data, int from) override {
    TAEDA_CHECK_VALUE(from >= 0, "recv: NCCL receives from a rank that is named, not from any");
    Passage way(call, home());
    void* const p = way.out(data);
    message(call, way, from, rank_,
            [&](ncclComm_t comm, const RollCall& roll, cudaStream_t stream) {
              expect(comm, library_.recv(roll.all(), RollCall::kBytes, ncclUint8, 0, comm, stream));
              if (data.count > 0)
                expect(comm, library_.recv(p, data.nbytes(), ncclUint8, 0, comm, stream));
            });
    return from;
  }

  std::optional<CommunicatorError> lost_connection() override {
    for (const LinkPtr& link : all_links())
      if (const std::string text = link->failure(); !text.empty())
        return CommunicatorError(text, -1);
    return {};
  }

  void abort() noexcept override {
    aborted_ = true;
    for (const LinkPtr& link : all_links()) link->abort();
  }

 private:
  using Route = std::pair<int, int>;  ///< from a rank to another

  size_t ranks() const { return static_cast<size_t>(size_); }
  void expect(ncclComm_t comm, ncclResult_t result) const { check(library_, comm, result); }
  static cudaStream_t handle(const Stream& stream) {
    return reinterpret_cast<cudaStream_t>(stream.id());
  }

  std::vector<LinkPtr> all_links() {
    std::lock_guard lock(mutex_);
    std::vector<LinkPtr> out;
    for (const auto& [device, link] : collectives_) out.push_back(link);
    for (const auto& [route, link] : messages_) out.push_back(link);
    return out;
  }

  /// Where memory of the host goes through: the group's first device, or the current one.
  Device home() {
    std::lock_guard lock(mutex_);
    const DeviceType type = library_.device_type();
    return home_.value_or(Device(type, current_device(type)));
  }

  /// Ranks meet in the order in which they first use one more device, whichever that is.
  LinkPtr collectives_on(Device device) {
    std::lock_guard lock(mutex_);
    refuse_after_abort();
    if (!home_) home_ = device;
    LinkPtr& link = collectives_[device.index()];
    if (!link)
      link = std::make_shared<Link>(store_, "nccl/" + std::to_string(collectives_.size()), rank_,
                                    size_, device);
    return link;
  }

  LinkPtr messages_on(Route route, Device device) {
    std::lock_guard lock(mutex_);
    refuse_after_abort();
    LinkPtr& link = messages_[{route, device.index()}];
    if (!link) {
      const auto known = std::ranges::count_if(
          messages_, [&](const auto& entry) { return entry.first.first == route; });
      const std::string key =
          taeda::detail::concat("nccl/", route.first, "-", route.second, "/", known);
      link = std::make_shared<Link>(store_, key, rank_ == route.first ? 0 : 1, 2, device);
    }
    return link;
  }

  void refuse_after_abort() const {
    if (aborted_) throw CommunicatorError("nccl: the communicator was aborted", -1);
  }

  /// Queues what `f` calls, and the numbers of the ranks' calls beside it in the same launch.
  /// Without elements the numbers alone are exchanged, so that ranks meet.
  template <class F>
  void collective(const Call& call, Passage& way, int64_t elements, F&& f) {
    const LinkPtr link = collectives_on(way.device());
    const auto roll = std::make_shared<RollCall>(call.id, size_, way.device());
    const cudaStream_t stream = handle(way.stream());
    link->group(call, [&](ncclComm_t comm) {
      expect(comm, library_.all_gather(roll->own(), roll->all(), RollCall::kBytes, ncclUint8, comm,
                                       stream));
      if (elements > 0) expect(comm, f(comm, stream));
    });
    confirm(call, way, link, roll);
  }

  template <class F>
  void message(const Call& call, Passage& way, int from, int to, F&& f) {
    const LinkPtr link = messages_on({from, to}, way.device());
    const bool sends = from == rank_;
    const auto roll = std::make_shared<RollCall>(call.id, sends ? 0 : 1, way.device());
    const cudaStream_t stream = handle(way.stream());
    link->group(call, [&](ncclComm_t comm) { f(comm, *roll, stream); });
    confirm(call, way, link, roll);
  }

  void confirm(const Call& call, Passage& way, const LinkPtr& link,
               const std::shared_ptr<RollCall>& roll) {
    roll->fetch();
    way.finish(
        call, [roll] { roll->compare(); }, [link] { return link->aborted(); });
  }

  const Library& library_;
  const StorePtr store_;
  const int rank_, size_;
  std::atomic<bool> aborted_{false};
  std::mutex mutex_;
  std::optional<Device> home_;
  std::map<int, LinkPtr> collectives_;                 ///< by device
  std::map<std::pair<Route, int>, LinkPtr> messages_;  ///< by direction and device
};

std::unique_ptr<Communicator> connect(StorePtr store, int rank, int size,
                                      std::chrono::milliseconds) {
  backend_of(library().device_type());  // throws without devices
  return std::make_unique<NcclCommunicator>(std::move(store), rank, size);
}

constexpr CommunicatorFunctions kFunctions = {&connect};

}  // namespace

}  // namespace taeda::inline v0_2::distributed::nccl

extern "C" const taeda::distributed::Engine taeda_engine = {
    .name = "nccl", .functions = &taeda::distributed::nccl::kFunctions};
