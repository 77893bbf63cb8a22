// Everything that knows types of devices knows one that a plug-in brought; what cannot be used is
// refused with its reason. Prints "ok".
#include <taeda/device/plugin.h>
#include <taeda/taeda.h>

#include <cmath>
#include <iostream>
#include <sstream>

namespace {

using namespace taeda;

int failures = 0;

void expect(bool good, const std::string& what) {
  if (good) return;
  ++failures;
  std::cout << "failed: " << what << "\n";
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

void expect_error(const std::string& got, const std::string& part) {
  expect(got.find(part) != std::string::npos, "expected '" + part + "' in '" + got + "'");
}

Tensor values_of(const Tensor& t) { return t.cpu().to(kDouble); }
bool same(const Tensor& a, const Tensor& b) { return values_of(a).equal(values_of(b)); }

void check_names() {
  const Device toy("toy:1");
  expect(toy.str() == "toy:1" && toy.repr() == "device(type='toy', index=1)", "names");
  expect(!toy.is_cpu() && !toy.is_cuda() && !toy.is_sim(), "kinds");
  expect(std::hash<Device>()(toy) != std::hash<Device>()(Device("sim:1")), "hash");
  expect(Device("toy").type() == toy.type(), "one number for a type");
  const Tensor t = full({2}, 3.0, TensorOptions("toy:1").dtype(kHalf));
  expect(t.repr().find("device='toy:1'") != std::string::npos, "printing: " + t.repr());
  expect(t.toString() == "ToyHalfType", t.toString());
  expect_error(error_of([] { Device("toy:x"); }), "Invalid device string: 'toy:x'");
  expect_error(error_of([] { zeros({1}, Device("toy:7")); }), "invalid device ordinal: toy:7");
  expect_error(error_of([] { Device("gpu"); }), "Expected one of cpu, cuda, sim, meta, toy");
  const Device device(toy.type(), 0);
  expect_error(error_of([&] { ones({2}, device).cumsum(0); }), "'toy'");
  expect(accelerator::preferred_type() == toy.type(), "preferred before simulated devices");
  expect(ones({2}).pin_memory().is_pinned(), "pinned memory");
}

void check_random_state() {
  const Device toy("toy:0");
  manual_seed(5);
  const Tensor a = rand({8}, toy);
  manual_seed(5);
  expect(same(a, rand({8}, toy)), "manual_seed");
  const auto saved = io::RandomState().state_dict();
  expect(saved.contains("toy:0") && saved.contains("toy:1"), "the random state names the device");
  const Tensor b = rand({8}, toy);
  io::RandomState().load_state_dict(saved);
  expect(same(b, rand({8}, toy)), "a resumed run draws the same numbers");
}

void check_checkpoint() {
  const Device toy("toy:0");
  const Tensor x = ones({64}, toy).requires_grad_();
  Tensor first;
  const auto drop = [&](const Tensor& t) {
    const Tensor out = nn::functional::dropout(t, {.p = 0.5});
    if (!first.defined()) first = out.detach();
    return out;
  };
  utils::checkpoint::checkpoint(drop, x).sum().backward();
  expect(same(x.grad(), first), "a checkpointed dropout drops the same elements again");
}

void check_mixed_precision() {
  const Device toy("toy:0");
  const Tensor a = ones({4, 4}, toy);
  expect(amp::get_autocast_dtype(toy) == kBFloat16, "the type's lower precision");
  {
    const amp::autocast autocast(toy);
    expect(amp::is_autocast_enabled(toy) && !amp::is_autocast_enabled(Device("cuda")), "enabled");
    expect(mm(a, a).dtype() == kBFloat16, "autocast");
    const amp::autocast half(toy, kHalf);
    expect(mm(a, a).dtype() == kHalf, "autocast to a dtype of the program's choice");
  }
  nn::Linear model(4, 1);
  model->to(toy);
  optim::SGD sgd(model->parameters(), optim::SGDOptions(0.1));
  amp::GradScaler scaler(toy);
  scaler.scale(model(a).sum()).backward();
  scaler.step(sgd, model->named_parameters());
  scaler.update();
  expect(scaler.get_scale() == 65536, "the scaler");
}

void check_memory_and_streams() {
  const Device toy("toy:0");
  const int64_t before = allocator::memory_stats(toy).allocated;
  const Tensor t = zeros({1024, 1024}, toy);
  expect(allocator::memory_stats(toy).allocated == before + (int64_t{4} << 20), "memory_stats");
  expect_error(error_of([&] { zeros({int64_t{1} << 30}, toy); }), "TOY out of memory");
  const StreamGuard guard(new_stream(toy));
  expect(current_stream(toy).id() != 0, "streams");
  Event event(true);
  event.record(current_stream(toy));
  expect(event.query(), "events");
  std::ostringstream table;
  {
    profiler::profile p(profiler::ProfileOptions{.profile_memory = true});
    p.start();
    relu(t);
    p.stop();
    table << p.key_averages().table();
  }
  expect(table.str().find("relu") != std::string::npos, "the profiler");
}

void check_several_devices() {
  nn::Sequential net(nn::Linear(4, 8), nn::ReLU(), nn::Linear(8, 2));
  const Tensor x = randn({6, 4});
  const Tensor want = net->forward(x);
  net->to(Device("toy:0"));
  nn::DataParallel parallel(net);
  const Tensor got = parallel->forward(x.to("toy:0"));
  expect(got.device() == Device("toy:0") &&
             (values_of(got) - values_of(want)).abs().max().item<double>() < 1e-6,
         "DataParallel");
}

void check_refusals() {
  const auto reason = [](const char* name) {
    return error_of([&] { Device(name + std::string(":0")); });
  };
  expect_error(reason("nowhere"), "no plug-in libtaeda_nowhere.so was found in /");
  expect_error(reason("silent"),
               "libtaeda_silent.so is no plug-in of Taeda: it exports no taeda_plugin");
  expect_error(reason("older"),
               "was built for the ABI 'taeda 0.0, of the past', but this is 'taeda 0.2");
  expect_error(reason("other"), "is no plug-in of Taeda: its taeda_plugin begins like none");
  expect_error(reason("taken"), "calls its type of device 'sim', a name that is already taken");
  expect_error(reason("misnamed"), "calls its type of device 'something', unlike its file");
  expect_error(reason("torn"), "libtaeda_torn.so could not be loaded: ");
  expect(reason("../toy").find("plug-in") == std::string::npos, "a name is no path");
  expect(Device("lazy").str() == "lazy", "a type is known before its backend starts");
  expect_error(error_of([] { zeros({1}, Device("lazy")); }),
               "no lazy device is available: its plug-in did not start: the hardware is asleep");
  expect(load_plugins().size() >= 6, "load_plugins tells what it could not use");
}

}  // namespace

int main() {
  try {
    check_names();
    check_random_state();
    check_checkpoint();
    check_mixed_precision();
    check_memory_and_streams();
    check_several_devices();
    check_refusals();
  } catch (const std::exception& e) {
    expect(false, e.what());
  }
  if (failures == 0) std::cout << "ok\n";
  return failures;
}
