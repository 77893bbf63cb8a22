// The MPI engine: every call is one of MPI's that return at once, and a wait with a deadline.
//
// MPI's collectives have no tags, so that ranks that call different things would exchange them:
// each begins with the numbers of their calls, whose least and greatest are the same or nothing
// else happens. A message has 31 bits of its number, and as many bytes as its receive.
// MPI cannot be told to forget a transfer, so memory that it may still write to is its own: it is
// copied, and stays for ever where a call fails.
#include <dlfcn.h>
#include <mpi.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/distributed/engine.h"
#include "taeda/distributed/group/communicator.h"
#include "taeda/distributed/group/mpi/types.h"

namespace taeda::inline v0_2::distributed::mpi {

namespace {

using std::chrono::milliseconds;

/// Whether some group has failed: MPI cannot end in peace then.
std::atomic<bool> something_failed{false};

bool started_by_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"})
    if (std::getenv(name)) return true;
  return false;
}

/// MPI's own plug-ins look for its functions among those that the whole program sees.
void show_mpi_to_its_plugins() {
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<void*>(&MPI_Init_thread), &info) != 0)
    ::dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

/// Starts MPI for the process unless the program has. It ends with the program, if all went well;
/// else mpirun ends the other processes when this one is gone.
void start_mpi() {
  int running = 0;
  MPI_Initialized(&running);
  if (running) return;
  TAEDA_CHECK_AS(DistributedError, started_by_mpi(),
                 "the backend 'mpi': this process was not started by MPI; start the program with "
                 "`mpirun -n 4 program`, or `srun --mpi=pmix`");
  show_mpi_to_its_plugins();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  TAEDA_CHECK_AS(DistributedError, provided >= MPI_THREAD_SERIALIZED,
                 "the backend 'mpi': this MPI serves only the thread that started it");
  std::atexit([] {
    int over = 0;
    MPI_Finalized(&over);
    if (!over && !something_failed) MPI_Finalize();
  });
}

