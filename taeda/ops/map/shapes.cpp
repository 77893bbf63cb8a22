// Rules of what gives elements other places.
#include "taeda/ops/map/rules.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::map_rules {

namespace {

using Kind = MapArgument::Kind;

/// A sample without dimensions takes dimension 0 or -1 as if it had one.
bool give_a_dimension(MapCall& call) {
  if (call.most_dims() > 0) return false;
  call.expand_all();
  call.align_all(1);
  return true;
}
void take_the_dimension(std::vector<Tensor>& results) {
  for (Tensor& r : results)
    if (r.dim() == 2) r = r.squeeze(1);
}

/// Arguments `I...` are dimensions; all operands are mapped and have as many.
template <size_t... I>
bool along(MapCall& call) {
  const bool is_number = give_a_dimension(call);
  call.expand_all();
  const int64_t dims = call.operands[0].dims;
  for (const MapOperand& o : call.operands)
    if (o.dims != dims && o.dims == 0) call.align_all(1);
  (move_dim(call, I, dims), ...);
  call.results = call.run();
  if (is_number) take_the_dimension(call.results);
  return true;
}

/// The same where there must be a dimension: without one it is an error of the operation.
template <size_t... I>
bool along_own(MapCall& call) {
  call.expand_all();
  (move_dim(call, I, call.operands[0].dims), ...);
  call.results = call.run();
  return true;
}

/// A new dimension may stand behind the last.
template <size_t I>
bool along_new(MapCall& call) {
  call.expand_all();
  return run_along(call, I, call.operands[0].dims + 1);
}

bool diag_embed(MapCall& call) {
  const int64_t dims = call.operands[0].dims + 1;
  move_dim(call, 2, dims);
  return run_along(call, 3, dims);
}

bool cat(MapCall& call) {
  call.expand_all();
  // A tensor of no elements and one dimension is left out, whatever the others are.
  for (const MapOperand& o : call.operands)
    if (o.dims != call.operands[0].dims) return false;
  return along_own<1>(call);
}

/// Argument 1 is sizes.
bool sized(MapCall& call) {
  if (!call.is(1, Kind::Ints)) {
    if (call.operands[0].dims == 0) return false;
    return in_front(call);
  }
  call.at<IntArrayRef>(1) = call.keep(with_samples(call.samples, call.at<IntArrayRef>(1)));
  call.results = call.run();
  return true;
}

bool expand(MapCall& call) {
  IntArrayRef& sizes = call.at<IntArrayRef>(1);
  call.align_all(static_cast<int64_t>(sizes.size()));
  return sized(call);
}

bool repeat(MapCall& call) {
  IntArrayRef& counts = call.at<IntArrayRef>(1);
  DimVector all(counts);
  // `tile` may have fewer numbers than dimensions.
  if (call.name() == "tile")
    while (static_cast<int64_t>(all.size()) < call.operands[0].dims) all.insert(0, 1);
  call.align_all(static_cast<int64_t>(all.size()));
  all.insert(0, 1);
  counts = call.keep(std::move(all));
  call.results = call.run();
  return true;
}

bool permute(MapCall& call) {
  DimVector order = behind_samples(call.at<IntArrayRef>(1), call.operands[0].dims);
  order.insert(0, 0);
  call.at<IntArrayRef>(1) = call.keep(std::move(order));
  call.results = call.run();
  return true;
}

/// A view of everything, which may be given other dimensions in place.
Tensor whole_view(const Tensor& x) { return x.transpose(0, 0); }

bool transposed(MapCall& call) {
  const Tensor& x = call.tensor(0);
  const int64_t dims = call.operands[0].dims;
  if (dims > 2) return false;
  if (call.in_place) {
    if (dims == 2) x.transpose_(1, 2);
  } else {
    call.results = {dims == 2 ? x.transpose(1, 2) : whole_view(x)};
  }
  return true;
}

bool squeeze(MapCall& call) {
  if (call.size() > 1) {
    if (call.operands[0].dims > 0) return along_own<1>(call);
    call.results = {whole_view(call.tensor(0))};
    return true;
  }
  Tensor x = call.in_place ? call.tensor(0) : whole_view(call.tensor(0));
  for (int64_t d = x.dim() - 1; d > 0; --d)
    if (x.size(d) == 1) x = call.in_place ? x.squeeze_(d) : x.squeeze(d);
  call.results = {x};
  return true;
}

bool flatten(MapCall& call) {
  if (call.operands[0].dims == 0) {
    call.results = {call.tensor(0).unsqueeze(1)};
    return true;
  }
  return along_own<1, 2>(call);
}

bool as_strided(MapCall& call) {
  const Tensor& x = call.tensor(0);
  IntArrayRef &size = call.at<IntArrayRef>(1), &stride = call.at<IntArrayRef>(2);
  size = call.keep(with_samples(call.samples, size));
  stride = call.keep(with_samples(x.stride(0), stride));
  call.results = call.run();
  return true;
}

bool narrow(MapCall& call) { return !call.is(2, Kind::Tensor) && along_own<1>(call); }
bool roll(MapCall& call) {
  IntArrayRef& dims = call.at<IntArrayRef>(2);
  if (!dims.empty()) return along_own<2>(call);
  if (call.at<IntArrayRef>(1).size() != 1) return false;
  const DimVector sizes(call.tensor(0).sizes());
  call.tensor(0) = rows_of(call.tensor(0));
  dims = call.keep(DimVector{1});
  call.results = {call.run_one().reshape(sizes)};
  return true;
}
bool repeat_interleave(MapCall& call) {
  if (call.size() < 4 || call.is(1, Kind::Tensor)) return false;
  OptionalDim& dim = call.at<OptionalDim>(2);
  if (!dim) {
    call.tensor(0) = call.tensor(0).flatten(1);
    if (call.operands[0].dims == 0) call.tensor(0) = call.tensor(0).unsqueeze(1);
    dim = 1;
    call.results = call.run();
    return true;
  }
  return along_own<2>(call);
}

/// What is made has the sizes that are given, for each sample.
bool made_new(MapCall& call) { return sized(call); }

}  // namespace

