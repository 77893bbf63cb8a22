#include "taeda/ops/reduce/sort.h"

#include <cmath>
#include <limits>

#include "bodies/sort.h"
#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/device/host_graph.h"
#include "taeda/kernels/sort.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/stored.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/selection.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/observer.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2 {

namespace {

/// The gradient of picked values: it goes back to where they were picked.
void record_picked(const char* node, const Tensor& values, const Tensor& self, int64_t dim,
                   const Tensor& indices) {
  if (!wants_grad(self)) return;
  record(node, values, {self},
         [sizes = DimVector(self.sizes()), dim, indices = save_tensor(indices, "indices")](
             const Tensor& g) { return g.new_zeros(sizes).scatter_(dim, indices.unpack(), g); });
}

/// A 0-dim tensor orders like a vector of one element.
Tensor as_vector(const Tensor& t) { return t.dim() == 0 ? t.reshape({1}) : t; }

/// Of unsigned integers that are not computed with: numbers in their order are sorted in their
/// place.
Tensor::T2 sort_stored(const Tensor& self, int64_t dim, bool descending) {
  const ScalarType dtype = self.dtype();
  TAEDA_CHECK_AS(NotImplementedError, is_integral(dtype), "\"sort\" not implemented for '",
                 to_string(dtype), "'");
  const Tensor words = detail::as_words(self);
  const bool widest = dtype == kUInt64;  // as a signed number, without its first bit
  const Tensor keys =
      widest ? words.bitwise_xor(std::numeric_limits<int64_t>::min()) : detail::computable(self);
  const Tensor order = std::get<1>(keys.sort(dim, descending));
  const Tensor sorted = self.dim() == 0 ? words.clone() : words.gather(dim, order);
  return {detail::from_words(sorted, dtype), order};
}

}  // namespace

Tensor::T2 do_sort(const Tensor& self, int64_t dim, bool descending) {
  TAEDA_CHECK_TYPE(!self.is_complex(), "Sort does not support complex dtypes on CPU");
  if (is_stored(self.dtype())) return sort_stored(self, dim, descending);
  const int64_t d = wrap_dim(dim, self.dim());
  Tensor values = empty(self.sizes(), self.options()),
         indices = empty(self.sizes(), self.options().dtype(kLong));
  if (self.numel() > 0) {
    NoGradGuard guard;
    sort_slot(self.device().type(), as_vector(values), as_vector(indices), as_vector(self), d,
              descending);
  }
  record_picked("SortBackward0", values, self, d, indices);
  return {values, indices};
}

Tensor do_argsort(const Tensor& self, int64_t dim, bool descending) {
  return std::get<1>(self.detach().sort(dim, descending));
}

Tensor::T2 do_topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool /*sorted*/) {
  const int64_t d = wrap_dim(dim, self.dim());
  TAEDA_CHECK(k >= 0 && k <= (self.dim() > 0 ? self.sizes()[d] : 1),
              "selected index k out of range");
  TAEDA_CHECK_TYPE(!self.is_complex(), " topk does not support complex dtypes on CPU");
  TAEDA_CHECK_NOT_IMPLEMENTED(self.dtype() != kBool, "topk does not support bool dtypes on CPU");
  DimVector shape(self.sizes());
  if (!shape.empty()) shape[d] = k;
  Tensor values = empty(shape, self.options()), indices = empty(shape, self.options().dtype(kLong));
  if (values.numel() > 0 && (self.dim() > 0 || k > 0)) {
    NoGradGuard guard;
    topk_slot(self.device().type(), as_vector(values), as_vector(indices), as_vector(self), d,
              largest);
  }
  record_picked("TopkBackward0", values, self, d, indices);
  return {values, indices};
}

