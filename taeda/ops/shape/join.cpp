#include "taeda/ops/shape/join.h"

#include "bodies/join.h"
#include "taeda/autograd/record.h"
#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/device/host_graph.h"
#include "taeda/kernels/join.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/create_common.h"
#include "taeda/ops/destination.h"
#include "taeda/ops/sparse/sparse_common.h"
#include "taeda/tensor/mapped.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2 {

namespace {

/// PyTorch lets an empty vector stand for "nothing" among tensors of any shape.
bool is_skipped(const Tensor& t) { return t.dim() == 1 && t.numel() == 0; }

/// The shape of the result. `model` is the first tensor that counts.
DimVector cat_sizes(TensorList tensors, const Tensor& model, int64_t dim) {
  DimVector sizes(model.sizes());
  int64_t total = 0, position = 0;
  for (const Tensor& t : tensors) {
    const int64_t i = position++;
    if (is_skipped(t)) continue;
    TAEDA_CHECK(t.dim() == model.dim(), "Tensors must have same number of dimensions: got ",
                model.dim(), " and ", t.dim());
    for (int64_t d = 0; d < t.dim(); ++d)
      TAEDA_CHECK(d == dim || t.sizes()[d] == sizes[d],
                  "Sizes of tensors must match except in dimension ", dim, ". Expected size ",
                  sizes[d], " but got size ", t.sizes()[d], " for tensor number ", i,
                  " in the list.");
    total += t.sizes()[dim];
  }
  sizes[dim] = total;
  return sizes;
}

void record_cat(const Tensor& out, TensorList tensors, int64_t dim) {
  struct Part {
    int64_t size;
    ScalarType dtype;
  };
  std::vector<Part> parts;
  parts.reserve(tensors.size());
  for (const Tensor& t : tensors) parts.push_back({is_skipped(t) ? -1 : t.sizes()[dim], t.dtype()});
  record_list("CatBackward0", out, tensors, [parts, dim](const TensorVec& grads, Needs needs) {
    std::vector<Tensor> out(parts.size());
    int64_t start = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].size < 0) {
        if (needs[i]) out[i] = grads[0].new_zeros({0});
        continue;
      }
      if (needs[i]) out[i] = grads[0].narrow(dim, start, parts[i].size);
      start += parts[i].size;
    }
    return out;
  });
}

}  // namespace

Tensor do_cat(TensorList tensors, int64_t dim) {
  TAEDA_CHECK(!tensors.empty(), "torch.cat(): expected a non-empty list of Tensors");
  if (!tensors[0].is_strided()) [[unlikely]]
    return detail::sparse_cat(tensors, dim);
  ScalarType dtype = tensors[0].dtype();
  const Tensor* model = nullptr;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    TAEDA_CHECK(t.dim() > 0, "zero-dimensional tensor (at position ", i,
                ") cannot be concatenated");
    TAEDA_CHECK(t.device() == tensors[0].device(),
                "Expected all tensors to be on the same device, "
                "but found at least two devices, ",
                tensors[0].device(), " and ", t.device(),
                "! (when checking argument for argument tensors in method cat)");
    dtype = promote_types(dtype, t.dtype());
    if (!model && !is_skipped(t)) model = &t;
  }
  if (!model) model = &tensors[0];
  const int64_t d = wrap_dim(dim, model->dim());
  SmallVector<const Tensor*, 8> read;
  if (detail::Destination::is_offered())
    for (const Tensor& t : tensors) read.push_back(&t);
  Tensor out =
      detail::make_result("cat", read, cat_sizes(tensors, *model, d), dtype, model->device());
  if (out.numel() > 0) {
    NoGradGuard guard;
    SmallVector<Tensor, 8> inputs;
    inputs.reserve(tensors.size());
    for (const Tensor& t : tensors)
      if (t.numel() > 0) inputs.push_back(t.to(dtype));
    cat_slot(out.device().type(), out, inputs, d);
  }
  if (any_wants_grad(tensors)) record_cat(out, tensors, d);
  return out;
}

