#include "tools/taeda/train/meter.h"

#include <algorithm>
#include <map>

#include "taeda/amp/autocast.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::tool {

Meter::Meter(Device device)
    : loss_(zeros({}, device)), hits_(zeros({}, TensorOptions(kLong).device(device))) {}

void Meter::add(const Tensor& loss, const Tensor& output, const Tensor& targets, bool count_hits) {
  const NoGradGuard no_grad;
  loss_.add_(loss, targets.numel());
  if (count_hits) hits_.add_(output.argmax(-1).eq(targets).sum());
  count_ += targets.numel();
}

double Meter::seconds() const {
  return before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Score Meter::score(const Ranks& ranks) const {
  const std::vector<double> all =
      ranks.sum({loss_.item<double>(), hits_.item<double>(), static_cast<double>(count_)});
  return {all[0] / all[2], all[1] / all[2], seconds(), static_cast<int64_t>(all[2])};
}

void Meter::save(io::Checkpoint& c) const {
  c.put("meter", std::map<std::string, Tensor>{{"loss", loss_}, {"hits", hits_}});
  c.set("meter.count", static_cast<double>(count_)).set("meter.seconds", seconds());
}

void Meter::load(const io::Checkpoint& c) {
  std::map<std::string, Tensor> sums;
  c.get("meter", sums);
  loss_.copy_(sums.at("loss"));
  hits_.copy_(sums.at("hits"));
  count_ = static_cast<int64_t>(c.number("meter.count"));
  before_ = c.number("meter.seconds");
}

void Meter::save(RankState& s) const {
  s["meter.loss"] = loss_.cpu();
  s["meter.hits"] = hits_.cpu();
  s["meter.count"] = full({}, count_, kLong);
}

void Meter::load(const RankState& s) {
  loss_.copy_(s.at("meter.loss"));
  hits_.copy_(s.at("meter.hits"));
  count_ = s.at("meter.count").item<int64_t>();
}

namespace {

/// Writes what is told of the rows of `output` behind `first`.
void tell(const Tensor& output, size_t first, Predictions& all) {
  const auto put = [&](const Tensor& from, auto& to) {
    const Tensor here = from.cpu().contiguous();
    using T = std::decay_t<decltype(to[0])>;
    std::copy_n(here.data_ptr<T>(), here.numel(), to.begin() + static_cast<ptrdiff_t>(first));
  };
  put(output.argmax(-1), all.classes);
  if (all.probabilities.empty()) return;
  const Tensor scores = output.to(kDouble);
  put((scores.amax(-1) - scores.logsumexp(-1)).exp(), all.probabilities);
}

}  // namespace

Score evaluate(const Evaluation& what, Loader& loader, const Ranks& ranks,
               Predictions* predictions) {
  const NoGradGuard no_grad;
  const bool hits = what.task.counts_hits, named = !what.task.about.classes.empty();
  Meter meter(what.device);
  *predictions = {};
  for (auto& batch : loader) {
    if (what.look) what.look();
    const size_t before = predictions->classes.size();
    const size_t end = before + static_cast<size_t>(batch.target.numel());
    if (hits) predictions->classes.resize(end);
    if (hits && named) predictions->probabilities.resize(end);
    const Share share = ranks.share_of(batch);
    if (share.empty()) continue;
    const Tensor inputs = share.data.to(what.device, /*non_blocking=*/true),
                 targets = share.target.to(what.device, /*non_blocking=*/true);
    const amp::autocast autocast(what.device, {}, what.amp);
    const Tensor output = what.forward(inputs);
    meter.add(what.task.loss(output, targets), output, targets, hits);
    if (hits) tell(output, before + static_cast<size_t>(share.first_target), *predictions);
  }
  // Each rank has put its own between zeros.
  const auto add_up = [&](auto& values, ScalarType dtype) {
    if (!values.empty())
      ranks.add_up(from_blob(values.data(), {static_cast<int64_t>(values.size())}, dtype));
  };
  add_up(predictions->classes, kLong);
  add_up(predictions->probabilities, kDouble);
  return meter.score(ranks);
}

}  // namespace taeda::tool
