// Convolutions through oneDNN.
//
// Layouts: an image of at most four channels stays as it is and oneDNN chooses the rest. Other
// sources and destinations are channels-last where oneDNN is within a tenth of its blocked layouts
// then and tensors that already are need no copy, and blocked elsewhere: see `images_tag`. Operands
// in another layout are reordered into scratch memory.
#include "taeda/cpu/onednn.h"

#if defined(TAEDA_HAS_ONEDNN)
#include <algorithm>
#include <bit>
#include <optional>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/host_copy.h"
#include "taeda/cpu/onednn_cache.h"
#include "taeda/cpu/scratch.h"
#endif

namespace taeda::inline v0_2::cpu::onednn {

#if defined(TAEDA_HAS_ONEDNN)

namespace {

using Desc = dnnl::memory::desc;
using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;
using MemoryDims = dnnl::memory::dims;

enum class Kind : int32_t { Forward, InputGrad, WeightGrad };

/// Everything that the primitives of a convolution depend on.
struct ConvKey {
  Dims in, weight, out;
  int64_t geometry[10];  // stride, padding, dilation, groups
  int64_t images;
  Kind kind;
  int32_t bias;
  int32_t dtype, threads;
  bool operator==(const ConvKey&) const = default;

  ConvKey(Kind k, const Tensor& x, const Tensor& w, const Tensor& y, bool with_bias,
          const ConvGeometry& g, int64_t n, int thread_count)
      : in(Dims::of(x)),
        weight(Dims::of(w)),
        out(Dims::of(y)),
        geometry{},
        images(n),
        kind(k),
        bias(with_bias),
        dtype(static_cast<int32_t>(x.dtype())),
        threads(thread_count) {
    for (int d = 0; d < g.ndim; ++d)
      geometry[d] = g.stride[d], geometry[3 + d] = g.padding[d], geometry[6 + d] = g.dilation[d];
    geometry[9] = g.groups;
  }
};

/// The tensor with `images` images.
Desc user_desc(const Tensor& t, int64_t images) {
  MemoryDims sizes = to_dims(t.sizes());
  sizes[0] = images;
  return {sizes, data_type(t.dtype()), to_dims(t.strides())};
}

/// Weights, with a dimension for the groups if there are several.
Desc weight_desc(const Tensor& w, int64_t groups) {
  MemoryDims sizes = to_dims(w.sizes()), strides = to_dims(w.strides());
  if (groups > 1) {
    sizes[0] /= groups;
    sizes.insert(sizes.begin(), groups);
    strides.insert(strides.begin(), strides[0] * sizes[1]);
  }
  return {sizes, data_type(w.dtype()), strides};
}

Desc with_tag(const Desc& d, Type type, Tag tag) { return {d.dims(), type, tag}; }

/// One operand: in the tensor's layout, and in the primitive's.
class ConvOperand {
 public:
  /// `ours`: the layout was not left to oneDNN.
  void set(const Desc& user, const Desc& chosen, bool input, bool ours) {
    user_ = user, chosen_ = chosen;
    differs_ = user != chosen;
    if (!differs_) return;
    if (ours && is_strided(user) && user.data.data_type == chosen.data.data_type) {
      from_ = layout_of(input ? user : chosen), to_ = layout_of(input ? chosen : user);
      dtype_ = user.data_type() == Type::bf16 ? kBFloat16 : kFloat;
      return;
    }
    const Desc &from = input ? user : chosen, &to = input ? chosen : user;
    reorder_ = dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
    arguments_.add(DNNL_ARG_FROM, from);
    arguments_.add(DNNL_ARG_TO, to);
  }
  bool differs() const { return differs_; }
  const Desc& chosen() const { return chosen_; }
  size_t bytes() const { return differs_ ? chosen_.get_size() : 0; }
  void reorder(const void* from, void* to) const {
    // Between images and channels-last ones the own kernel takes a quarter of oneDNN's time.
    if (dtype_ != ScalarType::Undefined) return copy_on_host("conv", to, to_, from, from_, dtype_);
    arguments_.set(0, const_cast<void*>(from));
    arguments_.set(1, to);
    arguments_.run(reorder_);
  }