Tensor do_stack(TensorList tensors, int64_t dim) {
  TAEDA_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  const Tensor& first = tensors[0];
  const int64_t d = wrap_dim(dim, first.dim() + 1);
  for (size_t i = 1; i < tensors.size(); ++i)
    TAEDA_CHECK(tensors[i].sizes() == first.sizes(),
                "stack expects each tensor to be equal size, "
                "but got ",
                first.sizes(), " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
  Tensor out;
  {
    NoGradGuard guard;
    SmallVector<Tensor, 8> rows;
    rows.reserve(tensors.size());
    for (const Tensor& t : tensors) rows.push_back(t.unsqueeze(d));
    out = cat(rows, d);
  }
  if (any_wants_grad(tensors))
    record_list("StackBackward0", out, tensors,
                [d, n = tensors.size()](const TensorVec& grads, Needs needs) {
                  std::vector<Tensor> out(n);
                  for (size_t i = 0; i < n; ++i)
                    if (needs[i]) out[i] = grads[0].select(d, static_cast<int64_t>(i));
                  return out;
                });
  return out;
}

namespace {

/// The tensors with at least `ndim` dimensions.
std::vector<Tensor> at_least(TensorList tensors, int64_t ndim, const char* op) {
  TAEDA_CHECK(!tensors.empty(), op, " expects a non-empty TensorList");
  std::vector<Tensor> out;
  for (Tensor t : tensors) {
    if (t.dim() == 0) t = t.reshape({1});
    if (t.dim() == 1 && ndim >= 2) t = t.unsqueeze(0);
    if (t.dim() == 2 && ndim >= 3) t = t.unsqueeze(2);
    out.push_back(std::move(t));
  }
  return out;
}

}  // namespace

Tensor hstack(TensorList tensors) {
  const std::vector<Tensor> list = at_least(tensors, 1, "hstack");
  return cat(list, list[0].dim() == 1 ? 0 : 1);
}

Tensor vstack(TensorList tensors) { return cat(at_least(tensors, 2, "vstack"), 0); }
Tensor dstack(TensorList tensors) { return cat(at_least(tensors, 3, "dstack"), 2); }

namespace {

/// One of several views of one tensor, none of which may be changed in place while gradients are
/// recorded: such a change would have to rewrite the history of all of them at once.
Tensor make_part(const Tensor& self, Layout layout) {
  return make_view(self, std::move(layout), ViewKind::MultiOutput);
}

/// The parts' gradients, with zeros for those that nobody used.
std::vector<Tensor> fill_in(const TensorVec& grads, const std::vector<DimVector>& sizes) {
  const Tensor* some = nullptr;
  for (const Tensor& g : grads)
    if (g.defined()) some = &g;
  std::vector<Tensor> out;
  out.reserve(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    out.push_back(i < grads.size() && grads[i].defined() ? grads[i] : some->new_zeros(sizes[i]));
  return out;
}

std::vector<Tensor> split_views(const char* node, const Tensor& self, IntArrayRef split_sizes,
                                int64_t dim) {
  std::vector<Tensor> out;
  out.reserve(split_sizes.size());
  int64_t start = 0;
  for (int64_t n : split_sizes) {
    out.push_back(make_part(self, self.layout().narrow(dim, start, n)));
    start += n;
  }
  if (!wants_grad(self)) return out;
  std::vector<DimVector> sizes;
  for (const Tensor& t : out) sizes.push_back(t.sizes());
  record_multi(node, out, {self}, [sizes, dim](const TensorVec& grads, Needs) {
    return cat(fill_in(grads, sizes), dim);
  });
  return out;
}

}  // namespace

std::vector<Tensor> do_split(const Tensor& self, int64_t split_size, int64_t dim) {
  TAEDA_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  TAEDA_CHECK(split_size >= 0,
              "split expects split_size be non-negative, but got split_size=", split_size);
  const int64_t d = wrap_dim(dim, self.dim()), n = self.sizes()[d];
  TAEDA_CHECK(split_size > 0 || n == 0,
              "split_size can only be 0 if dimension size is 0, but got "
              "dimension size of ",
              n);
  DimVector parts;
  for (int64_t left = n; left > 0; left -= split_size) parts.push_back(std::min(left, split_size));
  if (parts.empty()) parts.push_back(0);
  return split_views("SplitBackward0", self, parts, d);
}

std::vector<Tensor> do_split(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  TAEDA_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  const int64_t d = wrap_dim(dim, self.dim());
  int64_t total = 0;
  for (int64_t n : split_sizes) {
    TAEDA_CHECK(n >= 0,
                "split_with_sizes expects split_sizes have only non-negative entries, but "
                "got split_sizes=",
                split_sizes);
    total += n;
  }
  TAEDA_CHECK(total == self.sizes()[d], "split_with_sizes expects split_sizes to sum exactly to ",
              self.sizes()[d], " (input tensor's size at dimension ", d,
              "), but got split_sizes=", split_sizes);
  return split_views("SplitWithSizesBackward0", self, split_sizes, d);
}

std::vector<Tensor> do_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  TAEDA_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  TAEDA_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t n = self.size(dim);
  if (n == 0) return self.split(DimVector(static_cast<size_t>(chunks), 0), dim);
  return self.split((n + chunks - 1) / chunks, dim);
}

std::vector<Tensor> do_unbind(const Tensor& self, int64_t dim) {
  TAEDA_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  const int64_t d = wrap_dim(dim, self.dim());
  std::vector<Tensor> out;
  out.reserve(static_cast<size_t>(self.sizes()[d]));
  for (int64_t i = 0; i < self.sizes()[d]; ++i)
    out.push_back(make_part(self, self.layout().select(d, i)));
  if (!wants_grad(self) || out.empty()) return out;
  std::vector<DimVector> parts(out.size(), DimVector(out[0].sizes()));
  record_multi("UnbindBackward0", out, {self}, [parts, d](const TensorVec& grads, Needs) {
    return stack(fill_in(grads, parts), d);
  });
  return out;
}

// The parts are slices, unlike those of `split`: so they may be changed in place while recorded.
std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim) {
  TAEDA_CHECK(self.dim() > 0,
              "tensor_split expected at least a 1-dimensional tensor, but got a "
              "tensor with 0 dims");
  TAEDA_CHECK(sections > 0, "number of sections must be larger than 0, got ", sections);
  const int64_t n = self.size(dim);
  std::vector<Tensor> out;
  int64_t start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t length = n / sections + (i < n % sections);
    out.push_back(self.narrow(dim, start, length));
    start += length;
  }
  return out;
}

