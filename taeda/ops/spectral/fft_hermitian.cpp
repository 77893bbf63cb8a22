#include "taeda/ops/spectral/fft_hermitian.h"

#include "bodies/fft_hermitian.h"
#include "taeda/base/error.h"

namespace taeda::inline v0_2::fft {

namespace {

/// Which dimensions are transformed, and to which lengths (-1: as they are).
struct HermitianDims {
  DimVector dims, lengths;

  HermitianDims(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim) {
    TAEDA_CHECK(!s.has_value() || !dim.has_value() || (*s).size() == (*dim).size(),
                "When given, dim and shape arguments must have the same length");
    if (dim.has_value()) {
      dims = DimVector(*dim);
    } else {
      const int64_t count = s.has_value() ? static_cast<int64_t>((*s).size()) : self.dim();
      for (int64_t d = -count; d < 0; ++d) dims.push_back(d);
    }
    TAEDA_CHECK(!dims.empty(), "hfftn must transform at least one axis");
    lengths = s.has_value() ? DimVector(*s) : DimVector(dims.size(), -1);
  }
  IntArrayRef leading() const { return IntArrayRef(dims).slice(0, dims.size() - 1); }
  IntArrayRef leading_lengths() const { return IntArrayRef(lengths).slice(0, dims.size() - 1); }
  OptionalDim last_length() const {
    return lengths.back() == -1 ? OptionalDim() : OptionalDim(lengths.back());
  }
};

}  // namespace

Tensor do_hfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                OptionalNorm norm) {
  const HermitianDims d(self, s, dim);
  const Tensor x = d.leading().empty() ? self : fftn(self, d.leading_lengths(), d.leading(), norm);
  return hfft(x, d.last_length(), d.dims.back(), norm);
}

Tensor do_ihfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                 OptionalNorm norm) {
  const HermitianDims d(self, s, dim);
  const Tensor x = ihfft(self, d.last_length(), d.dims.back(), norm);
  return d.leading().empty() ? x : ifftn(x, d.leading_lengths(), d.leading(), norm);
}

Tensor do_hfft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, OptionalNorm norm) {
  return hfftn(self, s, dim, norm);
}
Tensor do_ihfft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, OptionalNorm norm) {
  return ihfftn(self, s, dim, norm);
}

}  // namespace taeda::inline v0_2::fft