class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~MpiCommunicator() override {
    std::lock_guard lock(mutex());
    int over = 0;
    MPI_Finalized(&over);
    if (!over && !failed_) MPI_Comm_free(&comm_);
  }

  void broadcast(const Call& call, Elements data, int root) override {
    agree(call);
    auto memory = copy_of(data.data, data.nbytes());
    run(call, memory, "MPI_Ibcast", [&](MPI_Request* request) {
      const Bytes all(data.nbytes());
      return MPI_Ibcast(memory.data(), 1, all.type(), root, comm_, request);
    });
    give(memory, data);
  }

  /// To rank 0 and from there: all get its bits.
  void all_reduce(const Call& call, Elements data, ReduceOp op) override {
    reduce(call, data, op, 0);
    broadcast(call, data, 0);
  }

  void reduce(const Call& call, Elements data, ReduceOp op, int root) override {
    agree(call);
    constexpr int64_t kMost = int64_t{1} << 28;
    for (int64_t at = 0; at < data.count; at += kMost)
      reduce_part(call, part(data, at, std::min(kMost, data.count - at)), op, root);
  }

  void all_gather(const Call& call, Elements in, Elements out) override {
    agree(call);
    auto from = copy_of(in.data, in.nbytes());
    std::vector<char> to(out.nbytes());
    std::vector<char>* all[] = {&from, &to};
    run(call, all, "MPI_Iallgather", [&](MPI_Request* request) {
      const Bytes one(in.nbytes());
      return MPI_Iallgather(from.data(), 1, one.type(), to.data(), 1, one.type(), comm_, request);
    });
    give(to, out);
  }

  void gather(const Call& call, Elements in, Elements out, int root) override {
    agree(call);
    auto from = copy_of(in.data, in.nbytes());
    std::vector<char> to(rank_ == root ? out.nbytes() : 0);
    std::vector<char>* all[] = {&from, &to};
    run(call, all, "MPI_Igather", [&](MPI_Request* request) {
      const Bytes one(in.nbytes());
      return MPI_Igather(from.data(), 1, one.type(), to.data(), 1, one.type(), root, comm_,
                         request);
    });
    if (rank_ == root) give(to, out);
  }

  void scatter(const Call& call, Elements in, Elements out, int root) override {
    agree(call);
    auto from = copy_of(in.data, rank_ == root ? in.nbytes() : 0);
    std::vector<char> to(out.nbytes());
    std::vector<char>* all[] = {&from, &to};
    run(call, all, "MPI_Iscatter", [&](MPI_Request* request) {
      const Bytes one(out.nbytes());
      return MPI_Iscatter(from.data(), 1, one.type(), to.data(), 1, one.type(), root, comm_,
                          request);
    });
    give(to, out);
  }

  /// The bits of all_reduce.
  void reduce_scatter(const Call& call, Elements in, Elements out, ReduceOp op) override {
    auto sum = copy_of(in.data, in.nbytes());
    all_reduce(call, {sum.data(), in.count, in.dtype}, op);
    if (out.count > 0)
      std::memcpy(out.data, sum.data() + static_cast<size_t>(rank_) * out.nbytes(), out.nbytes());
  }

  void all_to_all(const Call& call, Elements in, IntArrayRef in_counts, Elements out,
                  IntArrayRef out_counts) override {
    agree(call);
    auto from = copy_of(in.data, in.nbytes());
    std::vector<char> to(out.nbytes());
    std::vector<char>* all[] = {&from, &to};
    // Read until the exchange is over.
    const Parts sent(in_counts, in.dtype), received(out_counts, out.dtype);
    const std::vector<int> ones(static_cast<size_t>(size_), 1), zeros(ones.size(), 0);
    run(call, all, "MPI_Ialltoallw", [&](MPI_Request* request) {
      return MPI_Ialltoallw(from.data(), ones.data(), zeros.data(), sent.types.data(), to.data(),
                            ones.data(), zeros.data(), received.types.data(), comm_, request);
    });
    give(to, out);
  }

  void barrier(const Call& call) override { agree(call); }

  void send(const Call& call, Elements data, int to) override {
    auto memory = copy_of(data.data, data.nbytes());
    run(call, memory, "MPI_Issend", [&](MPI_Request* request) {
      const Bytes all(data.nbytes());
      return MPI_Issend(memory.data(), 1, all.type(), to, tag_of(call), comm_, request);
    });
  }

  int recv(const Call& call, Elements data, int from) override {
    std::vector<char> memory(data.nbytes());
    const MPI_Status status = run(call, memory, "MPI_Irecv", [&](MPI_Request* request) {
      const Bytes all(data.nbytes());
      return MPI_Irecv(memory.data(), 1, all.type(), from < 0 ? MPI_ANY_SOURCE : from, tag_of(call),
                       comm_, request);
    });
    check_length(status, data.nbytes());
    give(memory, data);
    return status.MPI_SOURCE;
  }

  /// Of MPI's processes none goes on when one is gone: mpirun ends them.
  std::optional<CommunicatorError> lost_connection() override { return {}; }

  void abort() noexcept override { aborted_ = true; }

 private:
  /// The types of the parts that every rank gets of some elements.
  struct Parts {
    Parts(IntArrayRef counts, ScalarType dtype) {
      size_t offset = 0;
      for (const int64_t n : counts) {
        const auto nbytes = static_cast<size_t>(n * element_size(dtype));
        const std::lock_guard lock(mutex());
        owners.emplace_back(nbytes, offset);
        types.push_back(owners.back().type());
        offset += nbytes;
      }
    }
    ~Parts() {
      const std::lock_guard lock(mutex());
      owners.clear();
    }
    std::vector<Bytes> owners;
    std::vector<MPI_Datatype> types;
  };

  static int tag_of(const Call& call) { return static_cast<int>(call.id & 0x7fffffffu); }

  static void check_length(const MPI_Status& status, size_t nbytes) {
    const std::lock_guard lock(mutex());
    MPI_Count came = 0;
    check(MPI_Get_elements_x(&status, MPI_BYTE, &came), "MPI_Get_elements_x");
    if (came != static_cast<MPI_Count>(nbytes))
      throw CommunicatorError("mpi: a message of " + std::to_string(came) + " bytes from rank " +
                                  std::to_string(status.MPI_SOURCE) + ", where " +
                                  std::to_string(nbytes) + " were expected",
                              -1);
  }

  static std::vector<char> copy_of(const void* data, size_t nbytes) {
    std::vector<char> out(nbytes);
    if (nbytes > 0) std::memcpy(out.data(), data, nbytes);
    return out;
  }
  static void give(const std::vector<char>& memory, Elements to) {
    if (!memory.empty()) std::memcpy(to.data, memory.data(), memory.size());
  }
  static Elements part(Elements all, int64_t at, int64_t count) {
    return {static_cast<char*>(all.data) + at * element_size(all.dtype), count, all.dtype};
  }

  void reduce_part(const Call& call, Elements data, ReduceOp op, int root) {
    auto own = copy_of(data.data, data.nbytes());
    std::vector<char> sum(rank_ == root ? data.nbytes() : 0);
    std::vector<char>* all[] = {&own, &sum};
    run(call, all, "MPI_Ireduce", [&](MPI_Request* request) {
      return MPI_Ireduce(own.data(), sum.data(), static_cast<int>(data.count),
                         element_type(op.kind, data.dtype), reduction(), root, comm_, request);
    });
    if (rank_ == root) give(sum, data);
  }

  /// Returns when all ranks are here with the same call. Ranks that are not wait until somebody
  /// says what they called.
  void agree(const Call& call) {
    std::vector<char> own(2 * sizeof(uint64_t)), least(own.size());
    const uint64_t ids[] = {call.id, ~call.id};
    std::memcpy(own.data(), ids, own.size());
    std::vector<char>* all[] = {&own, &least};
    run(call, all, "MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(own.data(), least.data(), 2, MPI_UINT64_T, MPI_MIN, comm_, request);
    });
    if (own == least) return;
    while (true) {
      throw_if_over(call);
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

  void throw_if_over(const Call& call) const {
    if (aborted_) throw CommunicatorError("mpi: the group was closed", -1);
    if (Clock::now() > call.deadline) throw CommunicatorError("mpi: the time is up", -1);
  }

  template <class F>
  MPI_Status run(const Call& call, std::vector<char>& memory, const char* name, F&& start) {
    std::vector<char>* one[] = {&memory};
    return run(call, one, name, start);
  }
  /// Starts a transfer and waits for its end. If that does not come, MPI keeps the memory.
  template <size_t n, class F>
  MPI_Status run(const Call& call, std::vector<char>* (&memory)[n], const char* name, F&& start) {
    MPI_Request request = MPI_REQUEST_NULL;
    try {
      throw_if_over(call);
      {
        std::lock_guard lock(mutex());
        check(start(&request), name);
      }
      return wait(call, &request);
    } catch (...) {
      failed_ = something_failed = true;
      for (std::vector<char>* kept : memory) new std::vector<char>(std::move(*kept));
      throw;
    }
  }

  MPI_Status wait(const Call& call, MPI_Request* request) const {
    MPI_Status status = {};
    for (int turn = 0;; ++turn) {
      int done = 0;
      {
        std::lock_guard lock(mutex());
        check(MPI_Test(request, &done, &status), "MPI_Test");
      }
      if (done) return status;
      throw_if_over(call);
      if (turn < 1000)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  std::atomic<bool> aborted_{false}, failed_{false};
};

/// The ranks of MPI's world that the members are.
std::vector<int> members_in_world(Store& store, int rank, int size, milliseconds timeout) {
  int own = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  store.set("mpi/" + std::to_string(rank), std::to_string(own));
  std::vector<int> out;
  for (int r = 0; r < size; ++r) {
    const std::string key = "mpi/" + std::to_string(r);
    store.wait({key}, timeout);
    out.push_back(std::stoi(store.get(key)));
  }
  return out;
}

std::unique_ptr<Communicator> connect(StorePtr store, int rank, int size, milliseconds timeout) {
  std::unique_lock lock(mutex());
  start_mpi();
  lock.unlock();
  const std::vector<int> ranks = members_in_world(*store, rank, size, timeout);
  lock.lock();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Group world = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  check(MPI_Group_incl(world, size, ranks.data(), &members), "MPI_Group_incl");
  check(MPI_Comm_create_group(MPI_COMM_WORLD, members, 0, &comm), "MPI_Comm_create_group");
  MPI_Group_free(&world);
  MPI_Group_free(&members);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return std::make_unique<MpiCommunicator>(comm);
}

constexpr CommunicatorFunctions kFunctions = {&connect};

}  // namespace

}  // namespace taeda::inline v0_2::distributed::mpi

extern "C" const taeda::distributed::Engine taeda_engine = {
    .name = "mpi", .functions = &taeda::distributed::mpi::kFunctions};