std::vector<Tensor> tensor_split(const Tensor& self, IntArrayRef indices, int64_t dim) {
  TAEDA_CHECK(self.dim() > 0,
              "tensor_split expected at least a 1-dimensional tensor, but got a "
              "tensor with 0 dims");
  std::vector<Tensor> out;
  int64_t start = 0;
  for (int64_t end : indices) {
    out.push_back(self.slice(dim, start, end));
    start = end;
  }
  out.push_back(self.slice(dim, start));
  return out;
}

std::vector<Tensor> tensor_split(const Tensor& self, const Tensor& indices_or_sections,
                                 int64_t dim) {
  const Tensor& t = indices_or_sections;
  TAEDA_CHECK(t.is_cpu(),
              "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on ",
              t.device());
  TAEDA_CHECK(t.dtype() == kLong,
              "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ",
              to_string(t.dtype()));
  TAEDA_CHECK(t.dim() <= 1,
              "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
              "one-dimensional tensor, but got a tensor with ",
              t.dim(), " dims");
  if (t.dim() == 0) return tensor_split(self, t.item<int64_t>(), dim);
  detail::check_not_recording("tensor_split");
  const Tensor indices = t.contiguous();
  return tensor_split(
      self, IntArrayRef(indices.data_ptr<int64_t>(), static_cast<size_t>(indices.numel())), dim);
}

