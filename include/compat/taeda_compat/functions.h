// Functions that Taeda has under another name or as methods alone: torch::special_erf,
// torch::exp_(t). Each passes its arguments on, so it takes what the original takes, but for
// braces: where these may stand, functions are made (taeda/generated/compat/second_names.h).
#pragma once

#include <taeda/generated/compat/second_names.h>
#include <taeda_compat/linalg.h>
#include <taeda_compat/namespaces.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace taeda_compat {
#define TAEDA_COMPAT_SPECIAL(name)                            \
  TAEDA_COMPAT_FORWARD(special_##name, taeda::special::name); \
  TAEDA_COMPAT_FORWARD(special_##name##_out, taeda::special::name##_out)
TAEDA_COMPAT_SPECIAL(airy_ai);
TAEDA_COMPAT_SPECIAL(bessel_j0);
TAEDA_COMPAT_SPECIAL(bessel_j1);
TAEDA_COMPAT_SPECIAL(bessel_y0);
TAEDA_COMPAT_SPECIAL(bessel_y1);
TAEDA_COMPAT_SPECIAL(chebyshev_polynomial_t);
TAEDA_COMPAT_SPECIAL(chebyshev_polynomial_u);
TAEDA_COMPAT_SPECIAL(chebyshev_polynomial_v);
TAEDA_COMPAT_SPECIAL(chebyshev_polynomial_w);
TAEDA_COMPAT_SPECIAL(digamma);
TAEDA_COMPAT_SPECIAL(entr);
TAEDA_COMPAT_SPECIAL(erf);
TAEDA_COMPAT_SPECIAL(erfc);
TAEDA_COMPAT_SPECIAL(erfcx);
TAEDA_COMPAT_SPECIAL(erfinv);
TAEDA_COMPAT_SPECIAL(exp2);
TAEDA_COMPAT_SPECIAL(expit);
TAEDA_COMPAT_SPECIAL(expm1);
TAEDA_COMPAT_SPECIAL(gammainc);
TAEDA_COMPAT_SPECIAL(gammaincc);
TAEDA_COMPAT_SPECIAL(gammaln);
TAEDA_COMPAT_SPECIAL(hermite_polynomial_h);
TAEDA_COMPAT_SPECIAL(hermite_polynomial_he);
TAEDA_COMPAT_SPECIAL(i0);
TAEDA_COMPAT_SPECIAL(i0e);
TAEDA_COMPAT_SPECIAL(i1);
TAEDA_COMPAT_SPECIAL(i1e);
TAEDA_COMPAT_SPECIAL(laguerre_polynomial_l);
TAEDA_COMPAT_SPECIAL(legendre_polynomial_p);
TAEDA_COMPAT_SPECIAL(log1p);
TAEDA_COMPAT_SPECIAL(log_ndtr);
TAEDA_COMPAT_SPECIAL(logit);
TAEDA_COMPAT_SPECIAL(modified_bessel_i0);
TAEDA_COMPAT_SPECIAL(modified_bessel_i1);
TAEDA_COMPAT_SPECIAL(modified_bessel_k0);
TAEDA_COMPAT_SPECIAL(modified_bessel_k1);
TAEDA_COMPAT_SPECIAL(multigammaln);
TAEDA_COMPAT_SPECIAL(ndtr);
TAEDA_COMPAT_SPECIAL(ndtri);
TAEDA_COMPAT_SPECIAL(polygamma);
TAEDA_COMPAT_SPECIAL(psi);
TAEDA_COMPAT_SPECIAL(round);
TAEDA_COMPAT_SPECIAL(scaled_modified_bessel_k0);
TAEDA_COMPAT_SPECIAL(scaled_modified_bessel_k1);
TAEDA_COMPAT_SPECIAL(shifted_chebyshev_polynomial_t);
TAEDA_COMPAT_SPECIAL(shifted_chebyshev_polynomial_u);
TAEDA_COMPAT_SPECIAL(shifted_chebyshev_polynomial_v);
TAEDA_COMPAT_SPECIAL(shifted_chebyshev_polynomial_w);
TAEDA_COMPAT_SPECIAL(sinc);
TAEDA_COMPAT_SPECIAL(spherical_bessel_j0);
TAEDA_COMPAT_SPECIAL(xlog1py);
TAEDA_COMPAT_SPECIAL(xlogy);
TAEDA_COMPAT_SPECIAL(zeta);
#undef TAEDA_COMPAT_SPECIAL
TAEDA_COMPAT_FORWARD(special_log_softmax, taeda::special::log_softmax);
TAEDA_COMPAT_FORWARD(special_softmax, taeda::special::softmax);

// Operations in place and questions, as functions.
TAEDA_COMPAT_METHOD(abs_);
TAEDA_COMPAT_METHOD(acos_);
TAEDA_COMPAT_METHOD(acosh_);
TAEDA_COMPAT_METHOD(arccos_);
TAEDA_COMPAT_METHOD(arccosh_);
TAEDA_COMPAT_METHOD(arcsin_);
TAEDA_COMPAT_METHOD(arcsinh_);
TAEDA_COMPAT_METHOD(arctan_);
TAEDA_COMPAT_METHOD(arctanh_);
TAEDA_COMPAT_METHOD(asin_);
TAEDA_COMPAT_METHOD(asinh_);
TAEDA_COMPAT_METHOD(atan_);
TAEDA_COMPAT_METHOD(atanh_);
TAEDA_COMPAT_METHOD(ceil_);
TAEDA_COMPAT_METHOD(conj_physical_);
TAEDA_COMPAT_METHOD(cos_);
TAEDA_COMPAT_METHOD(cosh_);
TAEDA_COMPAT_METHOD(deg2rad_);
TAEDA_COMPAT_METHOD(detach_);
TAEDA_COMPAT_METHOD(erf_);
TAEDA_COMPAT_METHOD(erfc_);
TAEDA_COMPAT_METHOD(exp2_);
TAEDA_COMPAT_METHOD(exp_);
TAEDA_COMPAT_METHOD(expm1_);
TAEDA_COMPAT_METHOD(fill_);
TAEDA_COMPAT_METHOD(fix_);
TAEDA_COMPAT_METHOD(floor_);
TAEDA_COMPAT_METHOD(frac_);
TAEDA_COMPAT_METHOD(i0_);
TAEDA_COMPAT_METHOD(log10_);
TAEDA_COMPAT_METHOD(log1p_);
TAEDA_COMPAT_METHOD(log2_);
TAEDA_COMPAT_METHOD(log_);
TAEDA_COMPAT_METHOD(neg_);
TAEDA_COMPAT_METHOD(negative_);
TAEDA_COMPAT_METHOD(rad2deg_);
TAEDA_COMPAT_METHOD(reciprocal_);
TAEDA_COMPAT_METHOD(resize_as_);
TAEDA_COMPAT_METHOD(rsqrt_);
TAEDA_COMPAT_METHOD(sigmoid_);
TAEDA_COMPAT_METHOD(sin_);
TAEDA_COMPAT_METHOD(sinc_);
TAEDA_COMPAT_METHOD(sinh_);
TAEDA_COMPAT_METHOD(sqrt_);
TAEDA_COMPAT_METHOD(square_);
TAEDA_COMPAT_METHOD(tan_);
TAEDA_COMPAT_METHOD(tanh_);
TAEDA_COMPAT_METHOD(trunc_);
TAEDA_COMPAT_METHOD(zero_);
TAEDA_COMPAT_METHOD(detach);
TAEDA_COMPAT_METHOD(is_complex);
TAEDA_COMPAT_METHOD(is_conj);
TAEDA_COMPAT_METHOD(is_distributed);
TAEDA_COMPAT_METHOD(is_floating_point);
TAEDA_COMPAT_METHOD(is_neg);
TAEDA_COMPAT_METHOD(is_nonzero);
TAEDA_COMPAT_METHOD(is_signed);
TAEDA_COMPAT_METHOD(is_inference);
TAEDA_COMPAT_METHOD(numel);
TAEDA_COMPAT_METHOD(size);
TAEDA_COMPAT_METHOD(stride);
inline const Tensor& as_strided_(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                                 std::optional<int64_t> storage_offset = {}) {
  return self.as_strided_(size, stride, storage_offset);
}

}  // namespace taeda_compat

#undef TAEDA_COMPAT_FORWARD
#undef TAEDA_COMPAT_METHOD
