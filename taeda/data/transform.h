// Functions on examples and batches, for Dataset::map. They run in the thread that reads the batch.
#pragma once

#include <functional>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/data/collate.h"
#include "taeda/data/dataset.h"

namespace taeda::inline v0_2::data::transforms {

/// A function of a whole batch.
/// Its result may have another size and type.
template <class InputBatch, class OutputBatch>
class BatchTransform {
 public:
  using InputBatchType = InputBatch;
  using OutputBatchType = OutputBatch;
  virtual ~BatchTransform() = default;
  /// The batch that the transform makes of one; it may have another size.
  virtual OutputBatch apply_batch(InputBatch input) = 0;
};

/// A function of one example.
/// Batches keep their size.
template <class Input, class Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;
  /// The example that the transform makes of one; what it throws reaches the loop.
  virtual Output apply(Input input) = 0;
  std::vector<Output> apply_batch(std::vector<Input> inputs) override {
    std::vector<Output> out;
    out.reserve(inputs.size());
    for (Input& input : inputs) out.push_back(apply(std::move(input)));
    return out;
  }
};

/// Makes one value of a list of examples, which is not empty.
template <class Batch, class Single = Batch>
using Collation = BatchTransform<std::vector<Single>, Batch>;

/// Stacks examples, whose tensors must have one shape (data/collate.h says how).
template <class E = Example<>>
class Stack : public Collation<typename Collate<E>::Batch, E> {
 public:
  typename Collate<E>::Batch apply_batch(std::vector<E> examples) override {
    return collate(examples);
  }
};

/// A transform that calls a function of one example, whose tensors may have any shape.
template <class Input, class Output = Input>
class Lambda : public Transform<Input, Output> {
 public:
  explicit Lambda(std::function<Output(Input)> fn) : fn_(std::move(fn)) {
    TAEDA_CHECK_VALUE(fn_, "transforms::Lambda expects a function, but got an empty one");
  }
  Output apply(Input input) override { return fn_(std::move(input)); }

 private:
  std::function<Output(Input)> fn_;
};

/// A transform that calls a function of a batch, whose size it may change.
template <class Input, class Output = Input>
class BatchLambda : public BatchTransform<Input, Output> {
 public:
  explicit BatchLambda(std::function<Output(Input)> fn) : fn_(std::move(fn)) {
    TAEDA_CHECK_VALUE(fn_, "transforms::BatchLambda expects a function, but got an empty one");
  }
  Output apply_batch(Input input) override { return fn_(std::move(input)); }

 private:
  std::function<Output(Input)> fn_;
};

/// The base of transforms that change the example's data alone.
template <class Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  virtual Tensor operator()(Tensor input) = 0;
  Example<Tensor, Target> apply(Example<Tensor, Target> e) override {
    e.data = (*this)(std::move(e.data));
    return e;
  }
};

/// (data - mean) / stddev; one number, or one per channel of data (C, H, W).
template <class Target = Tensor>
class Normalize : public TensorTransform<Target> {
 public:
  Normalize(ArrayRef<double> mean, ArrayRef<double> stddev)
      : mean_(per_channel(mean)), stddev_(per_channel(stddev)) {}
  Tensor operator()(Tensor input) override { return input.sub(mean_).div_(stddev_); }
  /// The same for a batch (N, C, H, W): broadcasting does not mind the extra dimension.
  Example<Tensor, Target> apply_stacked(Example<Tensor, Target> batch) {
    return this->apply(std::move(batch));
  }

 private:
  static Tensor per_channel(ArrayRef<double> values) {
    Tensor out = empty({static_cast<int64_t>(values.size()), 1, 1});
    for (size_t i = 0; i < values.size(); ++i)
      out.data_ptr<float>()[i] = static_cast<float>(values[i]);
    return out;
  }

  Tensor mean_, stddev_;
};

}  // namespace taeda::inline v0_2::data::transforms