void move_dim(MapCall& call, size_t i, int64_t dims) {
  if (call.is(i, Kind::Int)) {
    int64_t& d = call.at<int64_t>(i);
    d = behind_samples(d, dims);
  } else if (call.is(i, Kind::MaybeInt)) {
    OptionalDim& d = call.at<OptionalDim>(i);
    if (d) d = behind_samples(*d, dims);
  } else if (call.is(i, Kind::Ints)) {
    IntArrayRef& list = call.at<IntArrayRef>(i);
    list = call.keep(behind_samples(list, dims));
  }
}

bool run_along(MapCall& call, size_t i, int64_t dims) {
  move_dim(call, i, dims);
  call.results = call.run();
  return true;
}

void add_shapes(Table& table) {
  add(table, along<1>,
      "softmax log_softmax softmin cumsum cumprod cummax cummin sort argsort scatter_add scatter "
      "scatter_reduce gather flip");
  add(table, along_own<1>, "glu unbind select slice unflatten unfold");
  add(table, along<2>, "topk kthvalue");
  add(table, along_own<2>, "split chunk normalize cosine_similarity");
  add(table, along<1, 2>, "transpose movedim");
  add(table, along_own<2, 3>, "diagonal");
  add(table, along_new<1>, "unsqueeze stack");
  add(table, cat, "cat");
  add(table, diag_embed, "diag_embed");
  add(table, sized, "view reshape");
  add(table, made_new, "new_zeros new_ones new_full");
  add(table, expand, "expand");
  add(table, repeat, "repeat tile");
  add(table, permute, "permute");
  add(table, transposed, "t");
  add(table, squeeze, "squeeze");
  add(table, flatten, "flatten");
  add(table, as_strided, "as_strided");
  add(table, narrow, "narrow");
  add(table, roll, "roll");
  add(table, repeat_interleave, "repeat_interleave");
  add(table, in_front, "tril triu");
}

}  // namespace taeda::inline v0_2::map_rules
