#include "taeda/nn/modules/vision.h"

namespace taeda::inline v0_2::nn {

namespace {

std::string sliding_text(const auto& o) {
  return "kernel_size=" + o.kernel_size().text() + ", dilation=" + o.dilation().text() +
         ", padding=" + o.padding().text() + ", stride=" + o.stride().text();
}

}  // namespace

std::string UpsampleImpl::extra_repr() const {
  std::string out;
  if (options.scale_factor()) {
    out = "scale_factor=(";
    for (size_t i = 0; i < options.scale_factor()->size(); ++i)
      out += (i ? ", " : "") + float_text((*options.scale_factor())[i]);
    out += ")";
  } else if (options.size()) {
    out = "size=" + tuple_text(*options.size());
  }
  return out + ", mode=" + options.mode().name();
}

Tensor UpsampleImpl::forward(const Tensor& input) {
  return functional::interpolate(input, functional::InterpolateFuncOptions()
                                            .size(options.size())
                                            .scale_factor(options.scale_factor())
                                            .mode(options.mode())
                                            .align_corners(options.align_corners()));
}

std::string UnfoldImpl::extra_repr() const { return sliding_text(options); }

std::string FoldImpl::extra_repr() const {
  return "output_size=" + options.output_size().text() + ", " + sliding_text(options);
}

}  // namespace taeda::nn