std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing) {
  TAEDA_CHECK(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  TAEDA_CHECK(indexing == "ij" || indexing == "xy",
              "torch.meshgrid: indexing must be one of \"xy\" "
              "or \"ij\", but received: ",
              indexing);
  const bool swap = indexing == "xy" && tensors.size() >= 2;
  const size_t n = tensors.size();
  DimVector shape;
  for (const Tensor& t : tensors) {
    TAEDA_CHECK(t.dim() <= 1,
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got a "
                "tensor of sizes ",
                t.sizes());
    TAEDA_CHECK(t.dtype() == tensors[0].dtype(),
                "torch.meshgrid expects all tensors to have the same dtype");
    TAEDA_CHECK(t.device() == tensors[0].device(),
                "torch.meshgrid expects all tensors to have the same device");
    shape.push_back(t.numel());
  }
  if (swap) std::swap(shape[0], shape[1]);
  std::vector<Tensor> out;
  for (size_t i = 0; i < n; ++i) {
    const size_t d = swap && i < 2 ? 1 - i : i;
    DimVector line(n, 1);
    line[d] = tensors[i].numel();
    out.push_back(tensors[i].reshape(line).expand(shape));
  }
  // PyTorch lays "xy" grids out as transposed "ij" grids; values and shapes are the same.
  return out;
}

// ---- columns, rows and diagonals ----

namespace {

std::vector<Tensor> split_along(const char* name, const Tensor& self, int64_t least, int64_t dim,
                                int64_t sections) {
  TAEDA_CHECK(self.dim() >= least, "torch.", name, " requires a tensor with at least ", least,
              " dimension, but got a tensor with ", self.dim(), " dimensions!");
  TAEDA_CHECK(sections > 0 && self.size(dim) % sections == 0, "torch.", name,
              " attempted to split along dimension ", dim, ", but the size of the dimension ",
              self.size(dim), " is not divisible by the split_size ", sections, "!");
  return tensor_split(self, sections, dim);
}

std::vector<Tensor> split_along(const char* name, const Tensor& self, int64_t least, int64_t dim,
                                IntArrayRef indices) {
  TAEDA_CHECK(self.dim() >= least, "torch.", name, " requires a tensor with at least ", least,
              " dimension, but got a tensor with ", self.dim(), " dimensions!");
  return tensor_split(self, indices, dim);
}

int64_t columns_of(const Tensor& t) { return t.dim() < 2 ? 0 : 1; }

}  // namespace

std::vector<Tensor> hsplit(const Tensor& self, int64_t sections) {
  return split_along("hsplit", self, 1, columns_of(self), sections);
}
std::vector<Tensor> hsplit(const Tensor& self, IntArrayRef indices) {
  return split_along("hsplit", self, 1, columns_of(self), indices);
}
std::vector<Tensor> vsplit(const Tensor& self, int64_t sections) {
  return split_along("vsplit", self, 2, 0, sections);
}
std::vector<Tensor> vsplit(const Tensor& self, IntArrayRef indices) {
  return split_along("vsplit", self, 2, 0, indices);
}
std::vector<Tensor> dsplit(const Tensor& self, int64_t sections) {
  return split_along("dsplit", self, 3, 2, sections);
}
std::vector<Tensor> dsplit(const Tensor& self, IntArrayRef indices) {
  return split_along("dsplit", self, 3, 2, indices);
}

// ---- put together ----

Tensor diagflat(const Tensor& self, int64_t offset) { return self.reshape({-1}).diag(offset); }

Tensor block_diag(TensorList tensors) {
  TAEDA_CHECK(!tensors.empty(), "torch.block_diag: expected at least one tensor");
  std::vector<Tensor> blocks;
  int64_t rows = 0, columns = 0, position = 0;
  ScalarType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) {
    TAEDA_CHECK(t.dim() <= 2,
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                "Input ",
                position++, " has ", t.dim(), " dimensions");
    blocks.push_back(t.dim() == 2 ? t : t.reshape({1, -1}));
    rows += blocks.back().size(0);
    columns += blocks.back().size(1);
    dtype = promote_types(dtype, t.dtype());
  }
  uint64_t levels = 0;
  for (const Tensor& t : tensors) levels |= mapped_levels(t);
  Tensor out = zeros({rows, columns}, tensors[0].options().dtype(dtype));
  if (levels) out = expanded_to(out, levels).clone();
  int64_t row = 0, column = 0;
  for (const Tensor& block : blocks) {
    out.narrow(0, row, block.size(0)).narrow(1, column, block.size(1)).copy_(block);
    row += block.size(0);
    column += block.size(1);
  }
  return out;
}

