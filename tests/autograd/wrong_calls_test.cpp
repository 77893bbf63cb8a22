// Backward passes, hooks and devices that cannot be: one row a mistake.
#include "tests/wrong_calls.h"

#include "taeda/autograd/engine.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"

namespace taeda::wrong {
namespace {

Tensor weight() { return rand({2}).requires_grad_(); }

const std::vector<Row> wrong_passes = {
    REFUSED(
        Error, weight().backward(),
        "grad can be implicitly created only for scalar outputs, but got an output of shape [2]"),
    REFUSED(Error, rand({2}).backward(),
            "element 0 of tensors does not require grad and does not have a grad_fn"),
    REFUSED(Error, tensor(1.0f).backward(),
            "element 0 of tensors does not require grad and does not have a grad_fn"),
    REFUSED(Error, Tensor().backward(),
            "element 0 of tensors does not require grad and does not have a grad_fn"),
    REFUSED(
        Error, (weight() * 2).backward(),
        "grad can be implicitly created only for scalar outputs, but got an output of shape [2]"),
    REFUSED(Error, (weight() * 2).backward(rand({3})),
            "Mismatch in shape: grad_output has a shape of [3] and output has a shape of [2]."),
    ACCEPTED((weight() * 2).backward(ones({2}, kLong)), "PyTorch accepts it"),
    ACCEPTED((weight() * 2).backward(ones({2}, kDouble)), "PyTorch accepts it"),
    REFUSED(Error, (weight() * 2).backward(ones({2}, Device("sim:0"))),
            "Function MulBackward0 returned an invalid gradient at index 0 - expected device cpu "
            "but"),
    REFUSED(
        Error,
        [] {
          Tensor y = (weight() * 2).exp().sum();
          y.backward();
          y.backward();
        }(),
        "Trying to backward through the graph a second time (or directly access saved tensors"),
    REFUSED(
        Error,
        [] {
          Tensor w = weight();
          w.add_(1);
        }(),
        "a leaf Variable that requires grad is being used in an in-place operation. (in add_)"),
    REFUSED(
        Error,
        [] {
          Tensor w = weight();
          Tensor y = w.exp();
          y.add_(1);
          y.sum().backward();
        }(),
        "one of the variables needed for gradient computation has been modified by an inplace"),
    REFUSED(
        Error,
        [] {
          Tensor w = weight();
          w.mutable_grad() = rand({3});
          (w * 2).sum().backward();
        }(),
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension "
        "0"),
    REFUSED(Error, ones({2}, kLong).requires_grad_(),
            "only Tensors of floating point and complex dtype can require gradients, but got Long"),
    REFUSED(Error, (weight() * 2).requires_grad_(false),
            "you can only change requires_grad flags of leaf variables. If you want to use a "
            "computed"),
    REFUSED(Error, weight().detach_().register_hook([](const Tensor& g) { return g; }),
            "cannot register a hook on a variable that doesn't require gradient"),
    REFUSED(Error, rand({2}).register_hook([](const Tensor& g) { return g; }),
            "cannot register a hook on a variable that doesn't require gradient"),
    REFUSED(ValueError, weight().register_hook(std::function<Tensor(const Tensor&)>()),
            "register_hook: a hook must be something to call, but got an empty function"),
    REFUSED(Error, weight().remove_hook(123456789), "Invalid index, no hook at position 123456789"),
    REFUSED(
        Error,
        [] {
          Tensor w = weight();
          w.register_hook([](const Tensor&) { return rand({5}); });
          w.sum().backward();
        }(),
        "hook has changed the size of value: [2] became [5] (at AccumulateGrad)"),
    REFUSED(Error, autograd::grad({weight().sum()}, {}),
            "`inputs` argument to `grad()` cannot be empty."),
    REFUSED(Error, autograd::grad({}, {weight()}),
            "The differentiated Tensor at index 0 appears to not have been used in the graph."),
    REFUSED(Error, autograd::grad({weight().sum()}, {weight()}),
            "The differentiated Tensor at index 0 appears to not have been used in the graph."),
    REFUSED(Error, autograd::grad({weight().sum()}, {rand({2})}),
            "One of the differentiated Tensors does not require grad"),
    REFUSED(Error, autograd::grad({Tensor()}, {weight()}),
            "element 0 of tensors does not require grad and does not have a grad_fn"),
    REFUSED(Error, autograd::grad({weight().sum()}, {Tensor()}),
            "One of the differentiated Tensors does not require grad"),
    REFUSED(
        Error, autograd::grad({weight()}, {weight()}),
        "grad can be implicitly created only for scalar outputs, but got an output of shape [2]"),
    REFUSED(Error, autograd::grad({weight() * 2}, {weight()}, {rand({3})}),
            "Mismatch in shape: grad_output has a shape of [3] and output has a shape of [2]."),
    REFUSED(Error, autograd::backward({weight().sum()}, {rand({2}), rand({2})}),
            "got 1 tensors and 2 gradients"),
    REFUSED(Error, autograd::backward({rand({2})}),
            "element 0 of tensors does not require grad and does not have a grad_fn"),
    REFUSED(Error, Device("gpu"),
            "Expected one of cpu, cuda, sim, meta device type at start of device string: gpu (no "
            "plug-in"),
    REFUSED(Error, Device(""), "Device string must not be empty"),
    REFUSED(Error, Device("cuda:-1"), "Invalid device string: 'cuda:-1'"),
    REFUSED(Error, Device("cuda:x"), "Invalid device string: 'cuda:x'"),
    REFUSED(Error, Device("cuda:"), "Invalid device string: 'cuda:'"),
    REFUSED(Error, Device("cpu:128"), "Invalid device string: 'cpu:128'"),
    REFUSED(Error, Device("sim:99999"), "Invalid device string: 'sim:99999'"),
    REFUSED(Error, Device(kSim, 256), "Device index must be below 128, got 256"),
    REFUSED(Error, Device(kSim, -5), "Device index must be -1 or non-negative, got -5"),
    REFUSED(Error, rand({2}).to(Device("sim:100")),
            "invalid device ordinal: sim:100 was asked for"),
    REFUSED(Error, zeros({2}, Device("sim:55")), "invalid device ordinal: sim:55 was asked for"),
};

TEST(WrongCallsOfAutograd, AreRefused) { check(wrong_passes); }

}  // namespace
}  // namespace taeda::wrong