namespace {

int64_t check_kthvalue(const Tensor& self, int64_t k, int64_t dim) {
  const int64_t d = wrap_dim(dim, self.dim());
  TAEDA_CHECK_INDEX(self.dim() == 0 || self.sizes()[d] != 0, "kthvalue(): Expected reduction dim ",
                    d, " to have non-zero size.");
  TAEDA_CHECK(k >= 1 && k <= (self.dim() > 0 ? self.sizes()[d] : 1),
              "kthvalue(): selected number k out of range for dimension ", d);
  if (self.dim() > 0 && (self.dtype() == kBool || self.is_complex()))
    detail::throw_no_dtype("kthvalue", self.dtype());
  return d;
}

}  // namespace

Tensor::T2 compose_kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  const int64_t d = check_kthvalue(self, k, dim);
  if (self.dim() == 0) return {self.clone(), zeros({}, self.options().dtype(kLong))};
  const auto [v, i] = self.topk(k, d, false);
  const Tensor value = v.narrow(d, k - 1, 1), index = i.narrow(d, k - 1, 1);
  if (keepdim) return {value, index};
  return {value.squeeze(d), index.squeeze(d)};
}

Tensor::T2 do_kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  const int64_t d = check_kthvalue(self, k, dim);
  if (self.dim() == 0) return {self.clone(), zeros({}, self.options().dtype(kLong))};
  DimVector shape(self.sizes());
  if (keepdim)
    shape[d] = 1;
  else
    shape.erase(static_cast<size_t>(d));
  const Tensor values = empty(shape, self.options()),
               indices = empty(shape, self.options().dtype(kLong));
  if (values.numel() > 0) {
    NoGradGuard guard;
    kthvalue_slot(self.device().type(), values, indices, self.contiguous(), d, k);
  }
  if (wants_grad(self))
    record("KthvalueBackward0", values, {self},
           [sizes = DimVector(self.sizes()), d, keepdim,
            i = save_tensor(indices, "indices")](const Tensor& g) {
             const Tensor index = i.unpack();
             return g.new_zeros(sizes).scatter_(d, keepdim ? index : index.unsqueeze(d),
                                                keepdim ? g : g.unsqueeze(d));
           });
  return {values, indices};
}

