// Lists of parameters, and numbers in device memory, as the kernels of optimizers take them.
#pragma once

#include <vector>

#include "taeda/base/macros.h"
#include "taeda/device/graph.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Where some float64 numbers lie, on which device, and how many there are. Made of something that
/// owns them, never of an address. A plain value, copyable into a queue.
class Numbers {
 public:
  /// None: false in a condition.
  Numbers() = default;
  /// Those of a contiguous float64 tensor. Throws Error for another one.
  explicit Numbers(const Tensor& t);
  Numbers(const GraphNumbers& n)
      : device_(n.device()), data_(n.data()), count_(static_cast<int64_t>(n.count())) {}

  TAEDA_HD explicit operator bool() const { return data_ != nullptr; }
  TAEDA_HD double* data() const { return data_; }
  TAEDA_HD double& operator[](int64_t i) const { return data_[i]; }
  Device device() const { return device_; }
  int64_t count() const { return count_; }
  /// Throws Error, naming `what`, unless there are at least `count` numbers on `device`.
  void check(const char* what, Device device, int64_t count) const;

  /// Calls f(name, index, address, bytes) for the memory.
  template <class F>
  void for_each_extent(F&& f) const {
    if (data_) f("numbers", 0, data_, count_ * static_cast<int64_t>(sizeof(double)));
  }
  /// Moves the address by `delta` bytes (device address to host alias).
  void rebase(ptrdiff_t delta) {
    if (data_) data_ += delta / static_cast<ptrdiff_t>(sizeof(double));
  }

 private:
  Device device_;
  double* data_ = nullptr;
  int64_t count_ = 0;
};

/// One parameter of a list: addresses that ParamList::add has checked, all with the same memory
/// order and dtype and without gaps.
class ParamRef {
 public:
  static constexpr int kMaxStates = 3;

  TAEDA_HD char* param() const { return param_; }
  TAEDA_HD const char* grad() const { return grad_; }
  /// What the slot says; nullptr where the parameter has none.
  TAEDA_HD char* state(int k) const { return state_[k]; }
  TAEDA_HD int64_t numel() const { return numel_; }
  /// In a graph: numbers of the replay, on the device; the slot says which. Without: nullptr.
  TAEDA_HD const double* live() const { return live_; }

 private:
  friend class ParamList;
  char* param_ = nullptr;
  const char* grad_ = nullptr;
  char* state_[kMaxStates] = {};
  int64_t numel_ = 0;
  const double* live_ = nullptr;
};

/// What `ParamList::add` takes: the tensors that a kernel will work on, and their names for errors.
struct ParamTensors {
  const char* op = "";          ///< "Adam.step()"
  size_t group = 0, index = 0;  ///< the parameter group, and the position in it
  const Tensor& param;
  const Tensor& grad;
  ArrayRef<const Tensor*> states = {};  ///< nullptr where there is none
  ArrayRef<const char*> state_names = {};
};

/// Parameters of one dtype on one device. A plain value, copyable into a queue. Its addresses come
/// from tensors and nowhere else, and each covers as many elements as the parameter has.
class ParamList {
 public:
  ParamList(Device device, ScalarType dtype) : device_(device), dtype_(dtype) {}

  Device device() const { return device_; }
  ScalarType dtype() const { return dtype_; }
  const std::vector<ParamRef>& items() const { return items_; }
  /// In a graph with a gradient scaler: two numbers on the device. A step changes nothing where the
  /// first is not 0; the second says how many steps that came to, which `live` does not know of.
  /// Without: nullptr.
  const double* skip() const { return skip_.data(); }

  /// Adds a parameter without gaps between its elements. Throws Error, naming parameter and tensor,
  /// unless gradient and states have its sizes, memory order, dtype and device, which are the
  /// list's, and NotImplementedError for a dtype that is not floating.
  void add(const ParamTensors& tensors);
  /// The list of a kernel that changes gradients: `grad` takes the parameter's place as well.
  void add_gradient(const Tensor& grad) { add({.param = grad, .grad = grad}); }
  /// Item i reads its numbers from live[i * stride] on. Throws Error for too few, or elsewhere.
  void set_live(const Numbers& live, int64_t stride);
  /// Throws Error unless there are two numbers on the list's device.
  void set_skip(const Numbers& skip);
  /// Takes everything out, and keeps the memory for it.
  void clear();

  /// Calls f(name, index, address, bytes) for the memory of every tensor.
  template <class F>
  void for_each_extent(F&& f) const {
    for (size_t i = 0; i < items_.size(); ++i) {
      const ParamRef& r = items_[i];
      const int index = static_cast<int>(i);
      const int64_t bytes = r.numel_ * element_size(dtype_);
      f("parameter", index, r.param_, bytes);
      f("gradient", index, r.grad_, bytes);
      for (const char* s : r.state_)
        if (s) f("state of parameter", index, s, bytes);
    }
    live_.for_each_extent(f);
    skip_.for_each_extent(f);
  }
  /// Moves every address by `delta` bytes (device address to host alias).
  void rebase(ptrdiff_t delta);

 private:
  Device device_;
  ScalarType dtype_;
  std::vector<ParamRef> items_;
  Numbers live_, skip_;
};

}  // namespace taeda::inline v0_2
