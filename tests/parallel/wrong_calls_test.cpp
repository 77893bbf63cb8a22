// DataParallel and Pipe with devices, modules and batches that are not there or do not fit.
#include "tests/wrong_calls.h"

#include "taeda/device/sim.h"
#include "taeda/taeda.h"

namespace taeda::wrong {
namespace {

using namespace nn;
using namespace nn::parallel;

const Device s0("sim:0"), s1("sim:1");
std::vector<Device> two() { return {s0, s1}; }
Linear on(Device d) {
  Linear l(2, 2);
  l->to(d);
  return l;
}

const std::vector<Row> rows_1 = {
    REFUSED(Error, scatter_tensor(ones({4}), {}), "scatter: expected at least one device"),
    REFUSED(
        Error, scatter_tensor(Tensor(), two()),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(Error, scatter_tensor(tensor(1), two()),
            "chunk expects at least a 1-dimensional tensor"),
    REFUSED(IndexError, scatter_tensor(ones({4}), two(), 1),
            "Dimension out of range (expected to be in range of [-1, 0], but got 1)"),
    REFUSED(IndexError, scatter_tensor(ones({4}), two(), -2),
            "Dimension out of range (expected to be in range of [-1, 0], but got -2)"),
    ACCEPTED(scatter_tensor(ones({0}), two()), "PyTorch accepts it"),
    REFUSED(Error, scatter_tensor(ones({4}), {Device("sim:99")}),
            "invalid device ordinal: sim:99 was asked for"),
    REFUSED(Error, gather_tensors({}, s0), "gather: expected at least one tensor"),
    REFUSED(
        Error, gather_tensors({Tensor()}, s0),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(Error, gather_tensors({ones({2, 2}), ones({2, 3})}, s0),
            "Input tensor at index 1 has invalid shape [2, 3], but expected [2, 2]"),
    ACCEPTED(gather_tensors({ones({2}), ones({2}, kLong)}, s0), "dtypes are promoted, as in cat"),
    ACCEPTED(gather_tensors({ones({2}), tensor(1.0f)}, s0), "scalars become entries"),
    REFUSED(IndexError, gather_tensors({ones({2})}, s0, 3),
            "Dimension out of range (expected to be in range of [-1, 0], but got 3)"),
    REFUSED(Error, gather_tensors({ones({2})}, Device("sim:99")),
            "invalid device ordinal: sim:99 was asked for"),
    ACCEPTED(reduce_add({}, s0), "a sum of nothing is undefined"),
    REFUSED(
        Error, reduce_add({ones({2}), ones({3})}, s0),
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimensio"),
    ACCEPTED(reduce_add({Tensor()}, s0), "undefined tensors count as zero"),
    ACCEPTED(reduce_add({ones({2}), ones({2}, kLong)}, s0), "dtypes are promoted"),
    REFUSED(Error, DataParallel(Linear(2, 2), {"sim:99"}),
            "invalid device ordinal: sim:99 was asked for"),
    ACCEPTED(DataParallel(Linear(2, 2), {99}),
             "without CUDA the module itself is called, as in PyTorch"),
    ACCEPTED(DataParallel(Linear(2, 2), {-1}),
             "without CUDA the module itself is called, as in PyTorch"),
    REFUSED(
        Error, DataParallel(Linear(2, 2), {"nothing:0"}),
        "Expected one of cpu, cuda, sim, meta device type at start of device string: nothing:0"),
    ACCEPTED(DataParallel(Linear(2, 2), {s0, s0}), "PyTorch accepts it"),
    REFUSED(Error, DataParallel(on(s0), {s0, s1}, DeviceId("sim:99")),
            "invalid device ordinal: sim:99 was asked for"),
    REFUSED(ValueError, DataParallel<LinearImpl>(std::shared_ptr<LinearImpl>()),
            "DataParallel expects a module, but got a null pointer"),
    REFUSED(Error, DataParallel(Linear(nullptr)), "Accessing empty ModuleHolder"),
    REFUSED(
        Error, DataParallel(Linear(2, 2), {s0, s1})->forward(ones({4, 2})),
        "module must have its parameters and buffers on device sim:0 (device_ids[0]) but found"),
    REFUSED(
        Error, DataParallel(on(s1), {s0, s1})->forward(ones({4, 2})),
        "module must have its parameters and buffers on device sim:0 (device_ids[0]) but found"),
    REFUSED(Error, DataParallel(on(s0), {s0, s1})->forward(ones({4, 3})),
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x2)"),
    REFUSED(
        Error, DataParallel(on(s0), {s0, s1})->forward(Tensor()),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    ACCEPTED(DataParallel(on(s0), {s0, s1})->forward(ones({0, 2})), "PyTorch accepts it"),
    REFUSED(IndexError, DataParallel(on(s0), {s0, s1}, {}, 7)->forward(ones({4, 2})),
            "Dimension out of range (expected to be in range of [-2, 1], but got 7)"),
    REFUSED(Error, DataParallel(on(s0), {s0, s1})->forward(tensor(1)),
            "chunk expects at least a 1-dimensional tensor"),
    REFUSED(Error, data_parallel(on(s0), ones({4, 2}), {"sim:99"}),
            "invalid device ordinal: sim:99 was asked for"),
    REFUSED(Error, data_parallel(Linear(nullptr), ones({4, 2}), {s0}),
            "Accessing empty ModuleHolder"),
    REFUSED(
        Error, data_parallel(on(s0), Tensor(), {s0, s1}),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(Error, replicate(on(s0).ptr(), {}), "replicate: expected at least one device"),
    REFUSED(Error, replicate(std::shared_ptr<LinearImpl>(), two()),
            "replicate: expected a module, got nullptr"),
    REFUSED(Error, replicate(on(s0).ptr(), {Device("sim:99")}),
            "invalid device ordinal: sim:99 was asked for"),
    ACCEPTED(parallel_apply(std::vector<std::shared_ptr<LinearImpl>>{},
                            std::vector<std::tuple<Tensor>>{}, {}),
             "nothing is called"),
    REFUSED(Error, parallel_apply(std::vector{on(s0).ptr()}, std::vector<std::tuple<Tensor>>{}, {}),
            "The number of modules 1 is not equal to the number of inputs 0"),
    ACCEPTED(Pipe(Sequential(), 1), "PyTorch accepts it"),
    REFUSED(Error, Pipe(Sequential(nullptr), 1), "Accessing empty ModuleHolder"),
    REFUSED(ValueError, Pipe(Sequential(Linear(2, 2)), 0),
            "number of chunks must be positive integer"),
    REFUSED(ValueError, Pipe(Sequential(Linear(2, 2)), -1),
            "number of chunks must be positive integer"),
    REFUSED(ValueError, Pipe(Sequential(Linear(2, 2)), 1, "nothing"),
            "checkpoint is not one of 'always', 'except_last', or 'never'"),
    REFUSED(
        Error, Pipe(Sequential(Linear(2, 2)), 2)->forward(Tensor()),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(Error, Pipe(Sequential(Linear(2, 2)), 2)->forward(tensor(1)),
            "chunk expects at least a 1-dimensional tensor"),
    REFUSED(Error, Pipe(Sequential(Linear(2, 2)), 2)->forward(ones({4, 3})),
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x2)"),
    ACCEPTED(Pipe(Sequential(Linear(2, 2)), 2)->forward(ones({0, 2})), "PyTorch accepts it"),
    REFUSED(ValueError, Pipe(Sequential(Linear(2, 2)), 2)->forward(ones({4, 2}, s0)),
            "All inputs should be on the same device as the first partition"),
    REFUSED(TypeError, Pipe(Sequential(Linear(2, 2)), 2)->forward(ones({4, 2}), ones({3, 2})),
            "Linear's forward() method expects 1 argument(s), but received 2."),
    REFUSED(Error, Pipe(Sequential(Linear(2, 2)), 2)->report(),
            "Pipe: there is no report before the first step"),
    REFUSED(IndexError, (*Pipe(Sequential(Linear(2, 2)), 2))[5], "Index out of range"),
    REFUSED(TypeError, Pipe(Sequential(Linear(2, 2)), 2)->cuda(),
            "denied to move parameters and buffers, because Pipe should manage device placement"),
    REFUSED(TypeError, Pipe(Sequential(Linear(2, 2)), 2)->cpu(),
            "denied to move parameters and buffers, because Pipe should manage device placement"),
    REFUSED(TypeError, Pipe(Sequential(Linear(2, 2)), 2)->to(s0),
            "denied to move parameters and buffers, because Pipe should manage device placement"),
    REFUSED(ValueError,
            Pipe(Sequential(Linear(2, 2)), 2)
                ->train_step(ones({4, 2}), ones({3}),
                             [](const Tensor& y, const Tensor&) { return y.sum(); }),
            "Expected input batch_size (4) to match target batch_size (3)."),
    REFUSED(
        Error,
        Pipe(Sequential(Linear(2, 2)), 2)
            ->train_step(ones({4, 2}), Tensor(),
                         [](const Tensor& y, const Tensor&) { return y.sum(); }),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(ValueError,
            Pipe(Sequential(Linear(2, 2)), 2)->train_step(ones({4, 2}), ones({4}), nullptr),
            "Pipe: train_step expected a loss function, but got an empty one"),
    REFUSED(
        Error,
        Pipe(Sequential(Linear(2, 2)), 2)
            ->train_step(ones({4, 2}), ones({4}), [](const Tensor& y, const Tensor&) { return y; }),
        "expected the loss to be a scalar, but it has shape [2, 2]"),
};

const std::vector<Row> rows_2 = {
    REFUSED(Error,
            Pipe(Sequential(Linear(2, 2)), 2)
                ->train_step(ones({4, 2}), ones({4}),
                             [](const Tensor&, const Tensor&) { return Tensor(); }),
            "expected the loss to be a scalar, but it is undefined"),
    REFUSED(ValueError,
            Pipe(Sequential(Linear(2, 2)), 2)
                ->train_step(
                    ones({4, 2}), ones({4}), [](const Tensor& y, const Tensor&) { return y.sum(); },
                    Reduction::None),
            "Pipe: train_step expected reduction Mean or Sum"),
    REFUSED(Error, WithDevice(AnyModule(), s0), "Cannot call ptr() on an empty AnyModule"),
    ACCEPTED(WithDevice(AnyModule(Linear(2, 2)), Device("sim:99")),
             "the device is used by the Pipe that it becomes part of"),
    REFUSED(
        ValueError,
        [] {
          Linear l(2, 2);
          Pipe(Sequential(l, l), 2);
        }(),
        "module with duplicate children is not supported"),
};

TEST(WrongCallsOfParallel, AreRefused) {
  check(rows_1);
  check(rows_2);
}

}  // namespace
}  // namespace taeda::wrong
