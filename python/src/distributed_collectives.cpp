#include <pybind11/chrono.h>

#include "distributed.h"
#include "taeda/base/error.h"
#include "taeda/distributed/group/collectives.h"
#include "taeda/distributed/group/texts.h"
#include "waiting.h"

namespace taeda::python {

namespace {

namespace dist = distributed;
using dist::ProcessGroupPtr;
using dist::ReduceOp;
using dist::WorkPtr;
using Tensors = std::vector<Tensor>;
using Splits = std::vector<int64_t>;

/// Calls start() without the GIL.
template <class F>
WorkPtr run(F&& start) {
  const ReleaseGil released;
  return start();
}

/// Python's programs have no place in C++.
constexpr dist::Site kNowhere{};

void add_to_all(py::module_& m) {
  m.def("broadcast", [](const Tensor& t, int src, const ProcessGroupPtr& group, bool async_op) {
    return run([&] { return dist::broadcast(t, src, group, async_op, kNowhere); });
  });
  m.def("all_reduce",
        [](const Tensor& t, ReduceOp op, const ProcessGroupPtr& group, bool async_op) {
          return run([&] { return dist::all_reduce(t, op, group, async_op, kNowhere); });
        });
  m.def("reduce",
        [](const Tensor& t, int dst, ReduceOp op, const ProcessGroupPtr& group, bool async_op) {
          return run([&] { return dist::reduce(t, dst, op, group, async_op, kNowhere); });
        });
  m.def("all_gather",
        [](const Tensors& list, const Tensor& t, const ProcessGroupPtr& group, bool async_op) {
          return run([&] { return dist::all_gather(list, t, group, async_op, kNowhere); });
        });
  m.def("all_gather_into_tensor", [](const Tensor& out, const Tensor& in,
                                     const ProcessGroupPtr& group, bool async_op) {
    return run([&] { return dist::all_gather_into_tensor(out, in, group, async_op, kNowhere); });
  });
  m.def("barrier", [](const ProcessGroupPtr& group, bool async_op) {
    return run([&] { return dist::barrier(group, async_op, kNowhere); });
  });
  m.def("monitored_barrier", [](const ProcessGroupPtr& group,
                                std::optional<std::chrono::milliseconds> timeout, bool all) {
    interruptibly([=] { dist::monitored_barrier(group, timeout, all, kNowhere); });
  });
}

void add_in_parts(py::module_& m) {
  m.def("gather", [](const Tensor& t, const Tensors& list, int dst, const ProcessGroupPtr& group,
                     bool async_op) {
    return run([&] { return dist::gather(t, list, dst, group, async_op, kNowhere); });
  });
  m.def("scatter", [](const Tensor& t, const Tensors& list, int src, const ProcessGroupPtr& group,
                      bool async_op) {
    return run([&] { return dist::scatter(t, list, src, group, async_op, kNowhere); });
  });
  m.def("reduce_scatter", [](const Tensor& out, const Tensors& list, ReduceOp op,
                             const ProcessGroupPtr& group, bool async_op) {
    return run([&] { return dist::reduce_scatter(out, list, op, group, async_op, kNowhere); });
  });
  m.def("reduce_scatter_tensor", [](const Tensor& out, const Tensor& in, ReduceOp op,
                                    const ProcessGroupPtr& group, bool async_op) {
    return run([&] { return dist::reduce_scatter_tensor(out, in, op, group, async_op, kNowhere); });
  });
  m.def("all_to_all",
        [](const Tensors& out, const Tensors& in, const ProcessGroupPtr& group, bool async_op) {
          return run([&] { return dist::all_to_all(out, in, group, async_op, kNowhere); });
        });
  m.def("all_to_all_single", [](const Tensor& out, const Tensor& in, const Splits& out_splits,
                                const Splits& in_splits, const ProcessGroupPtr& group,
                                bool async_op) {
    return run([&] {
      return dist::all_to_all_single(out, in, out_splits, in_splits, group, async_op, kNowhere);
    });
  });
}

void add_messages(py::module_& m) {
  m.def("isend", [](const Tensor& t, int dst, const ProcessGroupPtr& group, int64_t tag) {
    const ReleaseGil released;
    return dist::isend(t, dst, group, tag, kNowhere);
  });
  m.def("irecv",
        [](const Tensor& t, std::optional<int> src, const ProcessGroupPtr& group, int64_t tag) {
          const ReleaseGil released;
          return dist::irecv(t, src, group, tag, kNowhere);
        });
}

std::vector<py::bytes> as_bytes(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

// What objects travel as: bytes that Python makes of them.
void add_texts(py::module_& m) {
  m.def("all_gather_bytes", [](const std::string& text, const ProcessGroupPtr& group) {
    return as_bytes(
        interruptibly([=] { return dist::detail::all_gather_texts(text, group, kNowhere); }));
  });
  m.def("gather_bytes", [](const std::string& text, int dst, const ProcessGroupPtr& group) {
    return as_bytes(
        interruptibly([=] { return dist::detail::gather_texts(text, dst, group, kNowhere); }));
  });
  m.def("broadcast_bytes",
        [](const std::vector<std::string>& texts, int src, const ProcessGroupPtr& group) {
          return as_bytes(interruptibly(
              [=] { return dist::detail::broadcast_texts(texts, src, group, kNowhere); }));
        });
  m.def("scatter_bytes",
        [](const std::vector<std::string>& texts, int src, const ProcessGroupPtr& group) {
          return py::bytes(interruptibly(
              [=] { return dist::detail::scatter_text(texts, src, group, kNowhere); }));
        });
}

}  // namespace

void add_collectives(py::module_& m) {
  add_to_all(m);
  add_in_parts(m);
  add_messages(m);
  add_texts(m);
}

}  // namespace taeda::python
