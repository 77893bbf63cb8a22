#include "taeda/rpc/grpc/frames.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::grpc_rpc {

namespace {

enum class FrameKind : uint8_t { Begin = 1, More = 2 };

[[noreturn]] void broken(const std::string& what) {
  taeda::detail::fail<DistributedError>("a frame that is none: " + what);
}

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

uint64_t bytes_of(const Tensor& t) {
  return static_cast<uint64_t>(t.numel() * element_size(t.dtype()));
}

/// A tensor's memory, which the tensor keeps alive.
grpc::Slice slice_of(const Tensor& t) {
  return grpc::Slice(
      t.data_ptr(), bytes_of(t), [](void* held) { delete static_cast<Tensor*>(held); },
      new Tensor(t));
}

grpc::Slice slice_of(std::string text) {
  auto* held = new std::string(std::move(text));
  return grpc::Slice(
      held->data(), held->size(), [](void* p) { delete static_cast<std::string*>(p); }, held);
}

std::string_view view(const grpc::Slice& slice) {
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

}  // namespace

/// Takes a frame apart, in order.
class SliceReader {
 public:
  explicit SliceReader(std::vector<grpc::Slice> slices) : slices_(slices.begin(), slices.end()) {
    for (const grpc::Slice& s : slices_) left_ += s.size();
  }
  uint64_t left() const { return left_; }

  template <class T>
  T number() {
    T out;
    copy(&out, sizeof out);
    return out;
  }
  void copy(void* to, size_t size) {
    if (size > left_) broken("it ends after " + std::to_string(left_) + " bytes of a field");
    auto* at = static_cast<char*>(to);
    while (size > 0) {
      const grpc::Slice part = take(size);
      std::memcpy(at, part.begin(), part.size());
      at += part.size();
      size -= part.size();
    }
  }
  /// Bytes of one piece of memory, up to `most` of them.
  grpc::Slice take(size_t most) {
    while (slices_.front().size() == 0) slices_.pop_front();
    grpc::Slice& first = slices_.front();
    const size_t size = std::min(most, first.size());
    grpc::Slice out = first.sub(0, size);
    first = first.sub(size, first.size());
    left_ -= size;
    return out;
  }
  std::vector<std::string_view> views() const {
    std::vector<std::string_view> out;
    for (const grpc::Slice& s : slices_) out.push_back(view(s));
    return out;
  }