namespace {

/// The first element of every run of equal elements of a vector, the run of each element, and the
/// lengths of the runs.
T3 runs_of(const Tensor& list, bool inverse, bool counts) {
  const int64_t n = list.numel();
  const TensorOptions longs = list.options().dtype(kLong);
  if (n == 0) return {list.clone(), empty({0}, longs), empty({0}, longs)};
  const Tensor changes = list.slice(0, 1).ne(list.slice(0, 0, n - 1)).nonzero().reshape({-1});
  const Tensor starts = cat({zeros({1}, longs), changes.add(1)});
  const Tensor values = list.index_select(0, starts);
  if (!inverse && !counts) return {values, Tensor(), Tensor()};
  const Tensor ends = cat({starts.slice(0, 1), full({1}, n, longs)});
  const Tensor lengths = ends.sub(starts);
  Tensor runs;
  if (inverse) {
    runs = empty({n}, longs);
    repeat_counts_slot(list.device().type(), runs, lengths);
  }
  return {values, runs, lengths};
}

/// `runs_of` a contiguous vector on the host. Each element is written where the next run would
/// begin, whether it begins one or not: there is no branch to be guessed.
template <class T>
T3 host_runs_of(const Tensor& list, bool inverse, bool counts) {
  const T* const x = list.data_ptr<T>();
  const int64_t n = list.numel();
  int64_t count = 1;
  for (int64_t i = 1; i < n; ++i) count += x[i] != x[i - 1];
  const TensorOptions longs = list.options().dtype(kLong);
  const Tensor values = empty({count}, list.options()),
               runs = inverse ? empty({n}, longs) : Tensor(),
               lengths = counts ? empty({count}, longs) : Tensor();
  const auto for_each_start = [&](auto&& begins) {
    begins(int64_t{0}, int64_t{0});
    int64_t run = 0;
    for (int64_t i = 1; run + 1 < count; ++i) {
      begins(run + 1, i);
      run += x[i] != x[i - 1];
    }
  };
  for_each_start([x, to = values.data_ptr<T>()](int64_t run, int64_t i) { to[run] = x[i]; });
  if (counts) {
    auto* const length = lengths.data_ptr<int64_t>();
    for_each_start([length](int64_t run, int64_t i) { length[run] = i; });
    for (int64_t run = 0; run < count; ++run)
      length[run] = (run + 1 < count ? length[run + 1] : n) - length[run];
  }
  if (inverse) {
    int64_t run = 0;
    for (int64_t i = 0; i < n; ++i) runs.data_ptr<int64_t>()[i] = run += i > 0 && x[i] != x[i - 1];
  }
  return {values, runs, lengths};
}

/// `unique` of bytes on the host: what occurs is counted.
T3 unique_bytes(const Tensor& self, bool return_inverse, bool return_counts) {
  const Tensor list = self.contiguous();
  const auto* bytes = static_cast<const uint8_t*>(list.data_ptr());
  const int64_t n = list.numel();
  const uint8_t sign = self.dtype() == kChar ? 0x80 : 0, ones = self.dtype() == kBool ? 1 : 0xff;
  const auto key = [&](int64_t i) {
    return static_cast<uint8_t>((ones == 1 ? bytes[i] != 0 : bytes[i]) ^ sign);
  };
  int64_t counts[256] = {}, number[256], found = 0;
  for (int64_t i = 0; i < n; ++i) ++counts[key(i)];
  for (int k = 0; k < 256; ++k) found += (number[k] = found, counts[k] > 0);
  const TensorOptions longs = self.options().dtype(kLong);
  const Tensor values = empty({found}, self.options()),
               inverse = return_inverse ? empty(self.sizes(), longs) : Tensor(),
               lengths = return_counts ? empty({found}, longs) : Tensor();
  for (int k = 0; k < 256; ++k) {
    if (counts[k] == 0) continue;
    static_cast<uint8_t*>(values.data_ptr())[number[k]] = static_cast<uint8_t>(k ^ sign);
    if (return_counts) lengths.data_ptr<int64_t>()[number[k]] = counts[k];
  }
  if (return_inverse)
    for (int64_t i = 0; i < n; ++i) inverse.data_ptr<int64_t>()[i] = number[key(i)];
  return {values, inverse, lengths};
}

}  // namespace

T3 do_unique(const Tensor& self, bool return_inverse, bool return_counts) {
  NoGradGuard guard;
  if (self.is_cpu() && self.element_size() == 1)
    return unique_bytes(self, return_inverse, return_counts);
  return compose_unique(self, return_inverse, return_counts);
}

T3 compose_unique(const Tensor& self, bool return_inverse, bool return_counts) {
  NoGradGuard guard;
  const auto [sorted, order] = self.reshape({-1}).sort();
  auto [values, runs, counts] = runs_of(sorted, return_inverse, return_counts);
  Tensor inverse;
  if (return_inverse) inverse = empty_like(runs).scatter_(0, order, runs).view(self.sizes());
  return {values, inverse, return_counts ? counts : Tensor()};
}

T3 _unique2(const Tensor& self, bool /*sorted*/, bool return_inverse, bool return_counts) {
  return unique(self, return_inverse, return_counts);
}

namespace {

T3 consecutive_runs(const Tensor& self, bool return_inverse, bool return_counts, bool on_host) {
  if (is_wide_unsigned(self.dtype())) {
    T3 found = consecutive_runs(self.to(kLong), return_inverse, return_counts, on_host);
    std::get<0>(found) = std::get<0>(found).to(self.dtype());
    return found;
  }
  NoGradGuard guard;
  const Tensor list = self.reshape({-1}).contiguous();
  T3 found;
  if (list.numel() > 0 && on_host)
    dispatch(AllTypes{}, "unique_consecutive", self.dtype(),
             [&]<class T>() { found = host_runs_of<T>(list, return_inverse, return_counts); });
  else
    found = runs_of(list, return_inverse, return_counts);
  const auto& [values, runs, counts] = found;
  return {values, return_inverse ? runs.view(self.sizes()) : Tensor(),
          return_counts ? counts : Tensor()};
}

}  // namespace