 private:
  /// Whether strides are all that there is to know.
  static bool is_strided(const Desc& d) {
    const auto& blocks = d.data.format_desc.blocking;
    return d.data.format_kind == dnnl_blocked && blocks.inner_nblks == 0 && d.data.offset0 == 0 &&
           std::equal(d.data.dims, d.data.dims + d.data.ndims, d.data.padded_dims);
  }
  static Layout layout_of(const Desc& d) {
    const auto n = static_cast<size_t>(d.data.ndims);
    return {IntArrayRef(d.data.dims, n), IntArrayRef(d.data.format_desc.blocking.strides, n), 0};
  }
  Desc user_, chosen_;
  bool differs_ = false;
  ScalarType dtype_ = ScalarType::Undefined;  // set where strides tell both layouts
  Layout from_, to_;
  dnnl::reorder reorder_;
  Arguments arguments_;
};

struct Geometry {
  MemoryDims stride, dilation, before, after;

  Geometry(const Tensor& in, const Tensor& w, const Tensor& out, const ConvGeometry& g) {
    for (int d = 0; d < g.ndim; ++d) {
      const int64_t reach =
          (out.size(d + 2) - 1) * g.stride[d] + (w.size(d + 2) - 1) * g.dilation[d] + 1;
      stride.push_back(g.stride[d]);
      dilation.push_back(g.dilation[d] - 1);  // oneDNN counts what is skipped
      before.push_back(g.padding[d]);
      after.push_back(reach - in.size(d + 2) - g.padding[d]);
    }
  }
};

/// The layout of sources and destinations, `any` for what oneDNN likes best.
///
/// With AVX-512 channels-last is as fast as blocks of channels from 64 on. With AVX2 blocks are 1.2
/// to 1.9 times as fast, and reordering images of 256 channels to channels-last takes as long as a
/// convolution with one tap; but channels that do not fill blocks of 8 are left to slow kernels.
Tag images_tag(const Tensor& x, const Tensor& w, const Tensor& y, const ConvGeometry& g) {
  static const bool wide = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core;
  if (x.size(1) <= 4) return Tag::any;
  const bool blocks = x.size(1) % 8 == 0 && y.size(1) % 8 == 0;
  const int64_t taps = w.numel() / (w.size(0) * w.size(1));
  const bool as_it_is = taps == 1 && x.stride(1) == 1 && y.stride(1) == 1;
  if (!wide && blocks && !as_it_is) return Tag::any;
  return g.ndim == 1 ? Tag::nwc : g.ndim == 2 ? Tag::nhwc : Tag::ndhwc;
}

/// The primitive of one convolution with its operands: in, weight, out, bias.
struct Conv {
  dnnl::primitive primitive;
  ConvOperand in, weight, out;
  Arguments arguments;

  Conv(const ConvKey& key, const Tensor& x, const Tensor& w, const Tensor& y,
       const ConvGeometry& g) {
    const ThreadScope scope(key.threads);
    const Type type = data_type(x.dtype());
    const Desc ux = user_desc(x, key.images), uy = user_desc(y, key.images),
               uw = weight_desc(w, g.groups);
    const Tag image = images_tag(x, w, y, g);
    const bool grad = key.kind == Kind::WeightGrad;
    // Gradients by the weights are summed over several runs, in float.
    const Desc cx = with_tag(ux, type, image), cy = with_tag(uy, type, image),
               cw = with_tag(uw, grad ? Type::f32 : type, Tag::any);
    const Desc cb({y.size(1)}, grad ? Type::f32 : type, Tag::a);
    make(key, Geometry(x, w, y, g), cx, cw, cy, key.bias ? &cb : nullptr);
    const bool ours = image != Tag::any;
    in.set(ux, chosen_[0], key.kind != Kind::InputGrad, ours);
    weight.set(grad ? with_type(uw, Type::f32) : uw, chosen_[1], !grad, false);
    out.set(uy, chosen_[2], key.kind != Kind::Forward, ours);
    arguments.add(key.kind == Kind::InputGrad ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, chosen_[0]);
    arguments.add(grad ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, chosen_[1]);
    arguments.add(key.kind == Kind::Forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, chosen_[2]);
    if (key.bias) arguments.add(grad ? DNNL_ARG_DIFF_BIAS : DNNL_ARG_BIAS, cb);
  }

