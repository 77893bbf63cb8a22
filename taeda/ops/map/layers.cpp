// Rules of layers: the samples are more of a batch, or of its channels.
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/map/rules.h"
#include "taeda/ops/nn/embedding.h"
#include "taeda/ops/nn/norm.h"

namespace taeda::inline v0_2::map_rules {

namespace {

using Kind = MapArgument::Kind;

bool others_mapped(MapCall& call) {
  for (const MapOperand& o : call.operands)
    if (o.argument != 0 && o.mapped) return true;
  return false;
}

/// Samples with a batch of their own, of `dims` dimensions, are one batch; without, as they are.
bool folded_into_batch(MapCall& call, int64_t dims) {
  if (call.operands[0].dims != dims) return as_it_is(call);
  const int64_t batch = call.tensor(0).size(1);
  call.tensor(0) = call.tensor(0).flatten(0, 1);
  call.results = call.run();
  for (Tensor& r : call.results) r = r.unflatten(0, {call.samples, batch});
  return true;
}

template <int64_t Spatial>
bool pool(MapCall& call) {
  const int64_t dims = call.operands[0].dims;
  if (others_mapped(call) || (dims != Spatial + 1 && dims != Spatial + 2)) return false;
  return folded_into_batch(call, Spatial + 2);
}

/// Always a batch.
bool batched(MapCall& call) {
  const int64_t dims = call.operands[0].dims;
  return !others_mapped(call) && dims >= 2 && folded_into_batch(call, dims);
}

/// Channels of all samples side by side: [B, N, C, ...] to [N, B * C, ...].
Tensor side_by_side(const Tensor& t) { return t.movedim(0, 1).flatten(1, 2); }

template <int64_t Spatial>
bool convolution(MapCall& call) {
  const int64_t dims = call.operands[0].dims;
  if (dims != Spatial + 1 && dims != Spatial + 2) return false;
  if (!others_mapped(call)) return folded_into_batch(call, Spatial + 2);
  call.expand_all();
  Tensor& x = call.tensor(0);
  x = dims == Spatial + 1 ? x.flatten(0, 1).unsqueeze(0) : side_by_side(x);
  call.tensor(1) = call.tensor(1).flatten(0, 1);
  if (call.operand(2)) call.tensor(2) = call.tensor(2).flatten(0, 1);
  call.at<int64_t>(6) *= call.samples;
  Tensor out = call.run_one();
  out = out.unflatten(1, {call.samples, out.size(1) / call.samples}).movedim(1, 0);
  call.results = {dims == Spatial + 1 ? out.squeeze(1) : out};
  return true;
}

/// y * weight + bias of the sample's last dimensions.
Tensor scaled_by(MapCall& call, Tensor y, size_t weight, size_t bias) {
  const int64_t dims = y.dim() - 1;
  for (const size_t i : {weight, bias}) {
    MapOperand* o = i ? call.operand(i) : nullptr;
    if (!o) continue;
    MapCall::align(*o, dims);
    y = i == weight ? y.mul(*o->tensor) : y.add(*o->tensor);
  }
  return y;
}

bool layer_norm(MapCall& call) {
  if (!others_mapped(call)) return as_it_is(call);
  call.expand(*call.operand(0));
  const bool rms = call.name() == "rms_norm";
  const Tensor& x = call.tensor(0);
  const IntArrayRef shape = call.at<IntArrayRef>(1);
  const Tensor y = rms ? taeda::rms_norm(x, shape, {}, call.at<std::optional<double>>(3))
                       : taeda::layer_norm(x, shape, {}, {}, call.at<double>(4));
  call.results = {scaled_by(call, y, 2, rms ? 0 : 3)};
  return true;
}

/// [B, C] as a factor of [B, N, C, ...].
Tensor of_channels(const Tensor& t, bool mapped, int64_t dims) {
  DimVector shape;
  if (mapped) shape = {t.size(0), 1};
  shape.push_back(t.size(-1));
  while (static_cast<int64_t>(shape.size()) < dims - (mapped ? 0 : 2)) shape.push_back(1);
  return t.reshape(shape);
}

/// Without weights; these are multiplied with afterwards if they differ between samples.
bool group_norm(MapCall& call) {
  if (!others_mapped(call)) return batched(call);
  call.expand(*call.operand(0));
  const int64_t batch = call.tensor(0).size(1), dims = call.tensor(0).dim();
  Tensor y = taeda::group_norm(call.tensor(0).flatten(0, 1), call.at<int64_t>(1), {}, {},
                               call.at<double>(4))
                 .unflatten(0, {call.samples, batch});
  if (const MapOperand* w = call.operand(2)) y = y.mul(of_channels(*w->tensor, w->mapped, dims));
  if (const MapOperand* b = call.operand(3)) y = y.add(of_channels(*b->tensor, b->mapped, dims));
  call.results = {y};
  return true;
}

/// Statistics are each sample's own, so samples are channels side by side.
bool batch_norm(MapCall& call) {
  const bool training = call.at<bool>(5);
  const MapOperand* mean = call.operand(3);
  const bool has_statistics = mean != nullptr;
  if (!training && !others_mapped(call)) return batched(call);
  TAEDA_CHECK(!training || !has_statistics || mean->mapped,
              "Batch norm got a batched tensor as input while the running_mean or running_var, "
              "which will be updated in place, were not batched.\nIf you are using a module and do "
              "not need eval mode, please set `track_running_stats` to be False.If you are using a "
              "prebuilt module and do not need eval mode, please see the functorch website for "
              "resources on how to patch your module to work with vmap");
  if (call.operands[0].dims < 2) return false;
  call.expand_all();
  std::vector<std::pair<Tensor, Tensor>> written;
  for (const size_t i : {1, 2, 3, 4}) {
    if (!call.operand(i)) continue;
    const Tensor all = call.tensor(i);
    call.tensor(i) = all.reshape({-1});
    if (training && i >= 3 && !call.tensor(i).is_alias_of(all))
      written.emplace_back(all, call.tensor(i));
  }
  call.tensor(0) = side_by_side(call.tensor(0));
  const Tensor out = call.run_one();
  for (const auto& [to, from] : written) to.copy_(from.reshape(to.sizes()));
  call.results = {out.unflatten(1, {call.samples, out.size(1) / call.samples}).movedim(1, 0)};
  return true;
}

bool instance_norm(MapCall& call) {
  return !call.operand(3) && !call.operand(4) && call.operands[0].dims >= 3 && batched(call);
}

/// Other modes than constant take one batch, and refuse more padding than there are dimensions.
bool pad(MapCall& call) {
  const auto padded = static_cast<int64_t>(call.at<IntArrayRef>(1).size()) / 2;
  const int64_t dims = call.operands[0].dims;
  if (call.at<int64_t>(2) == 0) return padded <= dims && as_it_is(call);
  return (dims == padded + 1 || dims == padded + 2) && folded_into_batch(call, padded + 2);
}

/// Signals of [elements] or [batch, elements], spectra with one dimension more.
template <int64_t Batched>
bool signal(MapCall& call) {
  if (others_mapped(call)) return by_parts(call);
  const int64_t dims = call.operands[0].dims;
  return (dims == Batched || dims == Batched - 1) && folded_into_batch(call, Batched);
}

/// Operands of one batch.
bool all_batched(MapCall& call) {
  for (const MapOperand& o : call.operands)
    if (o.dims < 2 || o.dims != call.operands[0].dims) return false;
  call.expand_all();
  const int64_t batch = call.tensor(0).size(1);
  for (const MapOperand& o : call.operands)
    if (o.tensor->size(1) != batch) return false;
  for (MapOperand& o : call.operands) *o.tensor = o.tensor->flatten(0, 1);
  call.results = {call.run_one().unflatten(0, {call.samples, batch})};
  return true;
}

/// A network for all samples has a larger batch; networks of each sample's own are taken apart.
bool recurrent(MapCall& call) {
  for (const MapOperand& o : call.operands)
    if (o.argument == 2 && o.mapped) return by_parts(call);
  for (const MapOperand& o : call.operands)
    if (o.argument < 2 && o.dims != 3) return false;
  const bool batch_first = call.at<bool>(8);
  const auto batch_of = [&](size_t argument) { return batch_first && argument == 0 ? 0 : 1; };
  int64_t batch = -1;
  for (MapOperand& o : call.operands) {
    if (o.argument == 2) continue;
    call.expand(o);
    const int64_t at = batch_of(o.argument), size = o.tensor->size(at + 1);
    if (batch >= 0 && batch != size) return false;
    batch = size;
  }
  for (MapOperand& o : call.operands)
    if (o.argument != 2) {
      const int64_t at = batch_of(o.argument);
      *o.tensor = o.tensor->movedim(0, at).flatten(at, at + 1);
    }
  call.results = call.run();
  for (size_t i = 0; i < call.results.size(); ++i) {
    const int64_t at = batch_of(i);
    call.results[i] = call.results[i].unflatten(at, {call.samples, batch}).movedim(at, 0);
  }
  return true;
}

/// The gradient of the padding's row is zero: `padding_idx` of a table is none of all tables'.
bool embedding(MapCall& call) {
  const int64_t padding = call.at<int64_t>(2);
  const bool by_frequency = call.at<bool>(3);
  if (!call.is_mapped(0)) return !by_frequency && as_it_is(call);
  if (call.at<bool>(4)) return false;
  call.expand_all();
  const int64_t rows = call.tensor(0).size(1);
  DimVector shape(static_cast<size_t>(call.operand(1)->dims) + 1, 1);
  shape[0] = call.samples;
  const Tensor first =
      arange(call.samples, call.tensor(1).options()).mul(Scalar(rows)).reshape(shape);
  Tensor out =
      taeda::embedding(call.tensor(0).flatten(0, 1), call.tensor(1).add(first), -1, by_frequency);
  if (padding >= 0)
    out = taeda::where(call.tensor(1).eq(Scalar(padding)).unsqueeze(-1), out.detach(), out);
  call.results = {out};
  return true;
}

bool one_hot(MapCall& call) { return call.at<int64_t>(1) >= 0 && as_it_is(call); }

/// One query, key and value: any number of dimensions in front.
bool attention(MapCall& call) {
  const int64_t dims = call.operand(0)->dims;
  if (call.at<double>(4) > 0 || dims < 3 || dims > 4) return false;
  for (const size_t i : {0, 1, 2})
    if (call.operand(i)->dims != dims) return false;
  for (const size_t i : {0, 1, 2}) call.expand(*call.operand(i));
  MapOperand* const mask = call.operand(3);
  if (dims == 3) {
    if (mask && mask->mapped) MapCall::align(*mask, 3);
    if (mask && !mask->mapped && mask->dims > 3) return false;
    call.results = call.run();
    return true;
  }
  const int64_t batch = call.tensor(0).size(1);
  for (const size_t i : {0, 1, 2})
    if (call.tensor(i).size(1) != batch) return false;
  if (mask && (mask->mapped || mask->dims > 3)) {
    call.expand(*mask);
    MapCall::align(*mask, 4);
    DimVector sizes(mask->tensor->sizes());
    sizes[1] = batch;
    *mask->tensor = mask->tensor->expand(sizes).flatten(0, 1);
  }
  for (const size_t i : {0, 1, 2}) call.tensor(i) = call.tensor(i).flatten(0, 1);
  call.results = {call.run_one().unflatten(0, {call.samples, batch})};
  return true;
}

/// A step of a recurrent network with the same weights for all.
bool cell(MapCall& call) {
  for (const MapOperand& o : call.operands)
    if (o.mapped && o.argument > 1) return by_parts(call);
  const int64_t dims = call.operands[0].dims;
  int64_t batch = 0;
  for (MapOperand& o : call.operands) {
    if (o.argument > 1) continue;
    if (o.dims != dims) return false;
    call.expand(o);
    if (dims == 2) batch = o.tensor->size(1), *o.tensor = o.tensor->flatten(0, 1);
  }
  call.results = call.run();
  for (Tensor& r : call.results)
    if (dims == 2) r = r.unflatten(0, {call.samples, batch});
  return true;
}

}  // namespace

void add_layers(Table& table) {
  add(table, convolution<1>, "conv1d conv_transpose1d");
  add(table, convolution<2>, "conv2d conv_transpose2d");
  add(table, convolution<3>, "conv3d conv_transpose3d");
  add(table, pool<1>,
      "max_pool1d max_pool1d_with_indices avg_pool1d adaptive_avg_pool1d adaptive_max_pool1d");
  add(table, pool<2>,
      "max_pool2d max_pool2d_with_indices avg_pool2d adaptive_avg_pool2d adaptive_max_pool2d");
  add(table, pool<3>,
      "max_pool3d max_pool3d_with_indices avg_pool3d adaptive_avg_pool3d adaptive_max_pool3d");
  add(table, batched, "local_response_norm interpolate");
  add(table, pad, "pad");
  add(table, signal<2>, "stft");
  add(table, signal<3>, "istft");
  add(table, all_batched, "grid_sampler");
  add(table, recurrent, "lstm gru rnn_tanh rnn_relu");
  add(table, layer_norm, "layer_norm rms_norm");
  add(table, group_norm, "group_norm");
  add(table, batch_norm, "batch_norm");
  add(table, instance_norm, "instance_norm");
  add(table, embedding, "embedding");
  add(table, one_hot, "one_hot");
  add(table, attention, "scaled_dot_product_attention");
  add(table, cell, "lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell");
}

}  // namespace taeda::inline v0_2::map_rules
