// Indexing; see Note [Rows] in kernels/index.h. An index out of range leaves a note, and its
// element is left alone.
#include <cstring>

#include "taeda/cuda/kernels/fault.cuh"
#include "taeda/cuda/kernels/index.cuh"
#include "taeda/cuda/kernels/scan.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/index.h"

namespace taeda::inline v0_2::gpu {

namespace {

__global__ void __launch_bounds__(kThreads)
    offsets_kernel(int64_t* out, const int64_t* index, const __grid_constant__ Offsets<2> places,
                   const IndexTerm term, Fault* fault, int64_t n) {
  const int64_t lowest = term.wraps ? -term.size : 0;
  for (int64_t e = thread_index(); e < n; e += thread_count()) {
    int64_t at[2];
    places.at(e, at);
    int64_t i = index[at[1]];
    if (i < lowest || i >= term.size) {
      note_fault(fault, term.dim < 0 ? FaultKind::IndexInSelf : FaultKind::IndexInDim, i, term.dim,
                 term.size);
      i = 0;  // kernels queued behind this one must not leave the tensor
    }
    if (i < 0) i += term.size;
    out[at[0]] = (term.first ? 0 : out[at[0]]) + i * term.stride;
  }
}

void index_offsets_cuda(const Tensor& offsets, const Tensor& index, const IndexTerm& term) {
  const int64_t n = offsets.numel();
  if (n == 0) return;
  const Context context(offsets.device());
  offsets_kernel<<<blocks_for(n), kThreads, 0, context.stream>>>(
      static_cast<int64_t*>(offsets.data_ptr()), static_cast<const int64_t*>(index.data_ptr()),
      Offsets<2>(index.sizes(), {offsets.strides(), index.strides()}), term,
      fault_of(context.device), n);
  context.launched("index");
}

/// Strides of all dimensions but the first.
IntArrayRef rest(IntArrayRef list) { return list.slice(1, list.size() - 1); }

/// Blocks of which both sides are one run of bytes move in words of 16 where addresses allow it.
template <class W>
__global__ void __launch_bounds__(kThreads)
    get_runs_kernel(W* out, int64_t out_step, const W* block, const int64_t* offsets, int64_t width,
                    const Divider packs, int64_t n) {
  constexpr int V = 16 / sizeof(W);
  const int64_t total = n * packs.divisor;
  for (int64_t t = thread_index(); t < total; t += thread_count()) {
    int64_t i, p;
    packs.divide(t, i, p);
    W* to = out + i * out_step + p * V;
    const W* from = block + offsets[i] + p * V;
    const uintptr_t bits = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from);
    if ((p + 1) * V <= width && bits % 16 == 0) {
      *reinterpret_cast<Word16*>(to) = *reinterpret_cast<const Word16*>(from);
      continue;
    }
    for (int64_t k = 0; k < V && p * V + k < width; ++k) to[k] = from[k];
  }
}

template <class W>
__global__ void __launch_bounds__(kThreads)
    get_kernel(W* out, int64_t out_step, const W* block, const int64_t* offsets,
               const __grid_constant__ Offsets<2> places, const Divider width, int64_t total) {
  for (int64_t t = thread_index(); t < total; t += thread_count()) {
    int64_t i, j, at[2];
    width.divide(t, i, j);
    places.at(j, at);
    out[i * out_step + at[0]] = block[offsets[i] + at[1]];
  }
}

void index_get_cuda(const Tensor& out, const Tensor& block, const Tensor& offsets) {
  const int64_t n = offsets.numel(), width = block.numel();
  if (n == 0 || width == 0) return;
  const Context context(out.device());
  const Offsets<2> places(block.sizes(), {rest(out.strides()), block.strides()});
  const bool is_run = places.ndim == 0 ||
                      (places.ndim == 1 && places.stride[0][0] == 1 && places.stride[1][0] == 1);
  const int64_t* from = static_cast<const int64_t*>(offsets.data_ptr());
  with_word(out.element_size(), [&]<class W>(W) {
    W* to = static_cast<W*>(out.data_ptr());
    const W* data = static_cast<const W*>(block.data_ptr());
    if (is_run && width > 1) {
      constexpr int64_t V = 16 / sizeof(W);
      const Divider packs((width + V - 1) / V);
      get_runs_kernel<W><<<blocks_for(n * packs.divisor), kThreads, 0, context.stream>>>(
          to, out.strides()[0], data, from, width, packs, n);
      return;
    }
    get_kernel<W><<<blocks_for(n * width), kThreads, 0, context.stream>>>(
        to, out.strides()[0], data, from, places, Divider(width), n * width);
  });
  context.launched("index");
}

__global__ void __launch_bounds__(kThreads)
    place_keys_kernel(const int64_t* offsets, const KeyArray keys, int64_t n) {
  for (int64_t i = thread_index(); i < n; i += thread_count())
    keys.set(i, static_cast<uint64_t>(offsets[i]));
}

/// One more than the largest offset in a tensor.
int64_t extent(const Tensor& t) {
  int64_t last = 0;
  for (int64_t d = 0; d < t.dim(); ++d) last += (t.sizes()[d] - 1) * t.strides()[d];
  return last + 1;
}

void index_put_cuda(const Tensor& block, const Tensor& offsets, const Tensor& values,
                    bool accumulate) {
  const int64_t n = offsets.numel();
  if (n == 0 || block.numel() == 0) return;
  const Context context(block.device());
  // The block knows nothing of the indexed dimensions: its storage bounds the offsets.
  const int64_t bytes = static_cast<int64_t>(block.storage()->nbytes());
  const int bits = place_bits(bytes / block.element_size() + 1);
  SortedKeys sorted(context, block.device(), n, bits);
  place_keys_kernel<<<blocks_for(n), kThreads, 0, context.stream>>>(
      static_cast<const int64_t*>(offsets.data_ptr()), sorted.keys(), n);
  sorted.sort(bits - 1);  // every entry has a place
  MeetingWrites w{};
  w.places = sorted.keys();
  w.entries = sorted.positions();
  w.n = n;
  w.width = Divider(block.numel());
  w.block = Offsets<2>(block.sizes(), {block.strides(), rest(values.strides())});
  const int64_t entry_step[] = {values.strides()[0]};
  w.entry.add(n, entry_step);
  w.entry.finish();
  w.to = static_cast<char*>(block.data_ptr());
  w.values = static_cast<const char*>(values.data_ptr());
  w.dtype = block.dtype();
  accumulate ? add_up("index_put_", context, block.device(), w) : write_last(context, w);
}

/// Sizes or strides with another entry for dimension `dim`.
DimVector with_entry(IntArrayRef list, int64_t dim, int64_t entry) {
  DimVector out(list);
  if (!out.empty()) out[static_cast<size_t>(dim)] = entry;
  return out;
}

/// Element e of an index tensor, beside the operand shaped like it and the line of the operand that
/// is indexed.
struct Indexed {
  Offsets<3> places;  // of the index, of its twin, of the line's first element
  const int64_t* index;
  int64_t step, size, dim, n;
  Fault* fault;

