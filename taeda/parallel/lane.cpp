#include "taeda/parallel/lane.h"

#include <optional>

#include "taeda/autograd/record.h"

namespace taeda::inline v0_2::nn::detail {

void mark_user(const Tensor& t, const Stream& stream) {
  if (!t.is_cpu() && t.storage()->address() && t.storage()->resizable())
    t.record_stream(stream.id());
}

namespace {

/// A stream is current for a scope; on the CPU there is only one.
class OnStream {
 public:
  explicit OnStream(const Stream& stream) {
    if (!stream.device().is_cpu()) guard_.emplace(stream);
  }

 private:
  std::optional<StreamGuard> guard_;
};

void copy(Parcel& parcel, const Lane& lane) {
  const Device to = lane.receive.device();
  if (!lane.send.device().is_cpu()) lane.send.wait_stream(current_stream(lane.send.device()));
  const NoGradGuard values_only;
  const OnStream sender(lane.send), receiver(lane.receive);
  for (Tensor& t : parcel.tensors) {
    if (!t.defined()) continue;
    const Tensor source = t;
    t = source.to(to, true);
    if (source.device() == lane.send.device()) mark_user(source, lane.send);
  }
  if (!to.is_cpu()) parcel.arrived.record(lane.receive);
}

}  // namespace

Parcel send(const std::vector<Tensor>& tensors, const Lanes& lanes) {
  Parcel out;
  out.tensors = tensors;
  if (lanes.there.send.device() == lanes.there.receive.device()) return out;
  copy(out, lanes.there);
  for (size_t i = 0; i < tensors.size(); ++i)
    if (wants_grad(tensors[i]))
      record("PipeCopyBackward", out.tensors[i], {tensors[i]},
             [back = lanes.reversed(), home = tensors[i].device()](const Tensor& g) {
               return receive(send({g}, back))[0].to(home);
             });
  return out;
}

std::vector<Tensor> receive(Parcel parcel) {
  const Device device = parcel.arrived.device();
  if (!parcel.arrived.handle()) return std::move(parcel.tensors);
  const Stream stream = current_stream(device);
  stream.wait_event(parcel.arrived);
  for (const Tensor& t : parcel.tensors)
    if (t.defined()) mark_user(t, stream);
  return std::move(parcel.tensors);
}

}  // namespace taeda::nn::detail