 private:
  static Desc with_type(const Desc& d, Type type) {
    Desc copy = d;
    copy.data.data_type = static_cast<dnnl_data_type_t>(type);
    return copy;
  }
  void make(const ConvKey& key, const Geometry& g, const Desc& x, const Desc& w, const Desc& y,
            const Desc* bias) {
    using namespace dnnl;
    const auto algorithm = algorithm::convolution_direct;
    const auto hint = [&] {
      return convolution_forward::primitive_desc({prop_kind::forward_training, algorithm, x, w, y,
                                                  g.stride, g.dilation, g.before, g.after},
                                                 engine());
    };
    const auto keep = [&](const Desc& a, const Desc& b, const Desc& c) {
      chosen_[0] = a, chosen_[1] = b, chosen_[2] = c;
    };
    if (key.kind == Kind::Forward) {
      const prop_kind kind = prop_kind::forward_training;
      const convolution_forward::primitive_desc pd(
          bias ? convolution_forward::desc(kind, algorithm, x, w, *bias, y, g.stride, g.dilation,
                                           g.before, g.after)
               : convolution_forward::desc(kind, algorithm, x, w, y, g.stride, g.dilation, g.before,
                                           g.after),
          engine());
      keep(pd.src_desc(), pd.weights_desc(), pd.dst_desc());
      primitive = convolution_forward(pd);
    } else if (key.kind == Kind::InputGrad) {
      const convolution_backward_data::primitive_desc pd(
          {algorithm, x, w, y, g.stride, g.dilation, g.before, g.after}, engine(), hint());
      keep(pd.diff_src_desc(), pd.weights_desc(), pd.diff_dst_desc());
      primitive = convolution_backward_data(pd);
    } else {
      const Desc forward_weights = with_type(w, static_cast<Type>(x.data.data_type));
      const convolution_forward::primitive_desc forward(
          {prop_kind::forward_training, algorithm, x, forward_weights, y, g.stride, g.dilation,
           g.before, g.after},
          engine());
      const convolution_backward_weights::primitive_desc pd(
          bias ? convolution_backward_weights::desc(algorithm, x, w, *bias, y, g.stride, g.dilation,
                                                    g.before, g.after)
               : convolution_backward_weights::desc(algorithm, x, w, y, g.stride, g.dilation,
                                                    g.before, g.after),
          engine(), forward);
      keep(pd.src_desc(), pd.diff_weights_desc(), pd.diff_dst_desc());
      primitive = convolution_backward_weights(pd);
    }
  }

