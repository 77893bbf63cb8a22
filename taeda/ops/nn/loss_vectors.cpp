// Distances, similarities and the losses over pairs and triples of vectors.
#include "bodies/loss.h"
#include "taeda/base/error.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/nn/loss_reduce.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2 {

using detail::reduce_loss;

Tensor do_margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                              double margin, ReductionArg reduction) {
  return reduce_loss(target.neg().mul(input1.sub(input2)).add(margin).clamp_min(0), reduction);
}

Tensor do_cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  const ScalarType common = result_type({x1, x2});
  TAEDA_CHECK(is_floating_point(common),
              "expected common dtype to be floating point, yet common dtype is ",
              to_string(common));
  TAEDA_CHECK(!(eps < 0), "eps must be non-negative, got: ", eps);
  const DimVector sizes = broadcast_sizes(x1.sizes(), x2.sizes());
  const Tensor a = x1.to(common).expand(sizes), b = x2.to(common).expand(sizes);
  // Each norm is bounded on its own, so that a zero vector has a finite gradient.
  const Tensor na = a.norm(2, dim, true).clamp_min(eps), nb = b.norm(2, dim, true).clamp_min(eps);
  return a.div(na).mul(b.div(nb)).sum(dim);
}

Tensor do_cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                double margin, ReductionArg reduction) {
  TAEDA_CHECK(target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
  const int64_t expected = target.dim() + 1;
  TAEDA_CHECK(input1.dim() == expected && input2.dim() == expected, expected,
              "D input tensors expected, but got ", input1.sizes(), " and ", input2.sizes());
  const Tensor cos = cosine_similarity(input1, input2, target.dim());
  const Tensor same = cos.neg().add(1).masked_fill(target.ne(1), 0);
  const Tensor other = cos.sub(margin).clamp_min(0).masked_fill(target.ne(-1), 0);
  return reduce_loss(same.add(other), reduction);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return x1.sub(x2).add(eps).norm(p, -1, keepdim);
}

Tensor do_triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                              double margin, double p, double eps, bool swap,
                              ReductionArg reduction) {
  TAEDA_CHECK(anchor.dim() == positive.dim() && anchor.dim() == negative.dim(),
              "All inputs should have same dimension but got ", anchor.dim(), "D, ", positive.dim(),
              "D and ", negative.dim(), "D inputs.");
  const Tensor near = pairwise_distance(anchor, positive, p, eps);
  Tensor far = pairwise_distance(anchor, negative, p, eps);
  if (swap) far = far.minimum(pairwise_distance(positive, negative, p, eps));
  return reduce_loss(near.sub(far).add(margin).clamp_min(0), reduction);
}

}  // namespace taeda::inline v0_2