  Indexed(const Tensor& indices, const Tensor& twin, const Tensor& self, int64_t d, int device)
      : places(indices.sizes(),
               {indices.strides(), twin.strides(), with_entry(self.strides(), d, 0)}),
        index(static_cast<const int64_t*>(indices.data_ptr())),
        step(self.dim() > 0 ? self.strides()[d] : 0),
        size(self.dim() > 0 ? self.sizes()[d] : 1),
        dim(d),
        n(indices.numel()),
        fault(fault_of(device)) {}
  /// Where the twin's element and the indexed one lie; false for an index out of range.
  __device__ bool find(int64_t e, int64_t& twin, int64_t& self) const {
    int64_t at[3];
    places.at(e, at);
    const int64_t i = index[at[0]];
    twin = at[1];
    self = at[2] + i * step;
    if (i >= 0 && i < size) return true;
    note_fault(fault, FaultKind::IndexInDim, i, dim, size);
    return false;
  }
};

template <class W>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(W* out, const W* self, const __grid_constant__ Indexed x) {
  for (int64_t e = thread_index(); e < x.n; e += thread_count()) {
    int64_t to, from;
    if (x.find(e, to, from)) out[to] = self[from];
  }
}

void gather_cuda(const Tensor& out, const Tensor& self, const Tensor& index, int64_t dim) {
  if (index.numel() == 0) return;
  const Context context(out.device());
  const Indexed x(index, out, self, dim, context.device);
  with_word(out.element_size(), [&]<class W>(W) {
    gather_kernel<W><<<blocks_for(x.n), kThreads, 0, context.stream>>>(
        static_cast<W*>(out.data_ptr()), static_cast<const W*>(self.data_ptr()), x);
  });
  context.launched("gather");
}

/// `carried`, which may be null, receives the entries' elements.
template <class W>
__global__ void __launch_bounds__(kThreads)
    scatter_keys_kernel(const __grid_constant__ Indexed x, const W* values, const KeyArray keys,
                        uint32_t* carried) {
  for (int64_t e = thread_index(); e < x.n; e += thread_count()) {
    int64_t twin, self;
    keys.set(e, x.find(e, twin, self) ? static_cast<uint64_t>(self) : keys.largest());
    if constexpr (sizeof(W) <= 4)
      if (carried) carried[e] = static_cast<uint32_t>(values[twin]);
  }
}

void scatter_cuda(const Tensor& self, const Tensor& index, const Tensor& src, int64_t dim,
                  Meeting how) {
  if (index.numel() == 0) return;
  const Context context(self.device());
  const Indexed x(index, src, self, dim, context.device);
  const int bits = place_bits(extent(self));
  // Elements that are no longer than their positions are sorted in their place: nothing is
  // gathered.
  const bool carried = src.element_size() <= 4;
  SortedKeys sorted(context, self.device(), x.n, bits, carried);
  with_word(src.element_size(), [&]<class W>(W) {
    scatter_keys_kernel<W><<<blocks_for(x.n), kThreads, 0, context.stream>>>(
        x, static_cast<const W*>(src.data_ptr()), sorted.keys(),
        carried ? sorted.positions() : nullptr);
  });
  sorted.sort(bits);
  MeetingWrites w{};
  w.carried = carried;
  w.places = sorted.keys();
  w.entries = sorted.positions();
  w.n = x.n;
  for (int64_t d = index.dim(); d-- > 0;) {
    const int64_t stride[] = {src.strides()[d]};
    w.entry.add(index.sizes()[d], stride);
  }
  w.entry.finish();
  w.to = static_cast<char*>(self.data_ptr());
  w.values = static_cast<const char*>(src.data_ptr());
  w.dtype = self.dtype();
  w.how = how;
  if (how == Meeting::Last) return write_last(context, w);
  add_up(how == Meeting::Sum ? "scatter_add" : "scatter_reduce", context, self.device(), w);
}

template <class W>
__global__ void __launch_bounds__(kThreads)
    masked_fill_kernel(W* out, const W* in, const bool* mask, const W value,
                       const __grid_constant__ Offsets<3> places, int64_t n) {
  for (int64_t e = thread_index(); e < n; e += thread_count()) {
    int64_t at[3];
    places.at(e, at);
    out[at[0]] = mask[at[2]] ? value : in[at[1]];
  }
}

void masked_fill_cuda(const Tensor& out, const Tensor& in, const Tensor& mask,
                      const Scalar& value) {
  const int64_t n = out.numel();
  if (n == 0) return;
  alignas(16) char bytes[16] = {};
  dispatch(AllTypes{}, "masked_fill", out.dtype(), [&]<class T>() {
    const T fill = value.to<T>();
    std::memcpy(bytes, &fill, sizeof(T));
  });
  const Context context(out.device());
  const Offsets<3> places(out.sizes(), {out.strides(), in.strides(), mask.strides()});
  with_word(out.element_size(), [&]<class W>(W word) {
    std::memcpy(&word, bytes, sizeof(W));
    masked_fill_kernel<W><<<blocks_for(n), kThreads, 0, context.stream>>>(
        static_cast<W*>(out.data_ptr()), static_cast<const W*>(in.data_ptr()),
        static_cast<const bool*>(mask.data_ptr()), word, places, n);
  });
  context.launched("masked_fill");
}

/// Whether an element's bytes are not those of zero, but for the signs of floating zeros.
__device__ bool is_set(const char* p, ScalarType t) {
  if (is_complex(t)) {
    const complex<double> z = load_as<complex<double>>(p, t);
    return z.re != 0 || z.im != 0;
  }
  return is_floating_point(t) ? load_as<double>(p, t) != 0 : load_as<int64_t>(p, t) != 0;
}

/// Counts elements that are set; each of them knows how many come before it.
struct NonzeroOp {
  using Acc = int64_t;
  const char* in;
  ScalarType dtype;
  int item, ndim;
  int64_t n;
  int64_t* count;  // gets the number of all, unless it is null
  int64_t* out;    // coordinates, unless it is null
  Divider size[kMaxDims];

