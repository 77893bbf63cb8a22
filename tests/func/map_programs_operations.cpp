// What random programs for maps are made of. Each operation takes tensors of any sizes: what does
// not fit is brought into a shape that does. Numbers stay between about -3 and 3.
#include "taeda/taeda.h"
#include "tests/func/map_programs.h"

namespace taeda::map_programs {

namespace {

int64_t dim_of(const Tensor& x, int64_t p) {
  if (x.dim() == 0) return p % 2 - 1;
  const int64_t d = p % x.dim();
  return p % 3 ? d : d - x.dim();
}
Tensor line(const Tensor& x) { return x.reshape({-1}); }
/// With one dimension at least.
Tensor wide(const Tensor& x) { return x.dim() ? x : x.unsqueeze(0); }

/// `y`, or a number made of it where it does not fit to x.
Tensor fit(const Tensor& y, const Tensor& x) {
  for (int64_t i = 1; i <= std::min(x.dim(), y.dim()); ++i)
    if (x.size(-i) != y.size(-i) && x.size(-i) != 1 && y.size(-i) != 1) return y.mean();
  return y;
}
/// The same in the sizes of x.
Tensor as_large(const Tensor& y, const Tensor& x) {
  const Tensor out = fit(y, x);
  for (int64_t i = 1; i <= out.dim(); ++i)
    if (i > x.dim() || (out.size(-i) != 1 && out.size(-i) != x.size(-i)))
      return y.mean().expand(x.sizes());
  return out.expand(x.sizes());
}
Tensor matrix(const Tensor& x) { return x.reshape({-1, wide(x).size(-1)}); }
/// Symmetric, with eigenvalues above one.
Tensor definite(const Tensor& x) {
  const Tensor m = matrix(x);
  return m.matmul(m.t()).add(eye(m.size(0), TensorOptions(kDouble)));
}
Tensor some(int64_t size, int64_t p, int64_t q) {
  return arange(1 + q % 3, TensorOptions(kLong)).mul(1 + p % 2).add(p).remainder(size);
}
/// Indices that differ with x.
Tensor order(const Tensor& x) { return line(x).argsort(); }

using T = const Tensor&;
using N = int64_t;

std::vector<Operation> elements() {
  return {
      {"sin", [](T x, T, N, N) { return x.sin(); }},
      {"tanh", [](T x, T, N, N) { return x.tanh(); }},
      {"sigmoid", [](T x, T, N, N) { return x.sigmoid(); }},
      {"gelu", [](T x, T, N, N) { return gelu(x); }},
      {"softplus", [](T x, T, N, N) { return softplus(x); }},
      {"log1p", [](T x, T, N, N) { return x.square().log1p(); }},
      {"reciprocal", [](T x, T, N, N) { return x.square().add(1).reciprocal(); }},
      {"neg", [](T x, T, N, N) { return x.neg(); }},
      {"clone", [](T x, T, N, N) { return x.clone(); }},
      {"detach", [](T x, T, N, N) { return x.detach(); }},
      {"clamp", [](T x, T, N, N) { return x.clamp(-0.7, 0.9); }},
      {"add", [](T x, T y, N p, N) { return x.add(fit(y, x), p % 3); }},
      {"rsub", [](T x, T y, N, N) { return fit(y, x).sub(x); }},
      {"mul", [](T x, T y, N, N) { return x.mul(fit(y, x)).tanh(); }},
      {"div", [](T x, T y, N, N) { return x.div(fit(y, x).square().add(1)); }},
      {"maximum", [](T x, T y, N, N) { return x.maximum(fit(y, x)); }},
      {"atan2", [](T x, T y, N, N) { return x.atan2(fit(y, x).square().add(1)); }},
      {"where", [](T x, T y, N, N) { return where(x.gt(0.1), fit(y, x), x.mul(2).sin()); }},
      {"lerp", [](T x, T y, N, N) { return x.lerp(as_large(y, x), x.sigmoid()); }},
      {"pow", [](T x, T y, N, N) { return x.square().add(1).pow(fit(y, x).tanh()); }},
      {"addcmul", [](T x, T y, N, N) { return x.addcmul(x, fit(y, x), 0.5).sin(); }},
      {"masked_fill", [](T x, T y, N, N) { return x.masked_fill(x.lt(0.2), y.mean()); }},
      {"float", [](T x, T y, N, N) { return x.mul(fit(y, x).to(kFloat).to(kDouble)).tanh(); }},
  };
}

std::vector<Operation> reductions() {
  return {
      {"sum", [](T x, T, N, N) { return x.sum().sin(); }},
      {"sum_dim", [](T x, T, N p, N q) { return x.sum({dim_of(x, p)}, q % 2).sin(); }},
      {"mean_dim", [](T x, T, N p, N q) { return x.mean({dim_of(x, p)}, q % 2); }},
      {"prod", [](T x, T, N p, N) { return x.tanh().prod(dim_of(x, p)); }},
      {"amax", [](T x, T, N p, N q) { return x.amax({dim_of(x, p)}, q % 2); }},
      {"max", [](T x, T, N p, N) { return std::get<0>(x.max(dim_of(x, p))); }},
      {"logsumexp", [](T x, T, N p, N q) { return x.logsumexp({dim_of(x, p)}, q % 2); }},
      {"var", [](T x, T, N p, N q) { return x.var({dim_of(x, p)}, false, q % 2); }},
      {"norm", [](T x, T, N p, N) { return x.square().add(1).norm(2, {dim_of(x, p)}, false); }},
      {"median", [](T x, T, N p, N) { return std::get<0>(x.median(dim_of(x, p))); }},
      {"cumsum", [](T x, T, N p, N) { return x.cumsum(dim_of(x, p)).sin(); }},
      {"cumprod", [](T x, T, N p, N) { return x.tanh().cumprod(dim_of(x, p)); }},
      {"softmax", [](T x, T, N p, N) { return softmax(x, dim_of(x, p)); }},
      {"log_softmax", [](T x, T, N p, N) { return log_softmax(x, dim_of(x, p)); }},
      {"sort", [](T x, T, N p, N q) { return std::get<0>(x.sort(dim_of(x, p), q % 2 == 1)); }},
      {"topk", [](T x, T, N p, N) { return std::get<0>(x.topk(1, dim_of(x, p))); }},
      {"quantile", [](T x, T, N p, N) { return x.quantile(0.3, dim_of(wide(x), p)); }},
  };
}

std::vector<Operation> shapes() {
  return {
      {"transpose", [](T x, T, N p, N q) { return x.transpose(dim_of(x, p), dim_of(x, q)); }},
      {"movedim", [](T x, T, N p, N q) { return x.movedim(dim_of(x, p), dim_of(x, q)); }},
      // Whether these are views depends on the layout, which a map is free to choose.
      {"flatten", [](T x, T, N, N) { return x.flatten().clone(); }},
      {"reshape", [](T x, T, N, N) { return line(x).clone(); }},
      {"unsqueeze",
       [](T x, T, N p, N) { return x.dim() < 4 ? x.unsqueeze(p % (x.dim() + 1)) : x; }},
      {"squeeze", [](T x, T, N, N) { return x.squeeze(); }},
      {"squeeze_dim", [](T x, T, N p, N) { return x.squeeze(dim_of(x, p)); }},
      {"select",
       [](T x, T, N p, N q) {
         const N d = dim_of(wide(x), p);
         return wide(x).select(d, q % wide(x).size(d));
       }},
      {"narrow",
       [](T x, T, N p, N q) {
         const N d = dim_of(wide(x), p), n = wide(x).size(d);
         return wide(x).narrow(d, q % n, n - q % n);
       }},
      {"slice", [](T x, T, N p, N) { return wide(x).slice(dim_of(wide(x), p), {}, {}, 2); }},
      {"unfold", [](T x, T, N p, N) { return wide(x).unfold(dim_of(wide(x), p), 1, 1); }},
      {"diagonal", [](T x, T, N, N) { return x.dim() > 1 ? x.diagonal(0, -1, 0) : x; }},
      {"expand",
       [](T x, T, N, N) {
         return x.numel() < 30 ? x.unsqueeze(0).expand({2, -1}) : x;
       }},
      {"flip", [](T x, T, N p, N) { return x.flip({dim_of(x, p)}); }},
      {"roll", [](T x, T, N p, N) { return x.roll(p); }},
      {"roll_dim", [](T x, T, N p, N q) { return wide(x).roll(q, dim_of(wide(x), p)); }},
      {"tril", [](T x, T, N p, N) { return x.dim() > 1 ? x.tril(p % 3 - 1) : x; }},
      {"diag_embed", [](T x, T, N, N) { return x.numel() < 8 ? diag_embed(wide(x)) : x; }},
      {"cat",
       [](T x, T y, N, N) {
         return cat({line(x), line(y)}).narrow(0, 0, 2);
       }},
      {"stack",
       [](T x, T y, N p, N) {
         return stack({x.mean(), y.mean(), x.sum().sin()}, p % 1);
       }},
      {"stack_dim",
       [](T x, T y, N p, N) {
         return x.numel() < 30 ? stack({x, as_large(y, x)}, dim_of(x, p)) : x;
       }},
      {"repeat",
       [](T x, T, N, N) {
         return x.numel() < 30 ? wide(x).repeat({2, 1, 1, 1}) : x;
       }},
      {"repeat_interleave",
       [](T x, T, N, N) { return line(x).repeat_interleave(2).narrow(0, 0, 2); }},
      {"chunk", [](T x, T, N p, N) { return wide(x).chunk(2, dim_of(wide(x), p)).back(); }},
      {"unbind", [](T x, T, N p, N) { return wide(x).unbind(dim_of(wide(x), p)).back(); }},
      {"as_strided",
       [](T x, T, N, N) {
         return line(x).clone().as_strided({2, 1}, {0, 1});
       }},
      {"pad",
       [](T x, T, N p, N) {
         return nn::functional::pad(wide(x), {p % 2, 1});
       }},
      {"permute",
       [](T x, T, N, N) {
         return x.dim() == 3 ? x.permute({2, 0, 1}) : x;
       }},
  };
}

std::vector<Operation> products() {
  return {
      {"matmul", [](T x, T, N, N) { return matrix(x).matmul(matrix(x).t()).tanh(); }},
      {"mv", [](T x, T, N, N) { return matrix(x).matmul(matrix(x).select(0, 0)).tanh(); }},
      {"outer", [](T x, T y, N, N) { return outer(line(x).narrow(0, 0, 1), line(y)).tanh(); }},
      {"dot", [](T x, T y, N, N) { return dot(line(x), line(as_large(y, x))).tanh(); }},
      {"einsum",
       [](T x, T y, N, N) {
         return einsum("...,...->...", {x, as_large(y, x)}).sin();
       }},
      {"linear",
       [](T x, T y, N, N) {
         const Tensor z = wide(x);
         return linear(z, line(y).narrow(0, 0, 1).expand({2, z.size(-1)}), y.mean().expand({2}))
             .tanh();
       }},
      {"addmm",
       [](T x, T y, N, N) { return addmm(y.mean().expand({1}), matrix(x), matrix(x).t()).tanh(); }},
      {"bmm",
       [](T x, T y, N, N) {
         const Tensor m = matrix(x).unsqueeze(0);
         return bmm(m, m.transpose(1, 2).mul(y.mean())).tanh();
       }},
      {"inv", [](T x, T, N, N) { return linalg::inv(definite(x)); }},
      {"det", [](T x, T, N, N) { return logdet(definite(x)); }},
      {"cholesky", [](T x, T, N, N) { return linalg::cholesky(definite(x)).tanh(); }},
      {"solve", [](T x, T y, N, N) { return linalg::solve(definite(x), matrix(as_large(y, x))); }},
      {"layer_norm", [](T x, T, N, N) { return layer_norm(wide(x).sin(), {wide(x).size(-1)}); }},
      {"conv1d",
       [](T x, T y, N, N) {
         return conv1d(line(x).reshape({1, 1, -1}), line(y).narrow(0, 0, 1).reshape({1, 1, 1}))
             .tanh();
       }},
      {"avg_pool1d",
       [](T x, T, N, N) {
         return avg_pool1d(line(x).reshape({1, 1, -1}), {1}, {1});
       }},
      {"mse_loss", [](T x, T y, N, N) { return mse_loss(x, as_large(y, x)).tanh(); }},
      {"cdist",
       [](T x, T y, N, N) { return cdist(matrix(x), matrix(as_large(y, x)).add(7)).sin(); }},
      {"rfft", [](T x, T, N, N) { return real(fft::rfft(line(x))).tanh(); }},
  };
}

std::vector<Operation> indexing() {
  return {
      {"index_select",
       [](T x, T, N p, N q) {
         const Tensor z = wide(x);
         const N d = dim_of(z, p);
         return z.index_select(d, some(z.size(d), p, q));
       }},
      {"index_own", [](T x, T, N, N) { return line(x).index({order(x)}); }},
      {"index_other",
       [](T x, T y, N, N) { return line(x).index({order(y).remainder(x.numel())}); }},
      {"index_rows",
       [](T x, T, N p, N q) {
         return matrix(x).index({Slice(), some(matrix(x).size(1), p, q)});
       }},
      {"gather",
       [](T x, T y, N p, N) {
         const Tensor z = wide(x);
         const N d = dim_of(z, p);
         return z.gather(d, as_large(y, z).argsort(d));
       }},
      {"scatter_add",
       [](T x, T y, N, N) { return line(x).scatter_add(0, order(x), line(as_large(y, x))).sin(); }},
      {"index_add",
       [](T x, T y, N p, N) {
         const Tensor index = some(x.numel(), p, 1).narrow(0, 0, 1);
         return line(x).index_add(0, index, line(y).narrow(0, 0, 1));
       }},
      {"index_put",
       [](T x, T y, N p, N q) {
         return line(x).index_put({some(x.numel(), p, 0)}, line(y).narrow(0, 0, 1), q % 2);
       }},
      {"index_put_own",
       [](T x, T y, N, N) { return line(x).index_put({order(x)}, line(as_large(y, x))); }},
      {"take", [](T x, T y, N, N) { return x.take(order(y).remainder(x.numel())); }},
      {"masked_scatter",
       [](T x, T y, N, N) { return x.masked_scatter(x.gt(0), as_large(y, x).contiguous()); }},
      {"searchsorted",
       [](T x, T y, N, N) {
         return searchsorted(std::get<0>(line(x).sort()), y.detach()).to(kDouble).div(4);
       }},
      {"bucketize", [](T x, T, N, N) { return bucketize(x, arange(2, kDouble)).to(kDouble); }},
      {"histc", [](T x, T, N, N) { return histc(x, 3, -1, 1).div(10); }},
      {"one_hot", [](T x, T, N, N) { return one_hot(order(x).remainder(3), 3).to(kDouble); }},
      {"embedding",
       [](T x, T y, N, N) { return embedding(matrix(x), order(y).remainder(matrix(x).size(0))); }},
      {"select_scatter",
       [](T x, T y, N p, N) {
         const Tensor z = wide(x);
         const N d = dim_of(z, p);
         return z.select_scatter(as_large(y, z).select(d, 0), d, 0);
       }},
  };
}

/// Changes of x itself, of which others may be views, or of a copy that has what x has not.
std::vector<Operation> changes() {
  return {
      {"add_", [](T x, T y, N, N) { return x.add_(as_large(y, x)).tanh_(); }},
      {"mul_", [](T x, T y, N, N) { return x.mul_(as_large(y, x)).tanh_(); }},
      {"sub_number_", [](T x, T, N, N) { return x.sub_(0.25); }},
      {"sin_", [](T x, T, N, N) { return x.sin_(); }},
      {"copy_", [](T x, T y, N, N) { return x.copy_(as_large(y, x)); }},
      {"select_mul_",
       [](T x, T y, N p, N) {
         x.unsqueeze(0).select(0, 0).mul_(y.tanh().mean());
         return x.transpose(dim_of(x, p), 0 - (x.dim() > 0));
       }},
      {"row_copy_",
       [](T x, T y, N p, N) {
         if (x.dim() > 0) x.select(dim_of(x, p), 0).copy_(y.mean());
         return x;
       }},
      {"narrow_zero_",
       [](T x, T, N p, N) {
         if (x.dim() > 0) x.narrow(dim_of(x, p), 0, 1).zero_();
         return x;
       }},
      {"fill_", [](T x, T y, N, N) { return x.fill_(y.mean()); }},
      {"masked_fill_", [](T x, T y, N, N) { return x.masked_fill_(x.gt(0.4), y.mean()); }},
      {"set_item_",
       [](T x, T y, N p, N) {
         if (x.dim() > 0) x.index_put_({some(x.size(0), p, 1)}, y.mean());
         return x;
       }},
      {"unsqueeze_", [](T x, T, N, N) { return x.dim() < 4 ? x.unsqueeze_(0) : x; }},
      {"t_", [](T x, T, N, N) { return x.dim() == 2 ? x.t_() : x; }},
      {"squeeze_", [](T x, T, N, N) { return x.squeeze_(); }},
  };
}

}  // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> out;
    for (const auto& part : {elements(), reductions(), shapes(), products(), indexing(), changes()})
      out.insert(out.end(), part.begin(), part.end());
    return out;
  }();
  return all;
}

}  // namespace taeda::map_programs