 private:
  std::deque<grpc::Slice> slices_;
  uint64_t left_ = 0;
};

std::string objection(const Packet& packet) {
  if (packet.bodies.size() > kMostBodies)
    return "a message of " + std::to_string(packet.bodies.size()) + " tensors, at most " +
           std::to_string(kMostBodies);
  uint64_t size = packet.head.size();
  for (const Tensor& t : packet.bodies) size += bytes_of(t);
  return size <= kMostMessageBytes ? std::string()
                                   : "a message of " + std::to_string(size) + " bytes, at most " +
                                         std::to_string(kMostMessageBytes);
}

void Outgoing::add(uint64_t number, Packet packet) {
  Message& message = messages_.emplace_back();
  message.number = number;
  put(message.begin, uint64_t{packet.head.size()});
  put(message.begin, static_cast<uint32_t>(packet.bodies.size()));
  for (const Tensor& t : packet.bodies) put(message.begin, bytes_of(t));
  if (!packet.head.empty()) message.data.push_back(slice_of(std::move(packet.head)));
  for (const Tensor& t : packet.bodies)
    if (bytes_of(t) > 0) message.data.push_back(slice_of(t));
}

grpc::ByteBuffer Outgoing::next() {
  Message message = std::move(messages_.front());
  messages_.pop_front();
  std::string fields;
  put(fields, static_cast<uint8_t>(message.begin.empty() ? FrameKind::More : FrameKind::Begin));
  put(fields, message.number);
  fields += std::exchange(message.begin, {});
  std::vector<grpc::Slice> slices = {slice_of(std::move(fields))};
  for (size_t room = kPieceBytes; room > 0 && !message.data.empty();) {
    grpc::Slice& first = message.data.front();
    const size_t size = std::min(room, first.size());
    slices.push_back(first.sub(0, size));
    room -= size;
    if (size == first.size())
      message.data.pop_front();
    else
      first = first.sub(size, first.size());
  }
  if (!message.data.empty()) messages_.push_back(std::move(message));
  if (codes_.has_key()) {
    std::vector<std::string_view> views;
    for (const grpc::Slice& s : slices) views.push_back(view(s));
    slices.insert(slices.begin(), slice_of(codes_.next(views)));
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

bool Incoming::take(const grpc::ByteBuffer& frame, Message* message) {
  std::vector<grpc::Slice> slices;
  if (!frame.Dump(&slices).ok()) broken("gRPC cannot read it");
  SliceReader in(std::move(slices));
  if (codes_.has_key()) {
    std::string code(grpc_link::kCodeBytes, '\0');
    in.copy(code.data(), code.size());
    if (!grpc_link::same_code(code, codes_.next(in.views())))
      taeda::detail::fail<DistributedError>("a frame whose code is wrong");
  }
  const auto kind = static_cast<FrameKind>(in.number<uint8_t>());
  const auto number = in.number<uint64_t>();
  if (kind != FrameKind::Begin && kind != FrameKind::More)
    broken("kind " + std::to_string(static_cast<int>(kind)));
  const auto known = partial_.find(number);
  if ((known != partial_.end()) != (kind == FrameKind::More))
    broken("message " + std::to_string(number) +
           (known == partial_.end() ? " has not begun" : " has begun already"));
  Partial& partial = kind == FrameKind::Begin ? begin(number, in) : known->second;
  while (in.left() > 0) partial.add(in.take(in.left()));
  if (!partial.complete()) return false;
  *message = {number, std::move(partial.packet)};
  partial_.erase(number);
  return true;
}

Incoming::Partial& Incoming::begin(uint64_t number, SliceReader& in) {
  if (partial_.size() >= kMostUnfinished)
    broken("more than " + std::to_string(kMostUnfinished) + " messages at once");
  Partial out;
  out.head_size = in.number<uint64_t>();
  const auto bodies = in.number<uint32_t>();
  if (bodies > kMostBodies || uint64_t{bodies} * 8 > in.left())
    broken(std::to_string(bodies) + " bodies in a frame of " + std::to_string(in.left()) +
           " bytes");
  uint64_t all = out.head_size;
  for (uint32_t i = 0; i < bodies; ++i) {
    out.body_sizes.push_back(in.number<uint64_t>());
    if (__builtin_add_overflow(all, out.body_sizes.back(), &all)) all = UINT64_MAX;
  }
  if (all > kMostMessageBytes)
    broken("a message of " + std::to_string(all) + " bytes, at most " +
           std::to_string(kMostMessageBytes));
  Partial& partial = partial_[number] = std::move(out);
  if (partial.head_size == 0) partial.complete_bodies();
  return partial;
}

void Incoming::Partial::add(grpc::Slice data) {
  while (data.size() > 0) {
    const bool to_head = packet.head.size() < head_size;
    if (!to_head && body_sizes.empty()) broken("more data than its message has");
    const uint64_t room = to_head ? head_size - packet.head.size() : body_sizes[0] - body_bytes;
    const auto size = static_cast<size_t>(std::min<uint64_t>(room, data.size()));
    grpc::Slice part = data.sub(0, size);
    data = data.sub(size, data.size());
    if (to_head) {
      packet.head += view(part);
    } else {
      body.push_back(std::move(part));
      body_bytes += size;
    }
    if (packet.head.size() == head_size) complete_bodies();
  }
}

/// Bodies of which all has come become tensors.
void Incoming::Partial::complete_bodies() {
  while (!body_sizes.empty() && body_bytes == body_sizes.front()) {
    const int64_t sizes[] = {static_cast<int64_t>(body_bytes)};
    Tensor out = make_tensor(IntArrayRef(sizes), kByte, kCPU);
    auto* at = static_cast<char*>(out.data_ptr());
    for (const grpc::Slice& s : body) {
      std::memcpy(at, s.begin(), s.size());
      at += s.size();
    }
    packet.bodies.push_back(std::move(out));
    body.clear();
    body_bytes = 0;
    body_sizes.pop_front();
  }
}

}  // namespace taeda::inline v0_2::distributed::grpc_rpc
