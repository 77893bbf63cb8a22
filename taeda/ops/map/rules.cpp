#include "taeda/ops/map/rules.h"

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/tensor/result_type.h"

namespace taeda::inline v0_2::map_rules {

/// Note [Rules of maps]
/// A rule finds the operands of a call with the samples as first dimension and calls the operation,
/// or others, so that they are the first dimension of what comes out, too. It is chosen by the name
/// of the operation; a form in place has the rule of the operation, with itself in the place of the
/// result. Most are of few kinds: what goes element by element aligns its operands; what works on
/// the last dimensions has one more in front; what names dimensions names those behind the first.
/// What has no rule, or is called in a way that its rule does not know, goes sample by sample.

using Kind = MapArgument::Kind;

void add(Table& table, MapRule rule, std::string_view names) {
  for (size_t at = 0; at < names.size();) {
    const size_t end = std::min(names.find(' ', at), names.size());
    if (end > at) table[names.substr(at, end - at)] = rule;
    at = end + 1;
  }
}

int64_t behind_samples(int64_t dim, int64_t dims) {
  return static_cast<int64_t>(wrap_own_dim(dim, std::max<int64_t>(dims, 1))) + 1;
}
DimVector behind_samples(IntArrayRef dims_of, int64_t dims) {
  DimVector out;
  for (const int64_t d : dims_of) out.push_back(behind_samples(d, dims));
  return out;
}
Tensor rows_of(const Tensor& all) { return all.dim() == 1 ? all.unsqueeze(1) : all.flatten(1); }
DimVector sample_sizes(const Tensor& all) { return DimVector(all.sizes().slice(1)); }

namespace {

/// A tensor of no meaning that promotes dtypes as a sample of the operand does.
Tensor sample_like(const MapOperand& o) {
  return make_tensor(DimVector(static_cast<size_t>(o.dims), 1), o.tensor->dtype(), Device(kCPU));
}

bool is_condition(const MapCall& call, const MapOperand& o) {
  return (call.name() == "where" && o.argument == 0) ||
         (call.name().starts_with("masked_fill") && o.argument == 1);
}

/// Samples without dimensions would have one, and be promoted as tensors with dimensions are.
void promote(MapCall& call) {
  if (call.name() == "copy_" || call.name().starts_with("masked_fill")) return;
  std::vector<MapOperand*> values;
  for (MapOperand& o : call.operands)
    if (!is_condition(call, o)) values.push_back(&o);
  bool differ = false;
  for (const MapOperand* o : values) differ |= o->tensor->dtype() != values[0]->tensor->dtype();
  if (!differ) return;
  ScalarType type = values[0]->tensor->dtype();
  Tensor seen = sample_like(*values[0]);
  for (const MapOperand* o : values) {
    const Tensor next = sample_like(*o);
    type = result_type(seen, next);
    seen = make_tensor(DimVector(static_cast<size_t>(std::max(seen.dim(), next.dim())), 1), type,
                       Device(kCPU));
  }
  for (MapOperand* o : values)
    if (!(call.in_place && o == values[0]) && o->mapped) *o->tensor = o->tensor->to(type);
}

/// A number that differs between samples takes the place of elements.
bool fill(MapCall& call) {
  if (call.operands.size() < 2 || !call.operands[1].mapped) return as_it_is(call);
  Tensor value = call.operands[1].tensor->to(call.tensor(0).dtype());
  MapOperand aligned{&value, true, 0, 1};
  MapCall::align(aligned, call.operands[0].dims);
  call.tensor(0).copy_(value);
  return true;
}

Tensor where_of(const Tensor& condition, const Tensor& a, const Tensor& b) {
  return taeda::where(condition, a, b);
}

bool masked_fill(MapCall& call) {
  if (!call.is(2, Kind::Tensor) || !call.is_mapped(2)) {
    if (MapOperand* o = call.operand(2)) o->dims = call.most_dims();
    return pointwise(call);
  }
  call.tensor(2) = call.tensor(2).to(call.tensor(0).dtype());
  call.align_all(call.most_dims());
  call.give(where_of(call.tensor(1), call.tensor(2), call.tensor(0)));
  return true;
}

bool prelu(MapCall& call) {
  const int64_t dims = call.operand(0)->dims;
  if (!call.is_mapped(0) || call.is_mapped(1) || call.tensor(1).numel() == 1)
    return call.tensor(1).numel() == 1 && !call.is_mapped(1) && as_it_is(call);
  if (dims < 2) return false;
  DimVector shape(static_cast<size_t>(dims), 1);
  shape[1] = call.tensor(1).numel();
  const Tensor &x = call.tensor(0), slope = call.tensor(1).reshape(shape);
  call.results = {where_of(x.gt(0), x, x.mul(slope))};
  return true;
}

[[noreturn]] bool refuse_item(MapCall&) {
  throw UnmappedError(
      "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
      ".item() on a Tensor, please try to rewrite what you're doing with other operations. If "
      "error "
      "is occurring somewhere inside PyTorch internals, please file a bug report.");
}
[[noreturn]] bool refuse_equal(MapCall&) { refuse_control_flow(); }
bool refuse_dynamic(MapCall& call) {
  if (call.name() == "where" && call.operands.size() != 1) return pointwise(call);
  if (call.name() == "where" && call.size() > 1) return pointwise(call);
  throw UnmappedError(taeda::detail::concat(
      "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap "
      "over aten::",
      call.name(), "."));
}
bool masked_select(MapCall& call) {
  if (call.is_mapped(1))
    throw UnmappedError(
        "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support "
        "this because for each batch this would return a differently shaped Tensor.");
  return false;
}

constexpr std::string_view kPointwise =
    "abs angle entr special_entr special_xlog1py xlog1py acos acosh add addcdiv addcmul asin asinh "
    "atan atan2 atanh bitwise_and bitwise_left_shift "
    "bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil celu clamp clamp_max clamp_min "
    "clone conj conj_physical contiguous copy_ copysign cos cosh deg2rad detach digamma div elu eq "
    "erf erfc erfinv exp exp2 expm1 floor floor_divide fmax fmin fmod frac full_like gcd ge gelu "
    "gelu_backward gt hardshrink hardsigmoid hardswish hardtanh heaviside hypot igamma igammac "
    "imag isclose isfinite isinf isnan lcm ldexp le leaky_relu lerp lgamma log log10 log1p log2 "
    "log_sigmoid logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logit lt "
    "make_complex maximum minimum mish mul mvlgamma nan_to_num ne neg nextafter ones_like polar "
    "polygamma pow rad2deg real reciprocal relu relu6 remainder round rsqrt rsub selu sgn sigmoid "
    "sigmoid_backward sign signbit silu silu_backward sin sinc sinh softplus softshrink softsign "
    "special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 "
    "special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
    "special_chebyshev_polynomial_w special_erfcx special_gammainc special_gammaincc "
    "special_hermite_polynomial_h special_hermite_polynomial_he special_i0 special_i0e special_i1 "
    "special_i1e special_laguerre_polynomial_l special_legendre_polynomial_p special_log_ndtr "
    "special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 "
    "special_modified_bessel_k1 special_ndtr special_ndtri special_scaled_modified_bessel_k0 "
    "special_scaled_modified_bessel_k1 special_shifted_chebyshev_polynomial_t "
    "special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v "
    "special_shifted_chebyshev_polynomial_w special_spherical_bessel_j0 special_zeta sqrt square "
    "sub tan tanh tanh_backward tanhshrink threshold threshold_backward to trunc view_as_complex "
    "view_as_real xlogy zeros_like dropout dropout_ alpha_dropout alpha_dropout_ feature_dropout "
    "feature_alpha_dropout rrelu frexp to_dense";

Table make_table() {
  Table table;
  add(table, pointwise, kPointwise);
  add(table, fill, "fill_");
  add(table, masked_fill, "masked_fill");
  add(table, prelu, "prelu");
  add(table, refuse_item, "item");
  add(table, refuse_equal, "equal");
  add(table, refuse_dynamic,
      "nonzero unique unique_consecutive unique_dim unique_dim_consecutive where");
  add(table, masked_select, "masked_select");
  add(table, by_parts,
      "isin linalg_householder_product masked_scatter max_unpool multi_margin_loss "
      "multilabel_margin_loss");
  add_shapes(table);
  add_reductions(table);
  add_products(table);
  add_layers(table);
  add_losses(table);
  add_indexing(table);
  return table;
}

}  // namespace

bool pointwise(MapCall& call) {
  promote(call);
  call.align_all(call.most_dims());
  call.results = call.run();
  return true;
}

bool as_it_is(MapCall& call) {
  call.results = call.run();
  return true;
}

bool by_parts(MapCall& call) {
  if (call.in_place) return false;
  try {
    call.results = call.run_by_parts();
    return true;
  } catch (const UnmappedError&) {
    return false;
  }
}

bool in_front(MapCall& call) {
  call.expand_all();
  call.align_all(call.most_dims());
  call.results = call.run();
  return true;
}

}  // namespace taeda::inline v0_2::map_rules

namespace taeda::inline v0_2 {

MapRule find_map_rule(std::string_view name) {
  static const map_rules::Table table = map_rules::make_table();
  auto found = table.find(name);
  if (found == table.end() && name.ends_with('_'))
    found = table.find(name.substr(0, name.size() - 1));
  return found == table.end() ? nullptr : found->second;
}

}  // namespace taeda::inline v0_2