T3 do_unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts) {
  return consecutive_runs(self, return_inverse, return_counts,
                          detail::can_look_at_values(self.device()));
}

T3 compose_unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts) {
  return consecutive_runs(self, return_inverse, return_counts, false);
}

T3 unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts,
                      OptionalDim dim) {
  return dim ? unique_dim_consecutive(self, *dim, return_inverse, return_counts)
             : unique_consecutive(self, return_inverse, return_counts);
}

namespace {

/// Adds the weight of each of `n` numbers to its bin; without weights they count.
template <class T>
void tally(const int64_t* numbers, const T* weights, int64_t n, T* bins) {
  if (weights)
    for (int64_t i = 0; i < n; ++i) bins[numbers[i]] += weights[i];
  else
    for (int64_t i = 0; i < n; ++i) bins[numbers[i]] += T(1);
}

}  // namespace

Tensor do_bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  TAEDA_CHECK(minlength >= 0, "minlength should be >= 0");
  TAEDA_CHECK(self.dim() == 1, "bincount only supports 1-d non-negative integral inputs.");
  TAEDA_CHECK_NOT_IMPLEMENTED(is_integral(self.dtype()), "\"bincount\" not implemented for '",
                              self.dtype(), "'");
  TAEDA_CHECK(!weights.defined() || weights.sizes() == self.sizes(),
              "weights should be 1-d and have the same length as input");
  NoGradGuard guard;
  const ScalarType dtype = !weights.defined()          ? kLong
                           : weights.dtype() == kFloat ? kFloat
                                                       : kDouble;
  if (self.numel() == 0) return zeros({minlength}, self.options().dtype(dtype));
  const auto [least, most] = self.aminmax();
  TAEDA_CHECK(least.item<int64_t>() >= 0,
              "bincount only supports 1-d non-negative integral inputs.");
  const Tensor bins =
      zeros({std::max(most.item<int64_t>() + 1, minlength)}, self.options().dtype(dtype));
  const Tensor numbers = self.to(kLong).contiguous();
  const Tensor each = weights.defined() ? weights.to(dtype).contiguous() : Tensor();
  if (!self.is_cpu())
    return bins.index_add_(0, numbers,
                           each.defined() ? each : ones({1}, bins.options()).expand(self.sizes()));
  dispatch(TypeList<int64_t, float, double>{}, "bincount", dtype, [&]<class T>() {
    tally(numbers.data_ptr<int64_t>(), each.defined() ? each.data_ptr<T>() : nullptr,
          numbers.numel(), bins.data_ptr<T>());
  });
  return bins;
}

namespace {

/// Whether equal elements go before the new one: `right` and `side` must not contradict.
bool on_the_right(bool right, std::optional<std::string_view> side) {
  if (!side) return right;
  TAEDA_CHECK(*side == "left" || *side == "right",
              "torch.searchsorted(): side can only be 'left' or 'right' but got ", *side);
  TAEDA_CHECK(!right || *side == "right",
              "torch.searchsorted(): side and right can't be set to opposites, got side of left "
              "while right was True");
  return *side == "right";
}

void warn_of_copy(const char* what, const Tensor& t) {
  static constinit WarnOnce said;
  if (t.is_contiguous() || !said.claim()) return;
  TAEDA_WARN("torch.searchsorted(): ", what,
             " tensor is non-contiguous, this will lower the performance due to extra data copy "
             "when converting non-contiguous tensor to contiguous, please use contiguous ",
             what, " tensor if possible. This message will only appear once per program.");
}

Tensor in_order(const Tensor& sequence, const Tensor& sorter) {
  if (!sorter.defined()) return sequence;
  TAEDA_CHECK(sorter.sizes() == sequence.sizes(),
              "torch.searchsorted(): boundary and sorter must have the same size, but got boundary "
              "tensor ",
              sequence.sizes(), "and got sorter tensor ", sorter.sizes());
  TAEDA_CHECK(sorter.dtype() == kLong,
              "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ",
              to_string(sorter.dtype()));
  return sequence.gather(-1, sorter);
}

}  // namespace

