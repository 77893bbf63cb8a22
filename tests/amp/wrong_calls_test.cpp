// AMP in the hands of somebody who errs: dtypes, scales and factors that are none, steps in the
// wrong order.
#include "tests/wrong_calls.h"

#include "taeda/taeda.h"

namespace taeda::wrong {
namespace {

using namespace amp;

using Numbers = OrderedDict<std::string, double>;
GradScaler scaler(double scale = 2, double growth = 2, double backoff = 0.5,
                  int64_t interval = 10) {
  return GradScaler(kCPU, scale, growth, backoff, interval);
}
optim::SGD sgd() {
  Tensor w = ones({2}).requires_grad_();
  w.mutable_grad() = ones({2});
  return optim::SGD({w}, 0.1);
}
Numbers scaler_state(double scale = 2, double growth = 2, double backoff = 0.5,
                     double interval = 10, double tracker = 0) {
  Numbers s;
  s.insert("scale", scale);
  s.insert("growth_factor", growth);
  s.insert("backoff_factor", backoff);
  s.insert("growth_interval", interval);
  s.insert("_growth_tracker", tracker);
  return s;
}
void twice_unscaled() {
  auto s = scaler();
  auto o = sgd();
  s.scale(ones({1}));
  s.unscale_(o);
  s.unscale_(o);
}
void twice_stepped() {
  auto s = scaler();
  auto o = sgd();
  s.scale(ones({1}));
  s.step(o);
  s.step(o);
}
void unscale_after_step() {
  auto s = scaler();
  auto o = sgd();
  s.scale(ones({1}));
  s.step(o);
  s.unscale_(o);
}
void half_grads() {
  auto s = scaler();
  Tensor w = ones({2}, kHalf).requires_grad_();
  w.mutable_grad() = ones({2}, kHalf);
  optim::SGD o({w}, 0.1);
  s.scale(ones({1}));
  s.unscale_(o);
}
void no_grads() {
  auto s = scaler();
  optim::SGD o({ones({2}).requires_grad_()}, 0.1);
  s.scale(ones({1}));
  s.step(o);
}
void not_scaled() {
  auto s = scaler();
  auto o = sgd();
  s.step(o);
}
void upd(std::optional<double> v) {
  auto s = scaler();
  auto o = sgd();
  s.scale(ones({1}));
  s.step(o);
  s.update(v);
}

const std::vector<Row> rows_1 = {
    REFUSED(ValueError, autocast(kCPU, kFloat),
            "autocast on cpu expected the dtype to be Half or BFloat16, but got Float"),
    REFUSED(ValueError, autocast(kCPU, kDouble),
            "autocast on cpu expected the dtype to be Half or BFloat16, but got Double"),
    REFUSED(ValueError, autocast(kCPU, kLong),
            "autocast on cpu expected the dtype to be Half or BFloat16, but got Long"),
    REFUSED(ValueError, autocast(kCPU, kComplexFloat),
            "autocast on cpu expected the dtype to be Half or BFloat16, but got ComplexFloat"),
    REFUSED(ValueError, autocast(kCPU, ScalarType::Undefined),
            "autocast on cpu expected the dtype to be Half or BFloat16, but got Undefined"),
    REFUSED(ValueError, autocast(kCPU, static_cast<ScalarType>(77)),
            "autocast on cpu expected the dtype to be Half or BFloat16, but got Undefined"),
    ACCEPTED(autocast(kCPU, kHalf), "a dtype of its own"),
    ACCEPTED(autocast(Device("sim:99")), "what counts is the type of the device"),
    ACCEPTED(autocast(Device("cuda:99")), "what counts is the type of the device"),
    ACCEPTED(get_autocast_dtype(Device("cuda:99")), "what counts is the type of the device"),
    REFUSED(ValueError, scaler(0), "The scale must be a number above 0, but got 0"),
    REFUSED(ValueError, scaler(-1), "The scale must be a number above 0, but got -1"),
    REFUSED(ValueError, scaler(kNaN), "The scale must be a number above 0, but got nan"),
    REFUSED(ValueError, scaler(HUGE_VAL), "The scale must be a number above 0, but got inf"),
    REFUSED(ValueError, scaler(2, 1), "The growth factor must be > 1.0, but got 1"),
    REFUSED(ValueError, scaler(2, kNaN), "The growth factor must be > 1.0, but got nan"),
    ACCEPTED(scaler(2, HUGE_VAL), "the scale stays where it would leave the range of float32"),
    REFUSED(ValueError, scaler(2, 2, 1), "The backoff factor must be < 1.0, but got 1"),
    REFUSED(ValueError, scaler(2, 2, kNaN), "The backoff factor must be < 1.0, but got nan"),
    REFUSED(ValueError, scaler(2, 2, -1), "The backoff factor must be > 0.0, but got -1"),
    REFUSED(ValueError, scaler(2, 2, 0), "The backoff factor must be > 0.0, but got 0"),
    REFUSED(ValueError, scaler(2, 2, 0.5, 0), "The growth interval must be positive, but got 0"),
    REFUSED(ValueError, scaler(2, 2, 0.5, -3), "The growth interval must be positive, but got -3"),
    ACCEPTED(GradScaler(Device("cuda:99")), "the device is used when something is scaled"),
    REFUSED(
        Error, scaler().scale(Tensor()),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    ACCEPTED(scaler().scale(ones({1}, kLong)), "PyTorch accepts it"),
    ACCEPTED(scaler().scale(std::vector<Tensor>{}), "PyTorch accepts it"),
    REFUSED(
        Error, scaler().scale(std::vector<Tensor>{Tensor()}),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(
        Error, scaler().update(),
        "Attempted update but _scale is None.  This may indicate your script did not use scaler"),
    REFUSED(
        Error, scaler().update(kNaN),
        "Attempted update but _scale is None.  This may indicate your script did not use scaler"),
    REFUSED(
        Error, scaler().update(0.0),
        "Attempted update but _scale is None.  This may indicate your script did not use scaler"),
    REFUSED(
        Error, scaler().update(-2.0),
        "Attempted update but _scale is None.  This may indicate your script did not use scaler"),
    REFUSED(ValueError, upd(kNaN), "The scale must be a number above 0, but got nan"),
    REFUSED(ValueError, upd(0.0), "The scale must be a number above 0, but got 0"),
    REFUSED(ValueError, upd(-1.0), "The scale must be a number above 0, but got -1"),
    REFUSED(ValueError, upd(HUGE_VAL), "The scale must be a number above 0, but got inf"),
    ACCEPTED(upd({}), "nothing is wrong with it"),
    ACCEPTED(scaler().set_growth_factor(0.5), "PyTorch accepts it; update() refuses it"),
    ACCEPTED(scaler().set_growth_factor(kNaN), "PyTorch accepts it; update() refuses it"),
    ACCEPTED(scaler().set_backoff_factor(2), "PyTorch accepts it; update() refuses it"),
    ACCEPTED(scaler().set_backoff_factor(kNaN), "PyTorch accepts it; update() refuses it"),
    ACCEPTED(scaler().set_backoff_factor(-1), "PyTorch accepts it; update() refuses it"),
    ACCEPTED(scaler().set_growth_interval(0), "PyTorch accepts it; update() refuses it"),
    ACCEPTED(scaler().set_growth_interval(-1), "PyTorch accepts it; update() refuses it"),
    REFUSED(Error, twice_unscaled(),
            "unscale_() has already been called on this optimizer since the last update()."),
    REFUSED(Error, twice_stepped(), "step() has already been called since the last update()."),
    REFUSED(Error, unscale_after_step(), "unscale_() is being called after step()."),
    REFUSED(ValueError, half_grads(), "Attempting to unscale FP16 gradients."),
    REFUSED(Error, no_grads(), "No inf checks were recorded for this optimizer."),
    REFUSED(
        Error, not_scaled(),
        "Attempted step but _scale is None.  This may indicate your script did not use scaler.s"),
    REFUSED(
        Error, scaler().load_state_dict({}),
        "The source state dict is empty, possibly because it was saved from a disabled instance"),
    REFUSED(Error, scaler().load_state_dict(Numbers{{"scale", 2.0}}),
            "the state of a GradScaler lacks \"growth_factor\""),
    REFUSED(ValueError, scaler().load_state_dict(scaler_state(kNaN)),
            "The scale must be a number above 0, but got nan"),
    REFUSED(ValueError, scaler().load_state_dict(scaler_state(0)),
            "The scale must be a number above 0, but got 0"),
    REFUSED(ValueError, scaler().load_state_dict(scaler_state(-2)),
            "The scale must be a number above 0, but got -2"),
    REFUSED(ValueError, scaler().load_state_dict(scaler_state(2, 0.5)),
            "The growth factor must be > 1.0, but got 0.5"),
    REFUSED(ValueError, scaler().load_state_dict(scaler_state(2, kNaN)),
            "The growth factor must be > 1.0, but got nan"),
    REFUSED(ValueError, scaler().load_state_dict(scaler_state(2, 2, 3)),
            "The backoff factor must be < 1.0, but got 3"),
    REFUSED(ValueError, scaler().load_state_dict(scaler_state(2, 2, 0.5, 0)),
            "The growth interval must be positive, but got 0"),
    REFUSED(ValueError, scaler().load_state_dict(scaler_state(2, 2, 0.5, kNaN)),
            "the state of a GradScaler has nan as \"growth_interval\", which is no count"),
};

const std::vector<Row> rows_2 = {
    REFUSED(ValueError, scaler().load_state_dict(scaler_state(2, 2, 0.5, 1e300)),
            "the state of a GradScaler has 1e+300 as \"growth_interval\", which is no count"),
    REFUSED(ValueError, scaler().load_state_dict(scaler_state(2, 2, 0.5, 2, -1)),
            "the state of a GradScaler has -1 as \"_growth_tracker\", which is no count"),
    REFUSED(ValueError, scaler().load_state_dict(scaler_state(2, 2, 0.5, 2, kNaN)),
            "the state of a GradScaler has nan as \"_growth_tracker\", which is no count"),
};

TEST(WrongCallsOfAmp, AreRefused) {
  check(rows_1);
  check(rows_2);
}

}  // namespace
}  // namespace taeda::wrong
