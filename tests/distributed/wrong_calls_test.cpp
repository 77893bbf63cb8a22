// Stores, groups and costs that are asked for what they cannot give.
#include "tests/wrong_calls.h"

#include <chrono>

#include "taeda/distributed/cost/collective.h"
#include "taeda/distributed/cost/network.h"
#include "taeda/distributed/cost/pipeline.h"
#include "taeda/distributed/cost/schedule.h"
#include "taeda/distributed/distributed.h"
#include "taeda/taeda.h"

namespace taeda::wrong {
namespace {

namespace dist = distributed;
namespace cost = distributed::cost;
using namespace std::chrono_literals;

using Tensors = std::vector<Tensor>;

Tensor numbers() { return arange(4.0f); }
Tensor leaf() { return rand({2}).requires_grad_(); }

const std::vector<Row> wrong_distributed = {
    REFUSED(DistributedError, dist::HashStore(10ms).get("x"),
            "HashStore.get: wait timeout after 10ms, keys: x"),
    REFUSED(ValueError, dist::HashStore(-5ms).get("x"),
            "Store: a timeout must be positive, but got -5ms"),
    REFUSED(DistributedError, dist::HashStore(10ms).wait({"x"}, 10ms),
            "HashStore.wait: wait timeout after 10ms, keys: x"),
    REFUSED(
        DistributedError,
        [] {
          dist::HashStore s;
          s.set("x", "abc");
          s.add("x", 1);
        }(),
        "HashStore.add: key 'x' holds 'abc', which is no number"),
    REFUSED(
        DistributedError,
        [] {
          dist::HashStore s;
          s.add("x", INT64_MAX);
          s.add("x", INT64_MAX);
        }(),
        "HashStore.add: key 'x' holds 9223372036854775807, adding"),
    REFUSED(
        DistributedError,
        [] {
          dist::HashStore s;
          s.set("x", "99999999999999999999999");
          s.add("x", 1);
        }(),
        "HashStore.add: key 'x' holds '99999999999999999999999', which is no number"),
    REFUSED(ValueError, dist::HashStore().set_timeout(-1ms),
            "Store: a timeout must be positive, but got -1ms"),
    REFUSED(ValueError, dist::PrefixStore("p", nullptr),
            "PrefixStore: the store for prefix 'p' is null"),
    REFUSED(
        ValueError,
        [] {
          dist::PrefixStore p("p", nullptr);
          p.get("x");
        }(),
        "PrefixStore: the store for prefix 'p' is null"),
    REFUSED(DistributedError, dist::FileStore("", 1),
            "FileStore('').open: cannot open the file (No such file or directory)"),
    REFUSED(ValueError, dist::rendezvous(""),
            "Error initializing torch.distributed using env:// rendezvous: environment"),
    REFUSED(ValueError, dist::rendezvous("ftp://x", 0, 1),
            "No rendezvous handler for 'ftp://x'; there are env://, tcp://host:port and"),
    REFUSED(ValueError, dist::rendezvous("tcp://", 0, 1),
            "Error initializing torch.distributed using tcp:// rendezvous: port number"),
    REFUSED(ValueError, dist::rendezvous("tcp://127.0.0.1:99999", 0, 1),
            "Error initializing torch.distributed using tcp:// rendezvous: a host and a"),
    REFUSED(ValueError, dist::rendezvous("tcp://127.0.0.1:-1", 0, 1),
            "Error initializing torch.distributed using tcp:// rendezvous: port number"),
    REFUSED(ValueError, dist::rendezvous("tcp://127.0.0.1:port", 0, 1),
            "Error initializing torch.distributed using tcp:// rendezvous: port number"),
    REFUSED(ValueError, dist::rendezvous("tcp://127.0.0.1:1", -1, 1),
            "Error initializing torch.distributed using tcp:// rendezvous: rank"),
    REFUSED(ValueError, dist::rendezvous("tcp://127.0.0.1:1", 5, 1),
            "Error initializing torch.distributed using tcp:// rendezvous: rank 5 is not"),
    REFUSED(ValueError, dist::rendezvous("file://", 0, 1),
            "Error initializing torch.distributed using file:// rendezvous: path missing"),
    REFUSED(ValueError, dist::rendezvous("file://relative", 0, 1),
            "Error initializing torch.distributed using file:// rendezvous: path missing"),
    REFUSED(ValueError, dist::rendezvous("tcp://127.0.0.1:0?rank=x", 0, 1),
            "Error initializing torch.distributed using tcp:// rendezvous: rank expected"),
    REFUSED(ValueError, dist::get_rank(),
            "Default process group has not been initialized, please make sure to call"),
    REFUSED(ValueError, dist::default_group(),
            "Default process group has not been initialized, please make sure to call"),
    REFUSED(ValueError, dist::all_reduce(numbers()),
            "Default process group has not been initialized, please make sure to call"),
    REFUSED(ValueError, dist::destroy_process_group(),
            "Default process group has not been initialized, please make sure to call"),
    REFUSED(ValueError, dist::new_group({0}),
            "Default process group has not been initialized, please make sure to call"),
    REFUSED(ValueError, dist::init_device_mesh("cpu", {1}),
            "Error initializing torch.distributed using env:// rendezvous: environment"),
    REFUSED(ValueError, dist::ProcessGroup::create("gloo", nullptr, 0, 1),
            "init_process_group: expected a store, got none"),
    REFUSED(ValueError,
            dist::ProcessGroup::create("gloo", std::make_shared<dist::HashStore>(), -1, 1),
            "init_process_group: expected a rank from 0 to world_size - 1, got rank -1"),
    REFUSED(ValueError, dist::ProcessGroup::create("", std::make_shared<dist::HashStore>(), 0, 1),
            "init_process_group: expected a backend of gloo, mpi or nccl, got ''"),
    REFUSED(Error, dist::ProcessGroup("x").barrier({}),
            "barrier: this process is not in group 'x'"),
    REFUSED(Error, dist::ProcessGroup("x").all_reduce(numbers(), dist::ReduceOp::SUM, {}),
            "all_reduce: this process is not in group 'x'"),
    REFUSED(ValueError,
            dist::ZeroRedundancyOptimizer<optim::SGD>(Tensors{leaf()}, optim::SGDOptions(0.1)),
            "Default process group has not been initialized, please make sure to call"),
    REFUSED(ValueError, cost::network("", {}),
            "network: expected one of nvlink, pcie, ib100, ib200, ib400, ib800, eth10,"),
    REFUSED(ValueError, cost::network("warp", {}),
            "network: expected one of nvlink, pcie, ib100, ib200, ib400, ib800, eth10,"),
    REFUSED(ValueError, cost::schedule_of_name("x"),
            "schedule: expected gpipe, 1f1b or interleaved, got 'x'"),
    REFUSED(ValueError, cost::pipeline_actions(cost::Schedule::Interleaved, 9, 2, 3, 0),
            "an interleaved pipeline needs several parts on each device, got 0"),
    REFUSED(ValueError, cost::run_pipeline({}, 0, 0, cost::Schedule::GPipe, nullptr),
            "a pipeline of 0 stages cannot have 0 parts"),
};

TEST(WrongJobs, AreRefused) { check(wrong_distributed); }

}  // namespace
}  // namespace taeda::wrong