namespace taeda::inline v0_2::data::datasets {

namespace detail {

template <class T>
struct IsStack : std::false_type {};
template <class E>
struct IsStack<transforms::Stack<E>> : std::true_type {};

template <class T, class Batch>
concept TransformsBatch = requires(T& t, Batch b) {
  t.apply_batch(std::move(b));
};
template <class D>
concept HasGetStacked = requires(D& d, ArrayRef<size_t> i) {
  d.get_stacked(i);
};
template <class D>
concept HasGet = requires(D& d) {
  d.get(size_t{});
};

/// Applies a transform or a plain function of one example to a list of examples.
template <class T, class Batch>
auto apply_to_batch(T& transform, Batch batch) {
  if constexpr (TransformsBatch<T, Batch>) {
    return transform.apply_batch(std::move(batch));
  } else {
    std::vector<std::remove_cvref_t<decltype(transform(std::move(batch.front())))>> out;
    out.reserve(batch.size());
    for (auto& e : batch) out.push_back(transform(std::move(e)));
    return out;
  }
}

template <class T, class E>
auto apply_to_one(T& transform, E example) {
  if constexpr (requires { transform.apply(std::move(example)); }) {
    return transform.apply(std::move(example));
  } else {
    return transform(std::move(example));
  }
}

template <class T>
struct Unwrap {
  using type = T;
};
template <class T>
struct Unwrap<std::optional<T>> {
  using type = T;
};

template <class S, class T>
using mapped_t = decltype(apply_to_batch(
    std::declval<T&>(), std::declval<typename Unwrap<typename S::BatchType>::type>()));
template <class S, class T>
using mapped_batch_t =
    std::conditional_t<S::is_stateful, std::optional<mapped_t<S, T>>, mapped_t<S, T>>;

}  // namespace detail

/// What map() returns: `Source` with `Transform` applied to its batches. It keeps the source's fast
/// path where the transform can follow it (Stack, and transforms with apply_stacked).
/// Its size is the source's; what the transform throws passes through.
template <class Source, class Transform>
class MapDataset
    : public BatchDataset<MapDataset<Source, Transform>, detail::mapped_batch_t<Source, Transform>,
                          typename Source::BatchRequestType> {
 public:
  using BatchType = detail::mapped_batch_t<Source, Transform>;
  using BatchRequestType = typename Source::BatchRequestType;
  using RawBatchType = typename detail::Unwrap<typename Source::BatchType>::type;
  static constexpr bool is_stateful = Source::is_stateful;

  MapDataset(Source source, Transform transform)
      : source_(std::move(source)), transform_(std::move(transform)) {}

  BatchType get_batch(BatchRequestType request) override {
    if constexpr (is_stateful) {
      auto raw = source_.get_batch(request);
      if (!raw) return std::nullopt;
      return detail::apply_to_batch(transform_, std::move(*raw));
    } else if constexpr (detail::IsStack<Transform>::value && detail::HasGetStacked<Source>) {
      return source_.get_stacked(request);
    } else {
      return detail::apply_to_batch(transform_, source_.get_batch(request));
    }
  }

  /// The examples of the source, transformed; an index out of range is the source's error.
  auto get(size_t index) requires(detail::HasGet<Source> && !detail::IsStack<Transform>::value) {
    return detail::apply_to_one(transform_, source_.get(index));
  }
  auto get_stacked(ArrayRef<size_t> indices) requires requires(Source& s, Transform& t) {
    t.apply_stacked(s.get_stacked(indices));
  }
  { return transform_.apply_stacked(source_.get_stacked(indices)); }

  std::optional<size_t> size() const override { return source_.size(); }
  void reset() requires requires(Source& s) { s.reset(); }
  { source_.reset(); }
  const Source& dataset() const { return source_; }
  const Transform& transform() const { return transform_; }

 private:
  Source source_;
  Transform transform_;
};

}  // namespace taeda::inline v0_2::data::datasets
