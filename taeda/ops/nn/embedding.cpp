#include "taeda/ops/nn/embedding.h"

#include "bodies/embedding.h"
#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/sparse/sparse_common.h"

namespace taeda::inline v0_2 {

namespace {

/// What the gradient of an embedding depends on besides the gradient of its result.
struct Lookup {
  int64_t rows, padding_idx;
  bool scale_grad_by_freq, sparse;
};

/// As PyTorch, without the indices that name the padding.
Tensor sparse_gradient(Tensor list, Tensor each, const Lookup& of) {
  if (of.padding_idx >= 0) {
    const Tensor kept = list.ne(of.padding_idx).nonzero().flatten();
    list = list.index_select(0, kept);
    each = each.index_select(0, kept);
  }
  return detail::with_values(list.to(kLong).unsqueeze(0), each, {of.rows, each.size(1)}, false);
}

Tensor embedding_backward(const Tensor& g, const Tensor& indices, const Lookup& of) {
  const auto [rows, padding_idx, scale_grad_by_freq, sparse] = of;
  const Tensor list = indices.reshape({-1});
  Tensor each = g.reshape({list.numel(), g.size(-1)});
  if (scale_grad_by_freq) {
    const Tensor counts = bincount(list, {}, rows).to(g.dtype());
    each = each.div(counts.index_select(0, list).unsqueeze(1));
  }
  if (sparse) return sparse_gradient(list, each, of);
  Tensor out = g.new_zeros({rows, g.size(-1)}).index_add_(0, list, each);
  if (padding_idx >= 0 && rows > 0) out.select(0, padding_idx).zero_();
  return out;
}

}  // namespace

Tensor do_embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx,
                    bool scale_grad_by_freq, bool sparse) {
  TAEDA_CHECK(weight.dim() == 2, "'weight' must be 2-D");
  TAEDA_CHECK(indices.dtype() == kLong || indices.dtype() == kInt,
              "Expected tensor for argument #1 "
              "'indices' to have one of the following scalar types: Long, Int; but got ",
              detail::tensor_type_name(indices),
              " instead (while checking arguments for embedding)");
  const int64_t rows = weight.sizes()[0];
  // 0 and -1, which means none, are there where no row is, too.
  TAEDA_CHECK((padding_idx >= -rows && padding_idx < rows) || padding_idx == 0 || padding_idx == -1,
              "Padding_idx must be within num_embeddings");
  Tensor out;
  {
    NoGradGuard guard;
    DimVector shape(indices.sizes());
    shape.push_back(weight.sizes()[1]);
    out = weight.index_select(0, indices.reshape({-1})).view(shape);
    out = out.detach();  // not a view of anything that others see
  }
  if (wants_grad(weight))
    record("EmbeddingBackward0", out, {weight},
           [of = Lookup{rows, padding_idx, scale_grad_by_freq, sparse},
            indices = save_tensor(indices, "indices")](const Tensor& g) {
             return embedding_backward(g, indices.unpack(), of);
           });
  return out;
}

Tensor do_one_hot(const Tensor& classes, int64_t num_classes) {
  TAEDA_CHECK(classes.dtype() == kLong,
              "one_hot is only applicable to index tensor of type LongTensor.");
  if (classes.numel() == 0) {
    TAEDA_CHECK(num_classes > 0, "Can not infer total number of classes from empty tensor.");
  } else if (!classes.is_meta() || num_classes == -1) {
    TAEDA_CHECK(classes.min().item<int64_t>() >= 0, "Class values must be non-negative.");
    const int64_t largest = classes.max().item<int64_t>();
    if (num_classes == -1) num_classes = largest + 1;
    TAEDA_CHECK(num_classes > largest, "Class values must be smaller than num_classes.");
  }
  DimVector shape(classes.sizes());
  shape.push_back(num_classes);
  Tensor out = zeros(shape, classes.options());
  return out.scatter_(-1, classes.unsqueeze(-1), 1);
}

}  // namespace taeda::inline v0_2
