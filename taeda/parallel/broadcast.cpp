#include "taeda/parallel/broadcast.h"

#include <algorithm>

#include "taeda/autograd/meta.h"
#include "taeda/parallel/comm.h"
#include "taeda/parallel/lane.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn::parallel {

namespace {

using autograd::Needs;
using autograd::TensorVec;

/// Makes streams of several devices current for a scope.
class OnStreams {
 public:
  explicit OnStreams(const std::vector<Stream>& streams) : previous_(current_streams()) {
    for (const Stream& s : streams) set_current_stream(s);
  }
  ~OnStreams() { set_current_streams(previous_); }
  OnStreams(const OnStreams&) = delete;
  OnStreams& operator=(const OnStreams&) = delete;

 private:
  const std::vector<Stream> previous_;
};

/// A node that works on streams of its own, as soon as it has what it waits for: not when all
/// layers have.
class OwnStreamsNode : public autograd::Node {
 public:
  OwnStreamsNode(Device device, std::vector<Stream> streams)
      : device_(device), streams_(std::move(streams)) {
    set_sequence_nr(UINT64_MAX - 1);
  }
  /// To be called when the inputs are known: each moves the node to the stream that it was made on.
  void settle() { stream = stream_on(device_); }
  Stream stream_on(Device device) const override {
    for (const Stream& s : streams_)
      if (s.device() == device) return s;
    return Node::stream_on(device);
  }

 protected:
  const Device device_;
  const std::vector<Stream> streams_;
};

/// Takes the gradients of the copies of one tensor and gives their sum.
class BroadcastNode final : public OwnStreamsNode {
 public:
  BroadcastNode(const Tensor& original, std::vector<Stream> streams, std::function<void()> arrived)
      : OwnStreamsNode(original.device(), std::move(streams)), arrived_(std::move(arrived)) {
    edges.push_back(autograd::gradient_edge(original));
  }
  const char* name() const override { return "BroadcastBackward"; }
  TensorVec apply(TensorVec grads, Needs) override {
    if (arrived_) arrived_();
    const OnStreams guard(streams_);
    return {reduce_add({grads.begin(), grads.end()}, device_)};
  }

 private:
  const std::function<void()> arrived_;
};

/// Takes a bucket's gradients from all devices, of each all of them as one tensor or one by one,
/// and gives the sums.
class ReduceNode final : public OwnStreamsNode {
 public:
  ReduceNode(const std::vector<Tensor>& originals, size_t devices,
             std::shared_ptr<const FlatLayout> layout, const GradientStreams& streams,
             std::function<void()> arrived)
      : OwnStreamsNode(originals[0].device(), streams.add),
        devices_(devices),
        layout_(std::move(layout)),
        opposite_(streams.add_opposite),
        arrived_(std::move(arrived)) {
    for (const Tensor& t : originals) edges.push_back(autograd::gradient_edge(t));
  }
  const char* name() const override { return "ReduceBackward"; }

  /// Adds the inputs that one device's gradients come by; returns the first one's number.
  uint32_t add_device(const std::vector<Tensor>& copies) {
    const uint32_t first = num_inputs();
    inputs.push_back({{layout_->numel()}, copies[0].dtype(), copies[0].device()});
    for (const Tensor& t : copies) add_input(t);
    return first;
  }

  TensorVec apply(TensorVec grads, Needs) override {
    if (arrived_) arrived_();
    const OnStreams guard(streams_);
    const size_t stride = layout_->size() + 1;
    std::vector<Tensor> flat;
    bool one_by_one = false;
    for (size_t i = 0; i < devices_; ++i) {
      const auto begin = grads.begin() + static_cast<ptrdiff_t>(i * stride);
      flat.push_back(*begin);
      one_by_one |= std::any_of(begin + 1, begin + static_cast<ptrdiff_t>(stride),
                                [](const Tensor& g) { return g.defined(); });
    }
    if (one_by_one) return sums(grads, flat);
    return parts(is_worth_halving(flat) ? sum_of_halves(flat)
                                        : reduce_add(std::move(flat), device_));
  }

