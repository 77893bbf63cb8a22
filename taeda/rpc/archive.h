// What calls are made of on the network: plain values one after the other, and tensors beside them.
// There is no code in it, and no name of anything that reading would construct.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::distributed::rpc {

class Agent;

/// One message: an archive, and the memory of its tensors, each contiguous and on the host.
struct Packet {
  std::string head;
  std::vector<Tensor> bodies;
};

/// Writes an archive. Numbers are little-endian, a text is its length and its bytes.
class Writer {
 public:
  /// For worker `to`, to which devices and references have to be told.
  explicit Writer(Agent* agent = nullptr, int64_t to = -1) : agent_(agent), to_(to) {}

  /// A value of the kind that the name says, appended.
  void byte(uint8_t value) { bytes_ += static_cast<char>(value); }
  void integer(int64_t value);
  void number(double value);
  void text(std::string_view value);
  /// The tensor's device becomes the one that the worker's device map says. Memory of the host that
  /// is contiguous is sent as it is: the tensor must not change until the message has left.
  void tensor(const Tensor& value);
  /// Another archive, tensors included.
  void append(Writer&& other);

  Agent* agent() const { return agent_; }
  int64_t to() const { return to_; }
  /// Tensors so far that want a gradient, in order.
  const std::vector<Tensor>& with_gradient() const { return with_gradient_; }
  Packet take() { return {std::move(bytes_), std::move(bodies_)}; }

 private:
  Agent* agent_;
  int64_t to_;
  std::string bytes_;
  std::vector<Tensor> bodies_, with_gradient_;
};

/// Reads what a Writer wrote. Every size is compared with what is there before anything is made;
/// bytes that do not fit are a DistributedError, whatever they are.
class Reader {
 public:
  Reader() = default;
  explicit Reader(Packet packet, Agent* agent = nullptr, int64_t from = -1)
      : packet_(std::move(packet)), agent_(agent), from_(from) {}

  /// The next value, which must be of this kind; throws Error where the packet ends.
  uint8_t byte();
  int64_t integer();
  double number();
  std::string text();
  Tensor tensor();
  /// The number of elements that follow, each of which takes at least a byte.
  size_t count();
  /// Throws if anything is left.
  void finish() const;

  Agent* agent() const { return agent_; }
  int64_t from() const { return from_; }
  /// Gives tensors that come with a gradient their history.
  void on_gradient(std::function<void(const Tensor&)> f) { on_gradient_ = std::move(f); }

 private:
  std::string_view bytes(uint64_t size, const char* what);

  Packet packet_;
  Agent* agent_ = nullptr;
  int64_t from_ = -1;
  size_t at_ = 0, next_body_ = 0;
  std::function<void(const Tensor&)> on_gradient_;
};

}  // namespace taeda::inline v0_2::distributed::rpc