  __device__ int64_t identity() const { return 0; }
  __device__ int64_t load(int64_t, int64_t i) const { return is_set(in + i * item, dtype); }
  __device__ int64_t combine(int64_t a, int64_t b) const { return a + b; }
  __device__ void store(int64_t, int64_t i, int64_t so_far) const {
    if (count) {
      if (i == n - 1) *count = so_far;
      return;
    }
    if (!is_set(in + i * item, dtype)) return;
    int64_t* to = out + (so_far - 1) * ndim;
    int64_t left = i;
    for (int d = ndim - 1; d >= 0; --d) size[d].divide(left, left, to[d]);
  }
};

void find_nonzero(const Tensor& in, int64_t* count, int64_t* out) {
  const Context context(in.device());
  if (in.numel() == 0) {
    if (count) check(cudaMemsetAsync(count, 0, sizeof(int64_t), context.stream), "nonzero");
    return;
  }
  NonzeroOp op{static_cast<const char*>(in.data_ptr()),
               in.dtype(),
               static_cast<int>(in.element_size()),
               static_cast<int>(in.dim()),
               in.numel(),
               count,
               out,
               {}};
  for (int64_t d = 0; d < in.dim(); ++d) op.size[d] = Divider(in.sizes()[d]);
  run_scan("nonzero", context, in.device(), ScanShape(1, in.numel()), op);
}

void nonzero_count_cuda(const Tensor& count, const Tensor& in) {
  find_nonzero(in, static_cast<int64_t*>(count.data_ptr()), nullptr);
}
void nonzero_cuda(const Tensor& out, const Tensor& in) {
  find_nonzero(in, nullptr, static_cast<int64_t*>(out.data_ptr()));
}

}  // namespace

void register_index() {
  fill_slots<On<index_offsets_slot, index_offsets_cuda>, On<index_get_slot, index_get_cuda>,
             On<index_put_slot, index_put_cuda>, On<gather_slot, gather_cuda>,
             On<scatter_slot, scatter_cuda>, On<masked_fill_slot, masked_fill_cuda>,
             On<nonzero_count_slot, nonzero_count_cuda>, On<nonzero_slot, nonzero_cuda>>(kCUDA);
}

}  // namespace taeda::inline v0_2::gpu