Tensor cartesian_prod(TensorList tensors) {
  for (const Tensor& t : tensors)
    TAEDA_CHECK(t.dim() == 1, "Expect a 1D vector, but got shape ", t.sizes());
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns;
  for (const Tensor& grid : meshgrid(tensors)) columns.push_back(grid.reshape({-1}));
  return stack(columns, 1);
}

namespace {

/// n over k: every product of the first factors is divisible.
CheckedInt combination_count(int64_t n, int64_t k) {
  CheckedInt out = k <= n;
  for (int64_t i = 1; i <= std::min(k, n - k) && out.representable(); ++i)
    out = out * (n - i + 1) / i;
  return out;
}

}  // namespace

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  TAEDA_CHECK(self.dim() == 1, "Expect a 1D vector, but got shape ", self.sizes());
  TAEDA_CHECK(r >= 0, "Expect a non-negative number, but got ", r);
  if (r == 0) return empty({0}, self.options());
  const char* const op = "combinations";
  const int64_t n = self.size(0), gap = with_replacement ? 0 : 1;
  const CheckedInt choices = with_replacement ? CheckedInt(n) + r - 1 : n;
  const int64_t count = combination_count(choices.value(op), r).value(op);
  Tensor index = empty({count, r}, kLong);
  int64_t* place = index.data_ptr<int64_t>();
  std::vector<int64_t> choice(static_cast<size_t>(count > 0 ? r : 0));
  for (size_t i = 0; i < choice.size(); ++i) choice[i] = static_cast<int64_t>(i) * gap;
  // The last place that can still move moves on, those behind it follow as closely as they may.
  const auto limit = [&](int64_t i) { return n - 1 - (r - 1 - i) * gap; };
  for (int64_t row = 0; row < count; ++row) {
    place = std::copy(choice.begin(), choice.end(), place);
    int64_t i = r - 1;
    while (i >= 0 && choice[static_cast<size_t>(i)] == limit(i)) --i;
    if (i < 0) break;
    ++choice[static_cast<size_t>(i)];
    for (; i + 1 < r; ++i)
      choice[static_cast<size_t>(i + 1)] = choice[static_cast<size_t>(i)] + gap;
  }
  return self.index_select(0, index.flatten().to(self.device())).view({count, r});
}

Tensor column_stack(TensorList tensors) {
  TAEDA_CHECK(!tensors.empty(), "column_stack expects a non-empty TensorList");
  std::vector<Tensor> columns;
  for (const Tensor& t : tensors) columns.push_back(t.dim() <= 1 ? t.reshape({-1, 1}) : t);
  return hstack(columns);
}
Tensor row_stack(TensorList tensors) { return vstack(tensors); }

Tensor atleast_1d(const Tensor& self) { return self.dim() == 0 ? self.reshape({1}) : self; }
Tensor atleast_2d(const Tensor& self) {
  return self.dim() < 2 ? atleast_1d(self).unsqueeze(0) : self;
}
Tensor atleast_3d(const Tensor& self) {
  return self.dim() < 3 ? atleast_2d(self).unsqueeze(-1) : self;
}

namespace {

std::vector<Tensor> each_of(TensorList tensors, Tensor (*f)(const Tensor&)) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(f(t));
  return out;
}

}  // namespace

std::vector<Tensor> atleast_1d(TensorList tensors) { return each_of(tensors, &atleast_1d); }
std::vector<Tensor> atleast_2d(TensorList tensors) { return each_of(tensors, &atleast_2d); }
std::vector<Tensor> atleast_3d(TensorList tensors) { return each_of(tensors, &atleast_3d); }

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  TAEDA_CHECK(self.dim() > 2,
              "channel_shuffle expects input with > 2 dims, but got input with "
              "sizes ",
              self.sizes());
  TAEDA_CHECK(groups > 0,
              "Number of groups to divide channels in must be positive. Value of "
              "groups:",
              groups);
  const int64_t channels = self.size(1);
  TAEDA_CHECK(channels % groups == 0, "Number of channels must be divisible by groups. Got ",
              channels, " channels and ", groups, " groups.");
  const Tensor out = self.unflatten(1, {groups, channels / groups}).transpose(1, 2).flatten(1, 2);
  return detail::apart_from(out, self);
}

}  // namespace taeda::inline v0_2
