#include "tests/distributed/faults/job.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <thread>

#include "taeda/base/error.h"
#include "taeda/distributed/store/tcp_store.h"
#include "taeda/io/checkpoint.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "tests/distributed/faults/acts.h"
#include "tests/distributed/group/meeting_place.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using distributed::ProcessGroup;
using distributed::ReduceOp;
using distributed::WorkPtr;

constexpr int kSteps = 4, kFaultyStep = 2;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// The model: a number for each case, whole and small, so that every sum is exact.
using State = std::vector<float>;

float contribution(float state, int rank, int step) {
  return state + static_cast<float>((rank + 1) * (step + 1));
}

float next_state(float state, const std::vector<float>& parts) {
  for (const float part : parts) state += part;
  return std::fmod(state, 1021.f);
}

/// What rank `rank` does in a step.
Act act_at(int step, int rank) { return step == kFaultyStep ? act_of(rank) : Act(); }

std::string to_line(const State& state) {
  std::string out = "state";
  for (const float s : state) out += std::isnan(s) ? " nan" : ' ' + std::to_string(std::lround(s));
  return out;
}

/// Where the ranks meet: TAEDA_TEST_PORT of a server, or else a file.
distributed::StorePtr store_of_job() {
  const std::string port = variable("TAEDA_TEST_PORT");
  if (port.empty()) return common_store();
  distributed::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(std::stoi(port));
  options.is_master = variable("TAEDA_TEST_MASTER") == variable("RANK");
  const std::string host = variable("TAEDA_TEST_HOST");
  return std::make_shared<distributed::TCPStore>(host.empty() ? "localhost" : host, options);
}

/// One rank's part.
class FaultJob {
 public:
  FaultJob() : store_(store_of_job()), state_(fault_cases().size(), 1.f) {
    for (const FaultCase& c : fault_cases())
      groups_.push_back(ProcessGroup::create("gloo", store_, own_rank(), world_size(),
                                             {std::chrono::seconds(60), c.name()}));
    resume();
    for (const auto& group : groups_) group->barrier({});
  }
  /// Side by side, because each may wait until the others have heard of it.
  ~FaultJob() {
    std::vector<std::thread> leaving;
    for (const auto& group : groups_) leaving.emplace_back([&group] { group->leave(); });
    for (std::thread& t : leaving) t.join();
  }
  FaultJob(const FaultJob&) = delete;
  FaultJob& operator=(const FaultJob&) = delete;

  int run() {
    for (; step_ < kSteps; ++step_) {
      const Act act = act_at(step_, own_rank());
      if (step_ == kFaultyStep) shorten_timeouts();
      if (act.before) act.before();
      if (!run_step(act)) return 0;
      save(act);
    }
    std::printf("%s\n", to_line(state_).c_str());
    return 0;
  }

 private:
  /// A short timeout is for the fault, not for processes that take long to start or to compute.
  void shorten_timeouts() {
    const std::string timeout = variable("TAEDA_TEST_TIMEOUT_MS");
    if (timeout.empty()) return;
    for (const auto& group : groups_)
      group->set_timeout(std::chrono::milliseconds(std::stoi(timeout)));
  }

  /// Collectives of all cases at once; false after printing the error of each if there was one.
  bool run_step(const Act& act) {
    const size_t n = groups_.size();
    std::vector<Tensor> outputs(n);
    std::vector<WorkPtr> works(n);
    std::vector<std::string> errors(n);
    for (size_t i = 0; i < n; ++i)
      errors[i] = error_of([&] { works[i] = start(i, act, &outputs[i]); });
    if (act.during) act.during();
    for (size_t i = 0; i < n; ++i)
      if (works[i]) errors[i] = error_of([&] { works[i]->wait(); });
    const bool failed =
        std::any_of(errors.begin(), errors.end(), [](const auto& e) { return e != "no error"; });
    if (failed) {
      report(std::move(errors));
      return false;
    }
    for (size_t i = 0; i < n; ++i) state_[i] = checked(i, outputs[i]);
    return true;
  }

