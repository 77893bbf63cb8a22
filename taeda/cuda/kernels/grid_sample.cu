// Sampling at the places of a grid: a thread for each place, which goes through all channels.
// Gradients that meet at an element are sorted by it and added up in the order of their places.
#include "taeda/cuda/kernels/index.cuh"
#include "taeda/cuda/kernels/rows.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/grid_sample.h"

namespace taeda::inline v0_2::gpu {

namespace {

constexpr int kAxes = 3, kAxisTaps = 4;

/// A call: images of `channels` channels of `plane` elements, `places` for each.
template <class M>
struct GridCall {
  Reader<M> in, grid;
  GridSampling how;
  int dims, axis_taps, taps = 1;
  int64_t channels, plane = 1, places = 1, total, sizes[kAxes];
  Divider per_image;
  GridAxis<M> axes[kAxes];

  GridCall(const Tensor& images, const Tensor& at, const GridSampling& s)
      : in(images),
        grid(at),
        how(s),
        dims(static_cast<int>(images.dim()) - 2),
        axis_taps(grid_taps(s.mode)),
        channels(images.size(1)) {
    for (int d = 0; d < dims; ++d) {
      sizes[d] = images.size(d + 2);
      axes[d] = GridAxis<M>(sizes[d], s.align_corners);
      plane *= sizes[d];
      places *= at.size(d + 1);
      taps *= axis_taps;
    }
    total = images.size(0) * places;
    per_image = Divider(places);
  }
};

/// What a place takes part of in each dimension: elements, whether they exist, shares and their
/// derivatives by the coordinate.
template <class M>
struct PlaceTaps {
  int64_t at[kAxes][kAxisTaps];
  bool on[kAxes][kAxisTaps];
  M share[kAxes][kAxisTaps], slope[kAxes][kAxisTaps];

