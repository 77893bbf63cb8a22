#include "tools/taeda/train/meter.h"

#include <algorithm>
#include <map>

#include "taeda/amp/autocast.h"
#include "taeda/ops/create.h"
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

Score evaluate(const Evaluation& what, Loader& loader, const Ranks& ranks,
               std::vector<int64_t>* predictions) {
  const NoGradGuard no_grad;
  const bool hits = what.task.counts_hits;
  Meter meter(what.device);
  predictions->clear();
  for (auto& batch : loader) {
    if (what.look) what.look();
    const size_t before = predictions->size();
    if (hits) predictions->resize(before + static_cast<size_t>(batch.target.numel()));
    const Share share = ranks.share_of(batch);
    if (share.empty()) continue;
    const Tensor inputs = share.data.to(what.device, /*non_blocking=*/true),
                 targets = share.target.to(what.device, /*non_blocking=*/true);
    const amp::autocast autocast(what.device, {}, what.amp);
    const Tensor output = what.forward(inputs);
    meter.add(what.task.loss(output, targets), output, targets, hits);
    if (!hits) continue;
    const Tensor best = output.argmax(-1).cpu().contiguous();
    std::copy_n(best.data_ptr<int64_t>(), best.numel(),
                predictions->begin() + static_cast<ptrdiff_t>(before) + share.first_target);
  }
  // Each rank has put its predictions between zeros.
  if (!predictions->empty())
    ranks.add_up(
        from_blob(predictions->data(), {static_cast<int64_t>(predictions->size())}, kLong));
  return meter.score(ranks);
}

}  // namespace taeda::tool
