// Rules of what makes one of several elements.
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/map/rules.h"
#include "taeda/ops/reduce/histogram_rows.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/reduce/statistics.h"

namespace taeda::inline v0_2::map_rules {

namespace {

using Kind = MapArgument::Kind;

OptionalDtype dtype_of_call(const MapCall& call) {
  for (size_t i = 0; i < call.size(); ++i)
    if (call.is(i, Kind::MaybeDtype)) return call.at<OptionalDtype>(i);
  return {};
}

/// An operation over all elements that has another form along a dimension.
bool over_all(MapCall& call) {
  const std::string_view name = call.name();
  const Tensor x = rows_of(call.tensor(0));
  if (name == "sum")
    call.results = {x.sum(IntArrayRef(1), false, dtype_of_call(call))};
  else if (name == "mean")
    call.results = {x.mean(IntArrayRef(1), false, dtype_of_call(call))};
  else if (name == "prod")
    call.results = {x.prod(1, false, dtype_of_call(call))};
  else if (name == "max")
    call.results = {x.amax(IntArrayRef(1))};
  else if (name == "min")
    call.results = {x.amin(IntArrayRef(1))};
  else if (name == "any")
    call.results = {x.any(IntArrayRef(1))};
  else if (name == "all")
    call.results = {x.all(IntArrayRef(1))};
  else if (name == "median")
    call.results = {std::get<0>(x.median(1))};
  else if (name == "nanmedian")
    call.results = {std::get<0>(x.nanmedian(1))};
  else if (name == "norm" && call.size() == 2)
    call.results = {x.norm(call.at<Scalar>(1), IntArrayRef(1), false)};
  else
    return false;
  return true;
}

/// Where the dimensions of a reduction stand; 0 where it has none.
size_t place_of_dims(const MapCall& call) {
  for (size_t i = 1; i < call.size(); ++i)
    if (call.is(i, Kind::Ints) || call.is(i, Kind::MaybeInts) || call.is(i, Kind::Int) ||
        call.is(i, Kind::MaybeInt))
      return i;
  return 0;
}

bool along_one(MapCall& call, int64_t& dim, int64_t dims) {
  dim = behind_samples(dim, dims);
  call.results = call.run();
  return true;
}

bool along_flat(MapCall& call, OptionalDim& dim, int64_t dims) {
  call.tensor(0) = rows_of(call.tensor(0));
  dim = 1;
  call.results = call.run();
  const DimVector kept = with_samples(call.samples, DimVector(static_cast<size_t>(dims), 1));
  for (Tensor& r : call.results)
    if (r.dim() == 2) r = r.reshape(kept);
  return true;
}

bool along_several(MapCall& call, IntArrayRef& list, int64_t dims) {
  DimVector all = behind_samples(list, dims);
  for (int64_t d = 1; list.empty() && d <= std::max<int64_t>(dims, 1); ++d) all.push_back(d);
  list = call.keep(std::move(all));
  call.results = call.run();
  return true;
}

/// Of a list that may be absent, which is all dimensions; an empty one is none.
bool along_given(MapCall& call, OptionalIntArrayRef& list, int64_t dims) {
  DimVector all = list.has_value() ? behind_samples(*list, dims) : DimVector();
  for (int64_t d = 1; !list.has_value() && d <= dims; ++d) all.push_back(d);
  list = call.keep(std::move(all));
  call.results = call.run();
  return true;
}

bool reduce(MapCall& call) {
  const int64_t dims = call.operands[0].dims;
  const size_t at = place_of_dims(call);
  if (call.is(at, Kind::MaybeInts) && (dims > 0 || !call.at<OptionalIntArrayRef>(at).has_value()))
    return along_given(call, call.at<OptionalIntArrayRef>(at), dims);
  if (!at) return over_all(call);
  const bool flat = call.is(at, Kind::MaybeInt) && !call.at<OptionalDim>(at);
  if (dims == 0 && !flat) call.align_all(1);
  if (flat)
    along_flat(call, call.at<OptionalDim>(at), dims);
  else if (call.is(at, Kind::MaybeInt))
    along_one(call, *call.at<OptionalDim>(at), dims);
  else if (call.is(at, Kind::Int))
    along_one(call, call.at<int64_t>(at), dims);
  else if (call.is(at, Kind::MaybeInts))
    along_given(call, call.at<OptionalIntArrayRef>(at), 1);
  else
    along_several(call, call.at<IntArrayRef>(at), dims);
  if (dims == 0)
    for (Tensor& r : call.results)
      if (r.dim() == 2) r = r.squeeze(1);
  return true;
}

bool quantile(MapCall& call) { return call.is(1, Kind::Double) && reduce(call); }

bool trace(MapCall& call) {
  if (call.operands[0].dims != 2) return false;
  call.results = {call.tensor(0).diagonal(0, 1, 2).sum(IntArrayRef(1))};
  return true;
}

/// Values in sequences that are ascending in the last dimension. A number, or the values of a
/// sequence of each sample's own, are rows of values.
bool search(MapCall& call, size_t sequence, size_t values) {
  const MapOperand *const in = call.operand(sequence), *const of = call.operand(values);
  if (!of) return call.is_mapped(sequence) && by_parts(call);
  const MapOperand* const sorter = call.operand(5);
  if (in->dims == 1 && !in->mapped && !(sorter && sorter->mapped)) return as_it_is(call);
  if (in->dims != 1 && in->dims != of->dims) return false;
  call.expand_all();
  const DimVector sizes(call.tensor(values).sizes());
  if (in->dims == 1) call.tensor(values) = rows_of(call.tensor(values));
  call.results = {call.run_one().reshape(sizes)};
  return true;
}
bool searchsorted(MapCall& call) { return search(call, 0, 1); }

/// Boundaries of each sample's own are a sequence to search in.
bool bucketize(MapCall& call) {
  if (!call.is_mapped(1)) return as_it_is(call);
  if (call.operand(1)->dims != 1) return false;
  if (!call.operand(0)) return by_parts(call);
  call.expand_all();
  const DimVector sizes(call.tensor(0).sizes());
  call.results = {taeda::searchsorted(call.tensor(1), rows_of(call.tensor(0)), call.at<bool>(2),
                                      call.at<bool>(3))
                      .reshape(sizes)};
  return true;
}

/// Samples of maps further out are rows, too.
bool histc(MapCall& call) {
  const Tensor rows = rows_of(call.tensor(0)), all = plain_of(rows);
  DimVector sizes(all.sizes());
  const int64_t each = sizes.back();
  sizes.pop_back();
  const Tensor list = all.reshape({product(sizes), each});
  sizes.push_back(call.at<int64_t>(1));
  const Tensor counts =
      detail::histc_of_rows(list, call.at<int64_t>(1), call.at<Scalar>(2), call.at<Scalar>(3));
  call.results = {make_mapped(counts.reshape(sizes), mapped_levels(rows))};
  return true;
}

/// Of the distances between all rows those above the diagonal.
bool pdist(MapCall& call) {
  if (call.operands[0].dims != 2) return false;
  const Tensor& x = call.tensor(0);
  const int64_t rows = x.size(1), kWithoutProducts = 2;
  const Tensor pairs = triu_indices(rows, rows, 1, TensorOptions(kLong).device(x.device()));
  const Tensor at = pairs.select(0, 0).mul(rows).add(pairs.select(0, 1));
  call.results = {
      cdist(x, x, call.at<double>(1), kWithoutProducts).flatten(1, 2).index_select(1, at)};
  return true;
}

}  // namespace

void add_reductions(Table& table) {
  add(table, reduce,
      "sum mean prod max min amax amin aminmax argmax argmin median nanmedian var std "
      "var_correction std_correction var_mean std_mean norm vector_norm any all logsumexp nansum");
  add(table, quantile, "quantile nanquantile");
  add(table, trace, "trace");
  add(table, searchsorted, "searchsorted");
  add(table, bucketize, "bucketize");
  add(table, histc, "histc");
  add(table, pdist, "pdist");
}

}  // namespace taeda::inline v0_2::map_rules
