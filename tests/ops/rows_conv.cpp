#include "taeda/ops/nn/conv.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

struct Steps {
  int64_t stride[2] = {1, 1}, padding[2] = {0, 0}, dilation[2] = {1, 1};
  int64_t groups = 1;
};

/// Calls f(input index, weight index, output index) for every product of a two-dimensional
/// convolution.
template <class F>
void for_each_product(const std::vector<int64_t>& in, const std::vector<int64_t>& weight,
                      const std::vector<int64_t>& out, const Steps& s, F&& f) {
  const int64_t per_group = weight[1], group_out = weight[0] / s.groups;
  for (int64_t n = 0; n < in[0]; ++n)
    for (int64_t o = 0; o < weight[0]; ++o)
      for (int64_t c = 0; c < per_group; ++c)
        for (int64_t y = 0; y < out[2]; ++y)
          for (int64_t x = 0; x < out[3]; ++x)
            for (int64_t i = 0; i < weight[2]; ++i)
              for (int64_t j = 0; j < weight[3]; ++j) {
                const int64_t iy = y * s.stride[0] - s.padding[0] + i * s.dilation[0];
                const int64_t ix = x * s.stride[1] - s.padding[1] + j * s.dilation[1];
                if (iy < 0 || iy >= in[2] || ix < 0 || ix >= in[3]) continue;
                const int64_t channel = o / group_out * per_group + c;
                f(((n * in[1] + channel) * in[2] + iy) * in[3] + ix,
                  ((o * per_group + c) * weight[2] + i) * weight[3] + j,
                  ((n * weight[0] + o) * out[2] + y) * out[3] + x);
              }
}

/// Zeros, or the bias of each channel.
Array start(std::vector<int64_t> sizes, const Arrays& a) {
  Array out = array(sizes, std::vector<double>(
                               static_cast<size_t>(sizes[0] * sizes[1] * sizes[2] * sizes[3]), 0));
  if (a.size() > 2)
    for (size_t i = 0; i < out.data.size(); ++i)
      out.data[i] =
          a[2].data[i / static_cast<size_t>(sizes[2] * sizes[3]) % static_cast<size_t>(sizes[1])];
  return out;
}

Array convolution(const Arrays& a, const Steps& s) {
  std::vector<int64_t> sizes{a[0].sizes[0], a[1].sizes[0]};
  for (size_t d = 0; d < 2; ++d)
    sizes.push_back(
        (a[0].sizes[d + 2] + 2 * s.padding[d] - s.dilation[d] * (a[1].sizes[d + 2] - 1) - 1) /
            s.stride[d] +
        1);
  Array out = start(sizes, a);
  for_each_product(a[0].sizes, a[1].sizes, sizes, s, [&](int64_t i, int64_t w, int64_t o) {
    out.data[static_cast<size_t>(o)] +=
        a[0].data[static_cast<size_t>(i)] * a[1].data[static_cast<size_t>(w)];
  });
  return out;
}

/// The roles of input and output exchanged.
Array transposed(const Arrays& a, const Steps& s, const int64_t* extra) {
  std::vector<int64_t> sizes{a[0].sizes[0], a[1].sizes[1] * s.groups};
  for (size_t d = 0; d < 2; ++d)
    sizes.push_back((a[0].sizes[d + 2] - 1) * s.stride[d] - 2 * s.padding[d] +
                    s.dilation[d] * (a[1].sizes[d + 2] - 1) + extra[d] + 1);
  Array out = start(sizes, a);
  for_each_product(sizes, a[1].sizes, a[0].sizes, s, [&](int64_t o, int64_t w, int64_t i) {
    out.data[static_cast<size_t>(o)] +=
        a[0].data[static_cast<size_t>(i)] * a[1].data[static_cast<size_t>(w)];
  });
  return out;
}

/// Inserts or removes dimensions of size 1, so that the two-dimensional reference serves all.
Array reshaped(Array a, std::vector<int64_t> sizes) {
  a.sizes = std::move(sizes);
  return a;
}

OpRow conv_row(std::string name, std::vector<Sample> samples, const Steps& s) {
  return {.name = std::move(name),
          .call =
              [s](const Tensors& t) {
                return Tensors{conv2d(t[0], t[1], t.size() > 2 ? t[2] : Tensor(), s.stride,
                                      IntArrayRef(s.padding), s.dilation, s.groups)};
              },
          .samples = std::move(samples),
          .reference = [s](const Arrays& a) { return Arrays{convolution(a, s)}; },
          .tolerance = 16};
}