  __device__ PlaceTaps(const GridCall<M>& call, int64_t place) {
    const bool cubic = call.how.mode == GridMode::Bicubic;
    for (int d = 0; d < call.dims; ++d) {
      const GridAxis<M>& axis = call.axes[d];
      M factor = axis.scale, p = axis.position(call.grid[(place + 1) * call.dims - 1 - d]);
      if (!cubic) p = axis.inside(call.how.padding, p, factor);
      const M first = grid_first(call.how.mode, p);
      for (int tap = 0; tap < call.axis_taps; ++tap) {
        M element = first + static_cast<M>(tap), unused = 1;
        if (cubic) element = axis.inside(call.how.padding, element, unused);
        at[d][tap] = static_cast<int64_t>(axis.clamped(element));
        on[d][tap] = axis.has(element);
        share[d][tap] = grid_share(call.how.mode, tap, p, first);
        slope[d][tap] = factor * grid_slope(call.how.mode, tap, p, first);
      }
    }
  }
  /// The element of tap number `tap` of all dimensions, or -1, and its share. With `by` >= 0 its
  /// derivative by that dimension's coordinate.
  __device__ int64_t element(const GridCall<M>& call, int tap, int by, M& weight) const {
    int64_t e = 0, step = 1;
    bool exists = true;
    weight = 1;
    for (int d = call.dims - 1; d >= 0; --d) {
      const int i = tap % call.axis_taps;
      tap /= call.axis_taps;
      e += at[d][i] * step;
      step *= call.sizes[d];
      exists = exists && on[d][i];
      weight *= d == by ? slope[d][i] : share[d][i];
    }
    return exists ? e : -1;
  }
};

template <class M>
__global__ void __launch_bounds__(kThreads)
    sample_kernel(const __grid_constant__ GridCall<M> call, Writer<M> out) {
  for (int64_t t = thread_index(); t < call.total; t += thread_count()) {
    int64_t n, place;
    call.per_image.divide(t, n, place);
    const PlaceTaps<M> taps(call, t);
    for (int64_t c = n * call.channels; c < (n + 1) * call.channels; ++c) {
      M sum = 0;
      for (int tap = 0; tap < call.taps; ++tap) {
        M weight;
        const int64_t e = taps.element(call, tap, -1, weight);
        sum += weight * (e < 0 ? M(0) : call.in[c * call.plane + e]);
      }
      out.set(c * call.places + place, sum);
    }
  }
}

template <class M>
__global__ void __launch_bounds__(kThreads)
    grid_gradient_kernel(const __grid_constant__ GridCall<M> call, Reader<M> grad, Writer<M> out) {
  for (int64_t t = thread_index(); t < call.total; t += thread_count()) {
    int64_t n, place;
    call.per_image.divide(t, n, place);
    const PlaceTaps<M> taps(call, t);
    M by[kAxes] = {};
    for (int tap = 0; tap < call.taps; ++tap) {
      M weight;
      const int64_t e = taps.element(call, tap, -1, weight);
      M sum = 0;
      for (int64_t c = n * call.channels; e >= 0 && c < (n + 1) * call.channels; ++c)
        sum += grad[c * call.places + place] * call.in[c * call.plane + e];
      for (int d = 0; d < call.dims; ++d) {
        (void)taps.element(call, tap, d, weight);
        by[d] += weight * sum;
      }
    }
    for (int d = 0; d < call.dims; ++d) out.set((t + 1) * call.dims - 1 - d, by[d]);
  }
}

/// For tap number `tap` of place t, entry t * taps + tap: where in the images it adds in the first
/// channel, and what it adds to each channel.
template <class M>
__global__ void __launch_bounds__(kThreads)
    image_entries_kernel(const __grid_constant__ GridCall<M> call, Reader<M> grad,
                         const KeyArray keys, Writer<M> values) {
  for (int64_t t = thread_index(); t < call.total; t += thread_count()) {
    int64_t n, place;
    call.per_image.divide(t, n, place);
    const PlaceTaps<M> taps(call, t);
    for (int tap = 0; tap < call.taps; ++tap) {
      M weight;
      const int64_t e = taps.element(call, tap, -1, weight), entry = t * call.taps + tap;
      keys.set(entry,
               e < 0 ? keys.largest() : static_cast<uint64_t>(n * call.channels * call.plane + e));
      for (int64_t c = 0; e >= 0 && c < call.channels; ++c)
        values.set(entry * call.channels + c,
                   weight * grad[(n * call.channels + c) * call.places + place]);
    }
  }
}

template <class M>
void add_to_images(const Context& context, const GridCall<M>& call, const Tensor& grad_in,
                   const Tensor& grad_out) {
  const char* const op = grid_sample_backward_slot.name();
  check(cudaMemsetAsync(grad_in.data_ptr(), 0,
                        static_cast<size_t>(grad_in.numel() * grad_in.element_size()),
                        context.stream),
        op);
  const int64_t entries = call.total * call.taps;
  const Scratch memory(grad_in.device(), entries * call.channels * grad_in.element_size());
  const int bits = place_bits(grad_in.numel());
  SortedKeys sorted(context, grad_in.device(), entries, bits);
  Writer<M> values(grad_in);
  values.data = memory.as<char>();
  image_entries_kernel<M><<<blocks_for(call.total), kThreads, 0, context.stream>>>(
      call, Reader<M>(grad_out), sorted.keys(), values);
  sorted.sort(bits);
  MeetingWrites w{};
  w.places = sorted.keys();
  w.entries = sorted.positions();
  w.n = entries;
  w.width = Divider(call.channels);
  const int64_t channel[] = {call.plane, 1}, entry[] = {call.channels};
  w.block.add(call.channels, channel);
  w.block.finish();
  w.entry.add(entries, entry);
  w.entry.finish();
  w.to = static_cast<char*>(grad_in.data_ptr());
  w.values = memory.as<char>();
  w.dtype = grad_in.dtype();
  add_up(op, context, grad_in.device(), w);
}

void grid_sample_cuda(const Tensor& out, const Tensor& in, const Tensor& grid,
                      const GridSampling& s) {
  const Context context(out.device());
  dispatch_compute(FloatCompute{}, grid_sample_slot.name(), out.dtype(), [&]<class M>() {
    const GridCall<M> call(in, grid, s);
    sample_kernel<M><<<blocks_for(call.total), kThreads, 0, context.stream>>>(call, Writer<M>(out));
  });
  context.launched(grid_sample_slot.name());
}

void grid_sample_backward_cuda(const Tensor& grad_in, const Tensor& grad_grid,
                               const Tensor& grad_out, const Tensor& in, const Tensor& grid,
                               const GridSampling& s) {
  const Context context(in.device());
  dispatch_compute(FloatCompute{}, grid_sample_backward_slot.name(), in.dtype(), [&]<class M>() {
    const GridCall<M> call(in, grid, s);
    if (grad_in.defined()) add_to_images(context, call, grad_in, grad_out);
    if (grad_grid.defined())
      grid_gradient_kernel<M><<<blocks_for(call.total), kThreads, 0, context.stream>>>(
          call, Reader<M>(grad_out), Writer<M>(grad_grid));
  });
  context.launched(grid_sample_backward_slot.name());
}

}  // namespace

void register_grid_sample() {
  grid_sample_slot.set(kCUDA, &grid_sample_cuda);
  grid_sample_backward_slot.set(kCUDA, &grid_sample_backward_cuda);
}

}  // namespace taeda::inline v0_2::gpu
