#include "taeda/parallel/values.h"

#include <algorithm>
#include <numeric>

#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn::parallel {

namespace {

bool shares(const Tensor& own, const Tensor& original) {
  return own.storage() == original.storage() &&
         own.unsafe_impl()->own_version == original.unsafe_impl()->own_version &&
         own.dtype() == original.dtype() && own.sizes() == original.sizes() &&
         own.strides() == original.strides() && own.storage_offset() == original.storage_offset();
}

/// Whether somebody but the replica's tensors uses a bucket's memory: an earlier pass that was not
/// run backward yet.
bool is_in_use(const Tensor& flat, const std::vector<Tensor>& own) {
  const auto mine =
      std::ranges::count_if(own, [&](const Tensor& t) { return t.storage() == flat.storage(); });
  return flat.storage().use_count() > 1 + static_cast<uint32_t>(mine);
}

}  // namespace

Values::Values(std::vector<Device> devices)
    : devices_(std::move(devices)), lanes_(devices_.size()) {
  for (size_t i = 1; i < devices_.size(); ++i) {
    const Device from = devices_[i - 1], to = devices_[i];
    if (!from.is_cpu() && from.type() == to.type() && from != to) lanes_[i].emplace(from, to);
  }
}

std::vector<Tensor> Values::members_of(const Bucket& bucket,
                                       const std::vector<Tensor>& tensors) const {
  std::vector<Tensor> out;
  for (const size_t k : bucket.members) out.push_back(tensors[k]);
  return out;
}

void Values::begin(std::vector<Tensor> originals, const std::vector<size_t>& groups) {
  originals_ = std::move(originals);
  bool same = groups == groups_;
  for (const Bucket& b : buckets_) same = same && b.layout.fits(members_of(b, originals_));
  if (!same) {
    buckets_.clear();
    groups_ = groups;
    std::vector<size_t> order(originals_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (auto& members : make_buckets(originals_, order, groups, kValueLimits)) {
      Bucket& b = buckets_.emplace_back();
      b.members = std::move(members);
      b.layout = FlatLayout(members_of(b, originals_));
      b.flat.resize(devices_.size());
    }
  }
  for (Bucket& b : buckets_) {
    b.source.reset();  // of a pass that was broken off
    b.sent = 0;
  }
  for (size_t i = 1; i < devices_.size(); ++i)
    if (lanes_[i]) lanes_[i]->receive.wait_stream(current_stream(devices_[i]));
  for (const Stream& s : gathering_) s.wait_stream(current_stream(s.device()));
}

void Values::place(size_t i, const std::vector<Tensor>& own) {
  for (Bucket& b : buckets_) {
    const std::vector<Tensor> mine = members_of(b, own);
    Tensor& flat = b.flat[i];
    if (originals_[b.members[0]].device() == devices_[i]) {
      flat.reset();
      for (size_t k = 0; k < mine.size(); ++k)
        if (const Tensor& original = originals_[b.members[k]]; !shares(mine[k], original))
          share_data(mine[k], original);
      continue;
    }
    if (!flat.defined() || is_in_use(flat, mine)) flat = b.layout.allocate(devices_[i]);
    for (size_t k = 0; k < mine.size(); ++k)
      if (!(mine[k].storage() == flat.storage())) mine[k].set_data(b.layout.part(flat, k));
  }
}

void Values::send_first(size_t replicas) {
  if (!buckets_.empty()) send(buckets_[0], replicas);
}

void Values::send(size_t replicas) {
  for (Bucket& b : buckets_) {
    send(b, replicas);
    b.source.reset();
  }
  originals_.clear();
  // What changes the originals from now on comes after they were read.
  for (const Stream& s : gathering_) current_stream(s.device()).wait_stream(s);
}

void Values::send(Bucket& b, size_t replicas) {
  for (; b.sent < replicas; ++b.sent)
    if (b.flat[b.sent].defined()) hop(b, b.sent);
}

Stream Values::gathering_stream(Device device) {
  const auto at = std::ranges::find(gathering_, device, &Stream::device);
  if (at != gathering_.end()) return *at;
  gathering_.push_back(new_stream(device));
  gathering_.back().wait_stream(current_stream(device));
  return gathering_.back();
}

void Values::put_together(Bucket& b) {
  const std::vector<Tensor> originals = members_of(b, originals_);
  const Device device = originals[0].device();
  std::optional<StreamGuard> guard;
  if (!device.is_cpu()) {
    b.arrived = gathering_stream(device);
    guard.emplace(b.arrived);
  }
  b.source = b.layout.flatten(originals);
}

/// The streams to a replica; null where values go on the current ones.
const nn::detail::Lane* Values::lane(Device from, size_t i) const {
  return lanes_[i] && lanes_[i]->send.device() == from ? &*lanes_[i] : nullptr;
}

void Values::hop(Bucket& b, size_t i) {
  if (!b.source.defined()) put_together(b);
  const Device from = b.source.device();
  const Tensor& to = b.flat[i];
  if (const nn::detail::Lane* on = lane(from, i)) {
    nn::detail::mark_user(b.source, on->send);
    nn::detail::mark_user(to, on->receive);
    on->send.wait_stream(b.arrived);
    const StreamGuard sender(on->send), receiver(on->receive);
    to.copy_(b.source, true);
    // Each layer begins when it has its values, and may change them when they have been sent.
    to.storage()->use_after(on->receive);
    b.source.storage()->use_after(on->send);
    b.arrived = on->receive;
  } else {
    if (!from.is_cpu()) current_stream(from).wait_stream(b.arrived);
    to.copy_(b.source, true);
    b.arrived = current_stream(devices_[i]);
  }
  b.source = to;
}

}  // namespace taeda::nn::parallel
