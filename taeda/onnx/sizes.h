// Sizes that depend on those of the inputs. Not part of the public interface.
#pragma once

#include <string>
#include <vector>

#include "taeda/onnx/trace.h"

namespace taeda::inline v0_2::onnx {

/// Note [Sizes that depend on an axis]
/// A trace holds numbers: whether a 6 was written in the program or is three times the batch, it
/// does not tell. So forward is traced again with each axis that shall stay open one larger, and
/// three larger, all else as it was. What is the same in all traces is a constant. What differs
/// must be a whole number times a product of axes plus another number, in every trace, or the
/// export is refused. Calls must be the same in all traces: a program that does something else for
/// another batch cannot be one graph.

/// An axis whose size is not fixed in the file.
struct Axis {
  std::string name;
  /// Where inputs have it: number of the input, dimension.
  std::vector<std::pair<size_t, int64_t>> places;
  int64_t size = 0;  ///< in the first trace
};

/// Throws NotImplementedError: the module cannot be exported with this axis open because of `what`
/// when its size is `size`.
[[noreturn]] void refuse_axis(const Axis& axis, int64_t size, const std::string& what);

/// factor * (product of axes) + offset.
struct Size {
  int64_t value = 0;  ///< in the first trace
  int64_t factor = 0, offset = 0;
  std::vector<size_t> axes;  ///< empty: a constant, which is `value`

  bool is_constant() const { return axes.empty(); }
  friend bool operator==(const Size&, const Size&) = default;
};

/// The traces of one program with different sizes: the first as it was given, then two for each
/// axis.
class Traces {
 public:
  /// How much larger an axis is in its two traces.
  static constexpr int64_t kSteps[] = {1, 3};

  /// Throws Error if they differ in more than sizes, naming the first call that does.
  Traces(std::vector<Trace> traces, std::vector<Axis> axes);

  const Trace& first() const { return traces_.front(); }
  const std::vector<Axis>& axes() const { return axes_; }

  Size size(ValueId value, size_t dim) const;
  std::vector<Size> sizes(ValueId value) const;
  /// An argument of a call as one size, or as a list of them.
  Size argument(size_t call, size_t index) const;
  std::vector<Size> arguments(size_t call, size_t index) const;
  /// Whether all of a call's arguments, and its results, are the same in every trace.
  bool is_fixed(size_t call) const;
  /// "2 batch + 1".
  std::string text(const Size& size) const;

 private:
  template <class Get>
  Size fit(const Get& get) const;
  void check_same(size_t t) const;

  std::vector<Trace> traces_;
  std::vector<Axis> axes_;
};

}  // namespace taeda::inline v0_2::onnx
