// A step of a rule over the parameters that a face lends, whatever language it is written for.
#pragma once

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "taeda/optim/rule.h"
#include "taeda/tensor/indexing.h"

namespace taeda::inline v0_2::optim {

/// What a face lends for one parameter.
struct Lent {
  size_t group = 0, index = 0;  ///< the parameter group, and the position in it
  Tensor param, grad;
  /// By the rule's order. Those that the step wants and that are not there are made.
  Tensor states[ParamRef::kMaxStates] = {};
  StepCount count{};         ///< before the step; afterwards with it, unless it was captured
  bool new_numbers = false;  ///< the count's numbers are to be the first ones
  bool captured = false;     ///< this step counts when it is replayed
  bool fresh = false;        ///< the first state was made
};

/// One step, planned before anything happens (Note [All or nothing]): `add` checks a parameter,
/// allocates what the step needs and works out what is made of operations; an error leaves all that
/// was lent as it was. `run` launches, and what is lent has its new state then.
class RuleStep {
 public:
  /// At each replay of a captured step: calls `next(lr, count)` with the learning rate of then and
  /// the count of the parameter that was added as that number, and keeps the count that it makes.
  using Next = std::function<void(double lr, StepCount& count)>;
  using Replay = std::function<void(size_t number, const Next& next)>;

  /// `op` begins the texts of errors. `replaces`: states that are made of operations take the old
  /// ones' places; else their values do.
  RuleStep(const Rule& rule, const char* op, bool replaces)
      : rule_(rule), op_(op), replaces_(replaces) {}
  /// Makes room for as many parameters.
  void reserve(size_t params) { lent_.reserve(params); }
  /// `values`: the options of the parameter's group.
  void add(const double* values, Lent lent);
  void run(const Replay& replay = nullptr);
  std::vector<Lent>& lent() { return lent_; }
  /// Whether the k-th state is a part of a step with these options.
  bool wants(const double* values, size_t k) const {
    return !rule_.states[k].wanted || rule_.states[k].wanted(values);
  }

 private:
  /// One kernel call.
  struct Part {
    Part(size_t g, Device device, ScalarType dtype) : group(g), list(device, dtype) {}
    size_t group;
    ParamList list;
    std::vector<size_t> members;
    double values[Rule::kMostFields];
    StepValues step;        // of a formula
    StepNumbers numbers;    // of an own kernel, those of the last parameter
    StepCount begun, done;  // of the last parameter: with this step, and what it took note of
    bool fresh = false;
  };
  /// Elements that a sparse gradient has, with the values that they get.
  struct Rows {
    size_t lent;
    std::vector<TensorIndex> at;
    StepTensors now;
  };

  void check(const Lent& lent, bool apart) const;
  void compose(const double* values, Lent& lent);
  void add_sparse(const double* values, Lent& lent);
  void launch_later(const double* values, Lent& lent);
  void bring_states(const double* values, Lent& lent, const Tensor& param, const Tensor** ordered);
  void begin_count(const double* values, Lent& lent) const;
  Part& part_for(const double* values, Lent& lent, const Tensor& param);
  void make_live(Part& part, const Replay& replay);

  const Rule& rule_;
  const char* op_;
  bool replaces_;
  std::vector<Lent> lent_;
  std::vector<Part> parts_;
  std::vector<Tensor> keep_alive_;                  // gradients brought into order
  std::deque<Tensor> in_order_;                     // states likewise
  std::vector<std::pair<Tensor, Tensor>> results_;  // what gets values, and from where
  std::vector<Rows> rows_;
};

/// Throws Error in the words of ParamList unless a tensor has the sizes, and device and dtype of a
/// parameter. `what` and `name`: "gradient" and "", or "state " and its name.
void check_like(const char* op, const char* what, const char* name, size_t group, size_t index,
                const Tensor& t, IntArrayRef sizes, const Tensor& param);
/// The first value of the k-th state of a parameter; nothing where it has no such state.
std::optional<Tensor> first_state(const Rule& rule, const double* values, size_t k,
                                  const Tensor& param);

}  // namespace taeda::inline v0_2::optim