OpRow transposed_row(std::string name, std::vector<Sample> samples, const Steps& s, int64_t extra) {
  return {
      .name = std::move(name),
      .call =
          [s, extra](const Tensors& t) {
            return Tensors{conv_transpose2d(t[0], t[1], t.size() > 2 ? t[2] : Tensor(), s.stride,
                                            s.padding, {extra, 0}, s.groups, s.dilation)};
          },
      .samples = std::move(samples),
      .reference =
          [s, extra](const Arrays& a) {
            const int64_t more[] = {extra, 0};
            return Arrays{transposed(a, s, more)};
          },
      .tolerance = 16};
}

/// One dimension, as two of which the first is 1; three, of which the first is 1.
std::vector<OpRow> other_dimensions() {
  const auto two = [](const Array& a) {
    return reshaped(a, {a.sizes[0], a.sizes[1], 1, a.sizes[2]});
  };
  const auto flat = [](const Array& a) {
    return reshaped(a, {a.sizes[0], a.sizes[1], a.sizes[3], a.sizes[4]});
  };
  const auto one = [](const Array& a) {
    return Arrays{reshaped(a, {a.sizes[0], a.sizes[1], a.sizes[3]})};
  };
  const auto deep = [](const Array& a) {
    return Arrays{reshaped(a, {a.sizes[0], a.sizes[1], 1, a.sizes[2], a.sizes[3]})};
  };
  const int64_t none[] = {0, 0};
  return {
      {.name = "conv1d",
       .call = [](const Tensors& t) { return Tensors{conv1d(t[0], t[1], t[2], 2, 1)}; },
       .samples = {{real({2, 3, 9}), real({4, 3, 3}), real({4})}},
       .reference =
           [=](const Arrays& a) {
             return one(
                 convolution({two(a[0]), two(a[1]), a[2]}, {.stride = {1, 2}, .padding = {0, 1}}));
           },
       .tolerance = 16},
      {.name = "conv3d",
       .call = [](const Tensors& t) { return Tensors{conv3d(t[0], t[1], t[2])}; },
       .samples = {{real({2, 2, 1, 4, 5}), real({3, 2, 1, 3, 2}), real({3})}},
       .reference =
           [=](const Arrays& a) {
             return deep(convolution({flat(a[0]), flat(a[1]), a[2]}, {}));
           },
       .tolerance = 16},
      {.name = "conv_transpose1d",
       .call = [](const Tensors& t) { return Tensors{conv_transpose1d(t[0], t[1], t[2], 2, 1)}; },
       .samples = {{real({2, 3, 5}), real({3, 4, 3}), real({4})}},
       .reference =
           [=](const Arrays& a) {
             return one(transposed({two(a[0]), two(a[1]), a[2]},
                                   {.stride = {1, 2}, .padding = {0, 1}}, none));
           },
       .tolerance = 16},
      {.name = "conv_transpose3d",
       .call = [](const Tensors& t) { return Tensors{conv_transpose3d(t[0], t[1], t[2])}; },
       .samples = {{real({2, 2, 1, 3, 4}), real({2, 3, 1, 2, 2}), real({3})}},
       .reference =
           [=](const Arrays& a) {
             return deep(transposed({flat(a[0]), flat(a[1]), a[2]}, {}, none));
           },
       .tolerance = 16},
  };
}

}  // namespace

std::vector<OpRow> conv_rows() {
  std::vector<OpRow> rows = {
      conv_row("conv2d",
               {{real({2, 3, 6, 7}), real({4, 3, 3, 2}), real({4})},
                {real({1, 1, 5, 5}), real({6, 1, 5, 5})}},
               {}),
      conv_row("conv2d.padded", {{real({2, 2, 5, 6}), real({3, 2, 3, 3}), real({3})}},
               {.padding = {1, 2}}),
      conv_row("conv2d.strided", {{real({2, 2, 7, 8}), real({3, 2, 3, 3})}},
               {.stride = {2, 3}, .padding = {1, 1}}),
      conv_row("conv2d.dilated", {{real({1, 2, 7, 8}), real({3, 2, 2, 3})}},
               {.padding = {1, 1}, .dilation = {2, 2}}),
      conv_row("conv2d.groups", {{real({2, 4, 5, 5}), real({6, 2, 3, 3}), real({6})}},
               {.groups = 2}),
      conv_row("conv2d.pointwise", {{real({2, 4, 3, 5}), real({3, 4, 1, 1}), real({3})}}, {}),
      transposed_row("conv_transpose2d", {{real({2, 3, 4, 4}), real({3, 2, 3, 3}), real({2})}}, {},
                     0),
      transposed_row("conv_transpose2d.strided",
                     {{real({2, 4, 3, 4}), real({4, 2, 3, 2}), real({4})}},
                     {.stride = {2, 1}, .padding = {1, 0}, .groups = 2}, 1),
  };
  for (OpRow& row : other_dimensions()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace taeda::testing
