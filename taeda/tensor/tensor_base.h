// The object behind a tensor handle (a layout over a storage, plus what autograd hangs on it), and
// the handle's metadata half: everything about a tensor that needs no operation.
#pragma once

#include <atomic>
#include <memory>

#include "taeda/base/scalar.h"
#include "taeda/device/storage.h"
#include "taeda/tensor/layout.h"
#include "taeda/tensor/options.h"

namespace taeda::inline v0_2 {

struct TensorImpl;

/// What autograd keeps per tensor (gradient, history, hooks); defined in autograd/meta.h.
struct AutogradMetaBase {
  virtual ~AutogradMetaBase() = default;
  /// The tensor dies: anything that points at it without owning it must forget it.
  virtual void on_destroy(TensorImpl*) noexcept {}
};

/// How a view came to be; decides whether it may be changed in place, and whether it may be used
/// after its base was (autograd/view.h). A view of a view has its kind unless it gets another.
enum class ViewKind : uint8_t {
  None,            ///< no view
  Default,         ///< recorded, or of a tensor without a history
  NoGrad,          ///< made while gradients were off
  MultiOutput,     ///< one of several views that one operation gave
  Inference,       ///< made in inference mode of a tensor that was not
  CustomFunction,  ///< given by a user-defined function
};

/// Counts in-place changes. A base and its views share one counter.
struct VersionCounter final : RefCounted, BlockCached {
  explicit VersionCounter(uint32_t start) : value(start) {}
  std::atomic<uint32_t> value;
};

/// Called with a tensor's wrapper when the tensor, which owns it, ends: tensor/wrapper.h.
using WrapperHook = void (*)(void* wrapper) noexcept;

/// What handles share: memory, layout, dtype, and what autograd knows.
struct TensorImpl final : RefCounted, BlockCached {
  TensorImpl(Storage s, Layout&& l, ScalarType t)
      : storage(std::move(s)), layout(std::move(l)), dtype(t) {
    refresh();
  }
  /// For who has counted the elements of `l` already and knows whether it is contiguous.
  TensorImpl(Storage s, Layout&& l, ScalarType t, int64_t n, bool is_contiguous)
      : storage(std::move(s)),
        layout(std::move(l)),
        numel(n),
        dtype(t),
        contiguous(is_contiguous) {}
  ~TensorImpl() {
    if (meta) meta->on_destroy(this);
    if (wrapper.load(std::memory_order_relaxed) & 1) [[unlikely]]
      drop_wrapper();
  }

  /// To be called after every change of `layout`.
  void refresh() {
    numel = checked_numel(layout.sizes);
    contiguous = layout.is_contiguous();
  }
  /// To be called instead of assigning `layout`.
  void set_layout(Layout l) {
    layout = std::move(l);
    refresh();
  }

  /// Counts changes in place, of all that share the memory.
  uint32_t version() const {
    return own_version ? own_version->value.load(std::memory_order_relaxed) : storage->version();
  }
  void bump_version() {
    if (own_version)
      own_version->value.fetch_add(1, std::memory_order_relaxed);
    else
      storage->bump_version();
  }

  /// Version at which a view's grad_fn was valid (autograd/view.h). First, beside the count.
  uint32_t view_version = 0;
  Storage storage;
  Layout layout;
  int64_t numel = 0;
  ScalarType dtype;
  bool contiguous = true;
  /// requires_grad was set, or there is a grad_fn: operations on this tensor are recorded.
  bool wants_grad = false;
  /// Made in inference mode: no version, never part of a graph.
  bool inference = false;
  ViewKind view_kind = ViewKind::None;
  std::unique_ptr<AutogradMetaBase> meta;
  /// The tensor this is a view of; never itself a view.
  IntrusivePtr<TensorImpl> base;
  /// None: the storage's own counter, which is the first base's. A second base over the same memory
  /// (set_data) brings one of its own, so that several parameters in one flat buffer do not disturb
  /// each other.
  IntrusivePtr<VersionCounter> own_version;
  /// Address of the wrapper; the lowest bit says that the tensor owns it (tensor/wrapper.h).
  std::atomic<uintptr_t> wrapper{0};

 private:
  [[gnu::noinline, gnu::cold]] void drop_wrapper() noexcept;
};

template <class T>
struct DefaultPtrTraits;
template <class T, size_t N, template <class> class Traits, class Index>
class TensorAccessor;
template <class T, size_t N, template <class> class Traits, class Index>
class GenericPackedTensorAccessor;

namespace detail {
[[noreturn]] void throw_undefined_tensor();
[[noreturn]] void throw_wrong_pointer_type(ScalarType have, ScalarType want);
/// Throws NotImplementedError, in the name of the operation, for a tensor on meta with elements.
void check_no_elements(int64_t numel);
}  // namespace detail

/// Reference to a TensorImpl, copied by reference like PyTorch's tensors. Methods of an undefined
/// tensor throw Error.
class TensorBase {
 public:
  TensorBase() = default;
  explicit TensorBase(IntrusivePtr<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return static_cast<bool>(impl_); }
  void reset() { impl_.reset(); }
  TensorImpl* unsafe_impl() const { return impl_.get(); }
  /// The same by libtorch's name, under which programs look an optimizer's state up.
  TensorImpl* unsafeGetTensorImpl() const { return impl_.get(); }
  const IntrusivePtr<TensorImpl>& impl_ptr() const { return impl_; }
  bool is_same(const TensorBase& other) const { return impl_ == other.impl_; }
  uint32_t use_count() const { return impl_ ? impl_->use_count() : 0; }

