#include "taeda/rpc/archive.h"

#include <bit>
#include <cstring>

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/rpc/agent.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed::rpc {

static_assert(std::endian::native == std::endian::little, "archives are little-endian");

namespace {

enum TensorFlags : uint8_t { kDefined = 1, kWithGradient = 2 };

[[noreturn]] void broken(const std::string& what) {
  taeda::detail::fail<DistributedError>("rpc: a message that is none: " + what);
}

ScalarType dtype_of(uint8_t number) {
  const auto dtype = static_cast<ScalarType>(number);
  for (const ScalarType known : {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble,
                                 kComplexFloat, kComplexDouble, kBool, kBFloat16})
    if (dtype == known) return dtype;
  broken("dtype " + std::to_string(number));
}

/// The bytes of a contiguous tensor; -1 where sizes are negative or too large.
int64_t bytes_of(const DimVector& sizes, ScalarType dtype) {
  int64_t out = element_size(dtype);
  for (const int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(out, size, &out)) return -1;
  return out;
}

}  // namespace

void Writer::integer(int64_t value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void Writer::number(double value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void Writer::text(std::string_view value) {
  integer(static_cast<int64_t>(value.size()));
  bytes_.append(value);
}

void Writer::tensor(const Tensor& value) {
  if (!value.defined()) return byte(0);
  const bool with_gradient = value.requires_grad();
  byte(static_cast<uint8_t>(kDefined | (with_gradient ? kWithGradient : 0)));
  byte(static_cast<uint8_t>(value.dtype()));
  byte(static_cast<uint8_t>(value.dim()));
  for (const int64_t size : value.sizes()) integer(size);
  const Device device = value.device();
  text(device.is_cpu() || !agent_ ? std::string() : agent_->device_for(to_, device).str());
  const NoGradGuard values_only;
  const Tensor detached = value.detach();
  bodies_.push_back((device.is_cpu() ? detached : detached.to(kCPU)).contiguous());
  if (with_gradient) with_gradient_.push_back(value);
}

void Writer::append(Writer&& other) {
  bytes_ += other.bytes_;
  for (Tensor& t : other.bodies_) bodies_.push_back(std::move(t));
  for (Tensor& t : other.with_gradient_) with_gradient_.push_back(std::move(t));
}

std::string_view Reader::bytes(uint64_t size, const char* what) {
  const size_t left = packet_.head.size() - at_;
  if (size > left)
    broken(std::string(what) + " of " + std::to_string(size) + " bytes where " +
           std::to_string(left) + " are left");
  const std::string_view out(packet_.head.data() + at_, size);
  at_ += size;
  return out;
}

uint8_t Reader::byte() { return static_cast<uint8_t>(bytes(1, "a byte")[0]); }

int64_t Reader::integer() {
  int64_t out;
  std::memcpy(&out, bytes(sizeof out, "an integer").data(), sizeof out);
  return out;
}

double Reader::number() {
  double out;
  std::memcpy(&out, bytes(sizeof out, "a number").data(), sizeof out);
  return out;
}

std::string Reader::text() {
  return std::string(bytes(static_cast<uint64_t>(integer()), "a text"));
}

size_t Reader::count() {
  const auto out = static_cast<uint64_t>(integer());
  if (out > packet_.head.size() - at_)
    broken(std::to_string(out) + " elements where " + std::to_string(packet_.head.size() - at_) +
           " bytes are left");
  return out;
}

Tensor Reader::tensor() {
  const uint8_t flags = byte();
  if (!(flags & kDefined)) return {};
  const ScalarType dtype = dtype_of(byte());
  const int64_t dimensions = byte();
  if (dimensions > kMaxDims) broken(std::to_string(dimensions) + " dimensions");
  DimVector sizes;
  for (int64_t d = 0; d < dimensions; ++d) sizes.push_back(integer());
  const std::string device = text();
  if (next_body_ == packet_.bodies.size()) broken("a tensor without its memory");
  const Tensor body = std::move(packet_.bodies[next_body_++]);
  const int64_t size = bytes_of(sizes, dtype), have = body.numel() * element_size(body.dtype());
  if (size != have)
    broken("a tensor of " + std::to_string(size) + " bytes with a memory of " +
           std::to_string(have));
  Tensor out(make_intrusive<TensorImpl>(body.storage(), Layout::contiguous(sizes), dtype));
  if (!device.empty()) {
    const NoGradGuard values_only;
    out = out.to(Device(device));
  }
  if (flags & kWithGradient && on_gradient_) on_gradient_(out);
  return out;
}

void Reader::finish() const {
  if (at_ != packet_.head.size() || next_body_ != packet_.bodies.size())
    broken(std::to_string(packet_.head.size() - at_) + " bytes and " +
           std::to_string(packet_.bodies.size() - next_body_) +
           " tensors more than it should have");
}

}  // namespace taeda::inline v0_2::distributed::rpc
