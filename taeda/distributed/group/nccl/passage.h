// The device memory of one call.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "taeda/distributed/group/communicator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::distributed::nccl {

/// What the host's elements are on a device, for the time of a call: the tensors that programs have
/// on the CPU, counts that ranks compare, texts. Elements of a device are themselves.
class Passage {
 public:
  /// The stream is the call's, or for memory of the host one of `home`.
  Passage(const Call& call, Device home);

  const Stream& stream() const { return stream_; }
  Device device() const { return stream_.device(); }
  void* in(const Elements& e);
  void* out(const Elements& e);
  void* in_out(const Elements& e);
  /// When all is queued, `confirm` with it. For memory of the host waits until it is done, or
  /// throws where `aborted` becomes true.
  void finish(const Call& call, std::function<void()> confirm,
              const std::function<bool()>& aborted);

 private:
  struct Copy {
    Elements host;
    Tensor device;
  };

  Tensor make(const Elements& e);
  void copy(void* to, const void* from, size_t bytes, bool to_host) const;

  Stream stream_;
  StreamGuard current_;
  std::vector<Tensor> ins_;
  std::vector<Copy> outs_;
};

}  // namespace taeda::inline v0_2::distributed::nccl
