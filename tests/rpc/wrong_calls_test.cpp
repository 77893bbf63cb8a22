// Workers, references and futures that are asked for what they cannot give.
#include "tests/wrong_calls.h"

#include "taeda/ops/create/create.h"
#include "taeda/rpc/rpc.h"
#include "taeda/rpc/rref.h"

namespace taeda::wrong {
namespace {

namespace rpc = distributed::rpc;

const std::vector<Row> wrong_remote_calls = {
    REFUSED(Error, rpc::shutdown(), "RPC has not been initialized. Call rpc::init_rpc(...) first."),
    REFUSED(Error, rpc::get_worker_info(),
            "RPC has not been initialized. Call rpc::init_rpc(...) first."),
    REFUSED(Error, rpc::get_worker_infos(),
            "RPC has not been initialized. Call rpc::init_rpc(...) first."),
    REFUSED(Error, rpc::RRef<Tensor>(ones({4})),
            "RPC has not been initialized. Call rpc::init_rpc(...) first."),
    REFUSED(Error, rpc::RRef<Tensor>().owner(), "an empty RRef was used"),
    REFUSED(Error, rpc::RRef<Tensor>().local_value(), "an empty RRef was used"),
    REFUSED(Error, rpc::RRef<Tensor>().to_here(), "an empty RRef was used"),
    REFUSED(Error, rpc::rpc_sync<Tensor>("nobody", std::string("f")),
            "RPC has not been initialized. Call rpc::init_rpc(...) first."),
    REFUSED(ValueError, rpc::Future<int>(std::shared_ptr<rpc::detail::FutureState>()).wait(),
            "a Future needs a state, but got a null pointer"),
    REFUSED(
        ValueError,
        [] {
          rpc::Future<int> f;
          f.set_result(1);
          f.set_result(2);
          f.set_exception(nullptr);
          return f.wait();
        }(),
        "set_exception: expected an exception, but got a null pointer"),
    REFUSED(
        ValueError,
        [] {
          rpc::Future<int> f;
          f.set_exception(nullptr);
          return f.wait();
        }(),
        "set_exception: expected an exception, but got a null pointer"),
    REFUSED(
        ValueError,
        [] {
          rpc::Future<int> f;
          auto g = f.then(std::function<int(const rpc::Future<int>&)>());
          f.set_result(1);
          return g.wait();
        }(),
        "a Future's callback must be something to call"),
    REFUSED(
        Error,
        [] {
          rpc::Future<int> f;
          f.add_done_callback([](const rpc::Future<int>&) { throw Error("no"); });
          f.set_result(1);
          return f.wait();
        }(),
        "no"),
};

TEST(WrongRemoteCalls, AreRefused) { check(wrong_remote_calls); }

}  // namespace
}  // namespace taeda::wrong