  Desc chosen_[3];
};

Conv& plan(const ConvKey& key, const Tensor& x, const Tensor& w, const Tensor& y,
           const ConvGeometry& g) {
  static thread_local Cache<ConvKey, Conv> cache;
  return cache.get(key, [&] { return Conv(key, x, w, y, g); });
}

/// Whether oneDNN has kernels for these operands.
bool serves(const Tensor& x, const Tensor& w, const Tensor& y, const Tensor& bias,
            const ConvGeometry& g) {
  if (!onednn_enabled() || !takes(x.dtype())) return false;
  for (const Tensor* t : {&x, &w, &y})
    if (t->layout().has_internal_overlap()) return false;
  for (int d = 0; d < g.ndim; ++d)  // wider padding than the kernel: not supported
    if (g.padding[d] > (w.size(d + 2) - 1) * g.dilation[d]) return false;
  return !bias.defined() || bias.stride(0) == 1;
}

/// Adds bias[c] to all of channel c.
template <class T>
void add_bias(const Tensor& t, const Tensor& bias) {
  const IntArrayRef size = t.sizes(), stride = t.strides();
  const int64_t channels = size[1];
  const auto size_at = [&](size_t d) { return d < size.size() ? size[d] : 1; };
  const auto stride_at = [&](size_t d) { return d < size.size() ? stride[d] : 0; };
  const int64_t nz = size_at(2), ny = size_at(3), nx = size_at(4);
  const int64_t sz = stride_at(2), sy = stride_at(3), sx = stride_at(4);
  parallel_for(0, size[0] * channels, std::max<int64_t>(1, kParallelGrain / (nz * ny * nx)),
               [&](int64_t b, int64_t e) {
                 for (int64_t i = b; i < e; ++i) {
                   T* plane = static_cast<T*>(t.data_ptr()) + i / channels * stride[0] +
                              i % channels * stride[1];
                   const float value =
                       static_cast<float>(static_cast<const T*>(bias.data_ptr())[i % channels]);
                   for (int64_t z = 0; z < nz; ++z)
                     for (int64_t y = 0; y < ny; ++y)
                       for (int64_t x = 0; x < nx; ++x) {
                         T& element = plane[z * sz + y * sy + x * sx];
                         element = static_cast<T>(static_cast<float>(element) + value);
                       }
                 }
               });
}

/// Images [first, first + images) of t.
void* image(const Tensor& t, int64_t first) {
  return static_cast<char*>(t.data_ptr()) + first * t.stride(0) * t.element_size();
}

/// Gradients of one run of images, in the primitive's layout of the weights.
void weight_grad_run(const Conv& conv, const Tensor& in, const Tensor& grad_out, int64_t first,
                     void* weights, void* bias) {
  const Scratch x(conv.in.bytes()), y(conv.out.bytes());
  if (conv.in.differs()) conv.in.reorder(image(in, first), x.data());
  if (conv.out.differs()) conv.out.reorder(image(grad_out, first), y.data());
  conv.arguments.set(0, conv.in.differs() ? x.data() : image(in, first));
  conv.arguments.set(1, weights);
  conv.arguments.set(2, conv.out.differs() ? y.data() : image(grad_out, first));
  if (bias) conv.arguments.set(3, bias);
  const ThreadScope scope(1);
  conv.arguments.run(conv.primitive);
}

/// Images are cut into runs by a rule of the sizes, each run is summed by one thread, and the runs
/// in order: oneDNN's own split of the images would follow the number of threads. Writing and
/// adding a run's sums takes as long as the products of 20 positions; that is kept to a twentieth,
/// while four threads find work. A power of two of them are even parts for as many threads.
int64_t run_count(const Tensor& grad_weight, const Tensor& grad_out) {
  const int64_t images = grad_out.size(0);
  const int64_t positions = std::max<int64_t>(1, grad_out.numel() / (images * grad_out.size(1)));
  const int64_t image_work = grad_weight.numel() * positions;
  const int64_t runs =
      std::min<int64_t>(16, std::max<int64_t>(1, (int64_t{8} << 20) / grad_weight.numel()));
  const int64_t length = std::max<int64_t>({1, (images + runs - 1) / runs,
                                            (int64_t{1} << 20) / std::max<int64_t>(1, image_work),
                                            std::min((399 + positions) / positions, images / 4)});
  const auto count = static_cast<uint64_t>((images + length - 1) / length);
  const uint64_t even = std::bit_floor(count);
  return std::min<int64_t>(images, static_cast<int64_t>(2 * count >= 3 * even ? 2 * even : even));
}

template <class T>
void store_sums(const float* from, const Tensor& to) {
  parallel_for(0, to.numel(), kParallelGrain, [&](int64_t begin, int64_t end) {
    T* const out = static_cast<T*>(to.data_ptr());
    for (int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(from[i]);
  });
}

}  // namespace

bool conv(const Tensor& out, const Tensor& in, const Tensor& weight, const Tensor& bias,
          const ConvGeometry& geometry) {
  if (!serves(in, weight, out, bias, geometry)) return false;
  const ConvKey key(Kind::Forward, in, weight, out, bias.defined(), geometry, in.size(0),
                    threads());
  Conv& c = plan(key, in, weight, out, geometry);
  const Scratch x(c.in.bytes()), w(c.weight.bytes()), y(c.out.bytes());
  if (c.in.differs()) c.in.reorder(in.data_ptr(), x.data());
  if (c.weight.differs()) c.weight.reorder(weight.data_ptr(), w.data());
  c.arguments.set(0, c.in.differs() ? x.data() : in.data_ptr());
  c.arguments.set(1, c.weight.differs() ? w.data() : weight.data_ptr());
  c.arguments.set(2, c.out.differs() ? y.data() : out.data_ptr());
  if (bias.defined()) c.arguments.set(3, bias.data_ptr());
  c.arguments.run(c.primitive);
  if (c.out.differs()) c.out.reorder(y.data(), out.data_ptr());
  return true;
}

bool conv_input_grad(const Tensor& grad_in, const Tensor& grad_out, const Tensor& weight,
                     const Tensor& bias, const ConvGeometry& geometry) {
  if (!serves(grad_in, weight, grad_out, bias, geometry)) return false;
  const ConvKey key(Kind::InputGrad, grad_in, weight, grad_out, false, geometry, grad_in.size(0),
                    threads());
  Conv& c = plan(key, grad_in, weight, grad_out, geometry);
  const Scratch x(c.in.bytes()), w(c.weight.bytes()), y(c.out.bytes());
  if (c.weight.differs()) c.weight.reorder(weight.data_ptr(), w.data());
  if (c.out.differs()) c.out.reorder(grad_out.data_ptr(), y.data());
  c.arguments.set(0, c.in.differs() ? x.data() : grad_in.data_ptr());
  c.arguments.set(1, c.weight.differs() ? w.data() : weight.data_ptr());
  c.arguments.set(2, c.out.differs() ? y.data() : grad_out.data_ptr());
  c.arguments.run(c.primitive);
  if (c.in.differs()) c.in.reorder(x.data(), grad_in.data_ptr());
  if (bias.defined()) {
    if (grad_in.dtype() == kFloat)
      add_bias<float>(grad_in, bias);
    else
      add_bias<BFloat16>(grad_in, bias);
  }
  return true;
}

bool conv_weight_grad(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& in,
                      const Tensor& grad_out, const ConvGeometry& geometry) {
  if (!serves(in, grad_weight, grad_out, grad_bias, geometry)) return false;
  const int64_t images = in.size(0), runs = run_count(grad_weight, grad_out);
  const int64_t least = images / runs, length = (images + runs - 1) / runs;
  const auto run_plan = [&](int64_t n) -> Conv& {
    const ConvKey key(Kind::WeightGrad, in, grad_weight, grad_out, grad_bias.defined(), geometry, n,
                      1);
    return plan(key, in, grad_weight, grad_out, geometry);
  };
  const Desc layout = run_plan(length).weight.chosen();
  // Shorter runs must lay out their sums alike.
  if (least < length && run_plan(least).weight.chosen() != layout) return false;
  const size_t weight_bytes = layout.get_size();
  const int64_t count = static_cast<int64_t>(weight_bytes / sizeof(float)),
                channels = grad_out.size(1);
  ScratchArray<float> sums(runs * (count + channels));
  parallel_for(0, runs, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t first = r * images / runs, of_run = (r + 1) * images / runs - first;
      float* part = sums.get() + r * (count + channels);
      weight_grad_run(run_plan(of_run), in, grad_out, first, part,
                      grad_bias.defined() ? part + count : nullptr);
    }
  });
  parallel_for(0, count + channels, kParallelGrain, [&](int64_t begin, int64_t end) {
    for (int64_t r = 1; r < runs; ++r) {
      const float* part = sums.get() + r * (count + channels);
      for (int64_t i = begin; i < end; ++i) sums.get()[i] += part[i];
    }
  });
  const Conv& c = run_plan(length);
  const bool direct = c.weight.differs() && grad_weight.dtype() == kFloat;
  ScratchArray<float> dense(direct ? 0 : grad_weight.numel());
  float* const target = direct ? grad_weight.data_ptr<float>() : dense.get();
  if (c.weight.differs()) c.weight.reorder(sums.get(), target);
  const float* weights = c.weight.differs() ? target : sums.get();
  if (grad_weight.dtype() == kFloat) {
    if (!direct) store_sums<float>(weights, grad_weight);
    if (grad_bias.defined()) store_sums<float>(sums.get() + count, grad_bias);
  } else {
    store_sums<BFloat16>(weights, grad_weight);
    if (grad_bias.defined()) store_sums<BFloat16>(sums.get() + count, grad_bias);
  }
  return true;
}

#else

bool conv(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const ConvGeometry&) {
  return false;
}
bool conv_input_grad(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                     const ConvGeometry&) {
  return false;
}
bool conv_weight_grad(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                      const ConvGeometry&) {
  return false;
}

#endif

}  // namespace taeda::inline v0_2::cpu::onednn
