// torch.special's names for functions that stand elsewhere.
#pragma once

#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/torch_special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/out.h"
#include "taeda/ops/reduce/reduce.h"

namespace taeda::inline v0_2::special {

using taeda::digamma, taeda::digamma_out;
using taeda::erf, taeda::erf_out, taeda::erfc, taeda::erfc_out, taeda::erfinv, taeda::erfinv_out;
using taeda::exp2, taeda::exp2_out, taeda::expm1, taeda::expm1_out, taeda::log1p, taeda::log1p_out;
using taeda::log_softmax, taeda::logsumexp, taeda::logsumexp_out, taeda::softmax;
using taeda::logit, taeda::logit_out, taeda::polygamma, taeda::polygamma_out;
using taeda::round, taeda::round_out, taeda::sinc, taeda::sinc_out, taeda::xlogy, taeda::xlogy_out;

/// sigmoid, digamma and lgamma.
inline Tensor expit(const Tensor& self) { return self.sigmoid(); }
inline Tensor& expit_out(Tensor& out, const Tensor& self) { return sigmoid_out(out, self); }
inline Tensor psi(const Tensor& self) { return taeda::digamma(self); }
inline Tensor& psi_out(Tensor& out, const Tensor& self) { return taeda::digamma_out(out, self); }
inline Tensor gammaln(const Tensor& self) { return taeda::lgamma(self); }
inline Tensor& gammaln_out(Tensor& out, const Tensor& self) { return lgamma_out(out, self); }

}  // namespace taeda::inline v0_2::special