  int64_t dim() const { return impl().layout.ndim(); }
  int64_t ndimension() const { return dim(); }
  IntArrayRef sizes() const { return impl().layout.sizes; }
  IntArrayRef strides() const { return impl().layout.strides; }
  /// Size of one dimension; negative counts from the end.
  int64_t size(int64_t dim) const { return sizes()[wrap_own_dim(dim, this->dim())]; }
  int64_t stride(int64_t dim) const { return strides()[wrap_own_dim(dim, this->dim())]; }
  int64_t numel() const { return impl().numel; }
  const Layout& layout() const { return impl().layout; }
  int64_t storage_offset() const { return impl().layout.offset; }
  bool is_contiguous(MemoryFormat f = MemoryFormat::Contiguous) const {
    return f == MemoryFormat::ChannelsLast     ? layout().is_channels_last()
           : f == MemoryFormat::ChannelsLast3d ? layout().is_channels_last_3d()
                                               : impl().contiguous;
  }
  bool is_non_overlapping_and_dense() const { return layout().is_non_overlapping_and_dense(); }
  /// The format that results of operations on this tensor have.
  MemoryFormat suggest_memory_format(bool channels_last_strides_exact_match = false) const;

  ScalarType scalar_type() const { return impl().dtype; }
  ScalarType dtype() const { return impl().dtype; }
  int64_t element_size() const { return taeda::element_size(dtype()); }
  int64_t itemsize() const { return element_size(); }
  int64_t nbytes() const { return numel() * element_size(); }
  bool is_floating_point() const { return taeda::is_floating_point(dtype()); }
  bool is_complex() const { return taeda::is_complex(dtype()); }
  bool is_signed() const { return taeda::is_signed(dtype()); }

  Device device() const { return impl().storage->device(); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_sim() const { return device().is_sim(); }
  /// Whether it has no data, only sizes, strides and a dtype.
  bool is_meta() const { return device().is_meta(); }
  /// Index of the device; -1 on the CPU and on meta.
  int64_t get_device() const { return is_cpu() ? -1 : device().index(); }
  bool is_pinned() const { return impl().storage->is_pinned(); }
  /// Pinned memory serves every accelerator: the device is not looked at.
  bool is_pinned(std::optional<Device> /*device*/) const { return is_pinned(); }
  /// Whether it has indices and values in the place of memory: tensor/sparse.h.
  bool is_sparse() const { return layout().is_sparse(); }
  /// The same with indices of columns and with begins of rows.
  bool is_sparse_csr() const { return layout().is_sparse_csr(); }
  /// Whether its elements have places in memory, as those of all tensors but sparse ones have.
  bool is_strided() const { return layout().is_strided(); }
  // Of the other kinds that libtorch asks for there are none.
  bool is_nested() const { return false; }
  bool is_quantized() const { return false; }
  bool is_distributed() const { return false; }
  /// Conjugates and negatives are computed, never marked.
  bool is_conj() const { return false; }
  bool is_neg() const { return false; }
  TensorOptions options() const {
    return TensorOptions(dtype()).device(device()).layout(TensorLayout(layout()));
  }

  const Storage& storage() const { return impl().storage; }
  bool has_storage() const { return defined() && is_strided(); }
  /// Whether both share their memory.
  bool is_alias_of(const TensorBase& other) const { return storage() == other.storage(); }
  /// Address of the first element, on the tensor's device; null where there is no memory, as for
  /// tensors on meta. Throws NotImplementedError for a sparse tensor.
  void* data_ptr() const {
    auto* base = static_cast<char*>(impl().storage->data());
    return base ? base + impl().layout.offset * taeda::element_size(impl().dtype) : nullptr;
  }
  /// Throws Error unless T is the tensor's dtype, and NotImplementedError for a tensor on meta that
  /// has elements.
  template <class T>
  T* data_ptr() const {
    if (dtype_of<T>() != dtype()) detail::throw_wrong_pointer_type(dtype(), dtype_of<T>());
    void* p = data_ptr();
    if (!p && is_meta()) [[unlikely]]
      detail::check_no_elements(numel());
    return static_cast<T*>(p);
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  const void* const_data_ptr() const { return data_ptr(); }
  void* mutable_data_ptr() const { return data_ptr(); }

  /// A host tensor's elements as x[i][j] (tensor/accessor.h). Throws Error unless it has N
  /// dimensions of Ts.
  template <class T, size_t N>
  TensorAccessor<T, N, DefaultPtrTraits, int64_t> accessor() const&;
  template <class T, size_t N>
  void accessor() && = delete;
  /// The same with sizes and strides of 32 or 64 bits beside the pointer, on any device.
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
  GenericPackedTensorAccessor<T, N, Traits, int32_t> packed_accessor32() const&;
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
  GenericPackedTensorAccessor<T, N, Traits, int64_t> packed_accessor64() const&;
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
  GenericPackedTensorAccessor<T, N, Traits, int64_t> packed_accessor() const& {
    return packed_accessor64<T, N, Traits>();
  }

  /// Counts in-place changes of this tensor, its base and its views; not of inference tensors.
  int64_t _version() const;
  bool is_view() const { return impl().view_kind != ViewKind::None; }
  bool is_inference() const { return impl().inference; }
  /// Whether operations on this tensor are recorded: it is a leaf that requires a gradient, or it
  /// has a history that leads to one.
  bool requires_grad() const {
    const TensorImpl& t = impl();
    // A view follows its base, even if it was made without a history.
    return t.wants_grad || (t.base && t.base->wants_grad);
  }

 protected:
  TensorImpl& impl() const {
    if (!impl_) [[unlikely]]
      detail::throw_undefined_tensor();
    return *impl_;
  }
  IntrusivePtr<TensorImpl> impl_;
};

}  // namespace taeda::inline v0_2