  WorkPtr start(size_t i, const Act& act, Tensor* out) {
    const float own = act.nan_batch ? kNaN : gradient(state_[i], act);
    const FaultCase& c = fault_cases()[i];
    if (!act.disagrees) return c.start(*groups_[i], own, out);
    return act.disagrees(c).start(*groups_[i], own, out);
  }

  /// The rank's contribution, as a gradient: backward is a place where ranks die, too.
  float gradient(float state, const Act& act) const {
    Tensor w = ones({1}).requires_grad_();
    const Tensor product = w * contribution(state, own_rank(), step_);
    if (act.backward)
      product.register_hook([&](const Tensor& g) {
        act.backward();
        return g;
      });
    product.sum().backward();
    return w.grad().item<float>();
  }

  /// The state that follows from a result; throws if that is not what the ranks contributed.
  float checked(size_t i, const Tensor& out) const {
    std::vector<float> values;
    for (int rank = 0; rank < world_size(); ++rank)
      values.push_back(act_at(step_, rank).nan_batch ? kNaN : contribution(state_[i], rank, step_));
    const std::vector<float> parts = fault_cases()[i].expected(values);
    const auto count = static_cast<int64_t>(parts.size());
    const Tensor want = tensor(parts).unsqueeze(1).expand({count, out.numel() / count}).flatten();
    TAEDA_CHECK(out.allclose(want, 0, 0, true), "wrong result of ", fault_cases()[i].name());
    return next_state(state_[i], parts);
  }

  /// What did not fail is called again until it does: a broadcast's root is done before the others.
  void report(std::vector<std::string> errors) {
    for (int again = 0; again < 100; ++again) {
      std::vector<WorkPtr> works(groups_.size());
      std::vector<Tensor> outputs(groups_.size());
      for (size_t i = 0; i < works.size(); ++i)
        if (errors[i] == "no error")
          errors[i] =
              error_of([&] { works[i] = fault_cases()[i].start(*groups_[i], 0, &outputs[i]); });
      for (size_t i = 0; i < works.size(); ++i)
        if (works[i]) errors[i] = error_of([&] { works[i]->wait(); });
    }
    for (size_t i = 0; i < errors.size(); ++i)
      std::printf("%s: %s\n", fault_cases()[i].name().c_str(), errors[i].c_str());
  }

  static std::string checkpoint() { return variable("TAEDA_TEST_PATH") + ".checkpoint"; }

  void save(const Act& act) {
    if (own_rank() != 0) return;
    if (act.checkpoint) act.checkpoint();
    io::Checkpoint c;
    c.put("model", std::vector<Tensor>{tensor(state_)});
    c.put("history", std::vector<Tensor>{zeros({1 << 14})}).set("step", step_ + 1);
    c.save(checkpoint());
  }

  void resume() {
    if (!std::filesystem::exists(checkpoint())) return;
    const auto c = io::Checkpoint::load(checkpoint());
    std::vector<Tensor> model = {tensor(state_)};
    c.get("model", model);
    state_.assign(model[0].data_ptr<float>(), model[0].data_ptr<float>() + state_.size());
    step_ = static_cast<int>(c.number("step"));
  }

  distributed::StorePtr store_;
  std::vector<std::shared_ptr<ProcessGroup>> groups_;
  State state_;
  int step_ = 0;
};

const Role fault_job("fault_job", [] { return FaultJob().run(); });

}  // namespace

std::string state_after_all_steps(int nan_from_rank) {
  State state(fault_cases().size(), 1.f);
  for (int step = 0; step < kSteps; ++step)
    for (size_t i = 0; i < state.size(); ++i) {
      std::vector<float> values;
      for (int rank = 0; rank < kFaultJobRanks; ++rank)
        values.push_back(step == kFaultyStep && rank == nan_from_rank
                             ? kNaN
                             : contribution(state[i], rank, step));
      state[i] = next_state(state[i], fault_cases()[i].expected(values));
    }
  return to_line(state);
}

}  // namespace taeda