 private:
  // Note [Two directions]
  // A device that receives two of three sums of pairs is what the others wait for, while its own
  // links to them are idle. So the second half of a large bucket is added on the other device of
  // each pair: links are used both ways, and of four devices the first one receives 1.5 buckets
  // rather than 2. Which two are added stays the same, and with it every bit.
  bool is_worth_halving(const std::vector<Tensor>& flat) const {
    constexpr int64_t kWorthIt = int64_t{4} << 20;  // bytes, against the latency of one more copy
    return flat.size() > 2 && std::ranges::all_of(flat, [](const Tensor& t) {
             return t.defined() && t.nbytes() >= kWorthIt;
           });
  }
  Tensor sum_of_halves(const std::vector<Tensor>& flat) const {
    const int64_t middle = layout_->numel() / 128 * 64;  // aligned
    const Tensor out = layout_->allocate(device_);
    const auto first_half = [middle](const Tensor& t) { return t.narrow(0, 0, middle); };
    const auto second_half = [middle](const Tensor& t) {
      return t.narrow(0, middle, t.numel() - middle);
    };
    PairwiseSum first(first_half(out), AddedOn::First), second(second_half(out), AddedOn::Second);
    for (const Tensor& t : flat) {
      first.add(first_half(t));
      second.add(second_half(t));
    }
    for (const Stream& s : opposite_) {
      s.wait_stream(stream_on(s.device()));
      if (s.device() == device_) nn::detail::mark_user(out, s);
      for (const Tensor& t : flat)
        if (s.device() == t.device()) nn::detail::mark_user(t, s);
    }
    for (bool more = true; more;) {
      more = first.step();
      const OnStreams guard(opposite_);
      second.step();
    }
    for (const Stream& s : opposite_)
      if (s.device() == device_) stream.wait_stream(s);
    return out;
  }
  TensorVec parts(const Tensor& flat) const {
    TensorVec out;
    for (size_t k = 0; k < layout_->size(); ++k) out.push_back(layout_->part(flat, k));
    return out;
  }
  TensorVec sums(const TensorVec& grads, const std::vector<Tensor>& flat) const {
    TensorVec out;
    for (size_t k = 0; k < layout_->size(); ++k) {
      std::vector<Tensor> of_one;
      for (size_t i = 0; i < devices_; ++i)
        of_one.push_back(flat[i].defined() ? layout_->part(flat[i], k)
                                           : grads[i * (layout_->size() + 1) + 1 + k]);
      out.push_back(reduce_add(std::move(of_one), device_));
    }
    return out;
  }

  const size_t devices_;
  const std::shared_ptr<const FlatLayout> layout_;
  const std::vector<Stream> opposite_;
  const std::function<void()> arrived_;
};

/// Puts one device's gradients of a bucket together.
class FlattenNode final : public OwnStreamsNode {
 public:
  FlattenNode(const std::vector<Tensor>& copies, const IntrusivePtr<ReduceNode>& reduce,
              std::shared_ptr<const FlatLayout> layout, std::vector<Stream> streams)
      : OwnStreamsNode(copies[0].device(), std::move(streams)), layout_(std::move(layout)) {
    const uint32_t first = reduce->add_device(copies);
    for (uint32_t k = 0; k <= copies.size(); ++k)
      edges.push_back({autograd::NodePtr(reduce.get()), first + k});
  }
  const char* name() const override { return "BroadcastBackward"; }
  TensorVec apply(TensorVec grads, Needs) override {
    TensorVec out;
    out.resize(1 + layout_->size());
    const bool all = std::ranges::all_of(grads, [](const Tensor& g) { return g.defined(); });
    if (all && !GradMode::is_enabled())
      out[0] = layout_->flatten({grads.begin(), grads.end()});
    else
      std::ranges::move(grads, out.begin() + 1);
    return out;
  }

 private:
  const std::shared_ptr<const FlatLayout> layout_;
};

}  // namespace

namespace {

void record_one(const Tensor& original, const std::vector<std::vector<Tensor>>& copies,
                const std::vector<Stream>& streams, std::function<void()> arrived) {
  auto* const broadcast = new BroadcastNode(original, streams, std::move(arrived));
  const autograd::NodePtr node(broadcast);
  for (uint32_t i = 0; i < copies.size(); ++i) autograd::set_history(copies[i][0], node, i);
  broadcast->settle();
}

}  // namespace

void record_broadcast(const std::vector<Tensor>& originals,
                      const std::vector<std::vector<Tensor>>& copies,
                      std::shared_ptr<const FlatLayout> layout, const GradientStreams& streams,
                      std::function<void()> arrived) {
  if (originals.size() == 1)
    return record_one(originals[0], copies, streams.add, std::move(arrived));
  const IntrusivePtr<ReduceNode> reduce(
      new ReduceNode(originals, copies.size(), layout, streams, std::move(arrived)));
  for (const std::vector<Tensor>& on_device : copies) {
    auto* const flatten = new FlattenNode(on_device, reduce, layout, streams.flatten);
    const autograd::NodePtr node(flatten);
    for (uint32_t k = 0; k < on_device.size(); ++k) autograd::set_history(on_device[k], node, k);
    flatten->settle();
  }
  reduce->settle();
}

}  // namespace taeda::nn::parallel