namespace {

/// Whether numbers of dtype t have this one, or one beside it that is found at the same place.
bool is_found_as(const Scalar& value, ScalarType t) {
  if (t == kBool || is_complex(t) || value.is_complex()) return true;
  const double size = std::abs(value.toDouble());
  if (!is_integral(t)) return !(size > detail::largest(t));
  const auto bits = static_cast<double>(8 * element_size(t));
  return !value.is_floating_point() && size < std::exp2(bits - 1);
}

/// A number that is looked for, in a dtype of its own where that of the list would cut it.
Tensor number_among(const Scalar& value, const Tensor& sequence) {
  const ScalarType t = is_found_as(value, sequence.dtype()) ? sequence.dtype() : value.type();
  return full({}, value, sequence.options().dtype(t));
}

}  // namespace

Tensor do_searchsorted(const Tensor& sequence, const Scalar& value, bool out_int32, bool right,
                       std::optional<std::string_view> side, const Tensor& sorter) {
  TAEDA_CHECK(sequence.dim() == 1,
              "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
              "dimension is 1, but we got boundaries tensor dim(",
              sequence.dim(), ") and input value's dim(0) numel(1)");
  return searchsorted(sequence, number_among(value, sequence), out_int32, right, side, sorter);
}

Tensor do_searchsorted(const Tensor& sequence, const Tensor& values, bool out_int32, bool right,
                       std::optional<std::string_view> side, const Tensor& sorter) {
  if (side || sorter.defined())
    return searchsorted(in_order(sequence, sorter), values, out_int32, on_the_right(right, side));
  const Tensor& sorted_sequence = sequence;
  TAEDA_CHECK(sorted_sequence.device() == values.device(),
              "torch.searchsorted(): boundaries and input value tensors should have same device "
              "type, but got boundaries tensor device type ",
              sorted_sequence.device(), " and input value tensor device type ", values.device());
  TAEDA_CHECK(sorted_sequence.dim() >= 1,
              "torch.searchsorted(): input value can be a scalar only "
              "when boundaries tensor dimension is 1, but boundaries tensor has dimension 0");
  const bool shared = sorted_sequence.dim() == 1;
  if (!shared) {
    bool fits = values.dim() == sorted_sequence.dim();
    for (int64_t d = 0; fits && d + 1 < values.dim(); ++d)
      fits = values.sizes()[d] == sorted_sequence.sizes()[d];
    TAEDA_CHECK(fits,
                "torch.searchsorted(): boundaries tensor should be 1 dimension or the first "
                "N-1 dimensions of boundaries tensor and input value tensor must match, but we got "
                "boundaries tensor ",
                sorted_sequence.sizes(), " and input value tensor ", values.sizes());
  }
  warn_of_copy("boundary", sorted_sequence);
  warn_of_copy("input value", values);
  NoGradGuard guard;
  Tensor out = empty(values.sizes(), values.options().dtype(kLong));
  const int64_t n = sorted_sequence.size(-1);
  if (n == 0) {
    out.zero_();
  } else if (out.numel() > 0) {
    const ScalarType common = promote_types(values.dtype(), sorted_sequence.dtype());
    const int64_t m = shared ? values.numel() : values.size(-1);
    searchsorted_slot(out.device().type(), out.view({-1, m}),
                      sorted_sequence.to(common).contiguous().view({shared ? 1 : -1, n}),
                      values.to(common).contiguous().view({-1, m}), right);
  }
  return out_int32 ? out.to(kInt) : out;
}

Tensor do_bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  TAEDA_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(",
              boundaries.dim(), ")");
  return searchsorted(boundaries, self, out_int32, right);
}

Tensor do_bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  return bucketize(number_among(self, boundaries), boundaries, out_int32, right);
}

}  // namespace taeda::inline v0_2
