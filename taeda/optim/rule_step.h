// A step of a rule over the parameters that a face lends, whatever language it is written for.
#pragma once

#include <functional>
#include <list>
#include <utility>
#include <vector>

#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

/// What a face lends for one parameter. Its tensors stay where they are until the step is over.
struct Lent {
  size_t group = 0, index = 0;  ///< the parameter group, and the position in it
  const Tensor* param = nullptr;
  const Tensor* grad = nullptr;
  /// By the rule's order. Those that the step wants and that are not there are made.
  Tensor* states = nullptr;
  void* face = nullptr;      ///< what the face wants to find again
  StepCount count{};         ///< before the step; afterwards with it, unless it was captured
  bool new_numbers = false;  ///< the count's numbers are to be the first ones
  /// Whether the step is recorded, so that gradients flow through it to the parameter and the
  /// states that were, to the gradient and to the learning rate, if that is a tensor.
  bool recorded = false;
  const Tensor* rate = nullptr;
  bool captured = false;  ///< this step counts when it is replayed
  bool done = false;      ///< the step was made
};

// Note [All or nothing]
// A step is planned before anything happens: every parameter of every group is checked, and what
// the kernels need besides - first states, gradients and states in their parameter's memory order,
// dense copies of parameters with gaps, results of operations - is made apart. Only then kernels
// are launched, and only what was launched counts. A parameter on the wrong device and memory that
// runs out half-way therefore leave parameters, states and counts as they were, and the step can be
// made again. Launching for a simulated device needs memory, too: for handles of what is queued. So
// rows of sparse gradients, which take a launch for each parameter and state, are put back if one
// fails.

/// One step: `add` plans, and leaves all that was lent as it was; `run` launches, and what is lent
/// has its new state then. `clear` makes it ready for the next, with the memory of this one.
class RuleStep {
 public:
  struct Member {
    size_t number;        ///< of the parameters that were added
    size_t group, index;  ///< as it was lent
  };
  /// At each replay of a captured step: calls `next(lr, count)` for each of the parameters, in
  /// order, with the learning rate and count of then, and keeps the count that it makes.
  using Next = std::function<void(double lr, StepCount& count)>;
  using Replay = std::function<void(ArrayRef<Member> members, const Next& next)>;

  /// `op` begins the texts of errors. `replaces`: states that are made anew take the old ones'
  /// places; else their values do.
  RuleStep(const Rule& rule, const char* op, bool replaces)
      : rule_(rule), op_(op), replaces_(replaces) {}
  const Rule& rule() const { return rule_; }
  /// Makes room for as many parameters.
  void reserve(size_t params) { lent_.reserve(params); }
  /// Before a step that may be captured. `skip`: as of ParamList, or undefined.
  void when_replayed(Replay replay, const Tensor& skip = {});
  /// Of the parameters that are added next: the options of their group, which stay where they are.
  void begin_group(const double* values);
  /// Under NoGradGuard, as `run`.
  void add(const Lent& lent);
  void run();
  void clear();
  std::vector<Lent>& lent() { return lent_; }

 private:
  /// One kernel call.
  struct Part {
    Part(size_t g, Device device, ScalarType dtype) : group(g), list(device, dtype) {}
    size_t group;
    ParamList list;
    std::vector<Member> members;
    double values[Rule::kMostFields];
    StepValues step;
    StepCount begun, done;  // with this step, and what it took note of
  };
  /// Rows of a tensor that get new values, by one kernel call.
  struct RowsToPut {
    RowsToPut(const Tensor& to, const Tensor& indices, const Tensor& rows);
    void put() const { write(values); }
    void put_back() const { write(before); }
    void write(const Tensor& rows) const;
    Tensor values, before, offsets, block;
  };
  /// What gets values, and from where.
  struct Result {
    Tensor to, from;
    bool recorded = false;
  };
  struct Made {
    size_t lent, k;
    Tensor tensor;
  };

  void check(const Lent& lent, bool apart) const;
  void check_has_state(const Lent& lent, size_t k) const;
  void compose(Lent& lent);
  void record(Lent& lent);
  void add_sparse(Lent& lent);
  void launch_later(Lent& lent, const Tensor& given);
  const Tensor& state_like(Lent& lent, size_t k, const Tensor& param);
  void begin_count(Lent& lent) const;
  Part& part_for(Lent& lent, const Tensor& param);
  Member last_member() const;
  GraphNumbers live_numbers(Device device, const double* values, std::vector<Member> members) const;
  void launch_all();
  void take_over(bool all);

  const Rule& rule_;
  const char* op_;
  bool replaces_;
  Replay replay_;
  Tensor skip_;
  const double* values_ = nullptr;       // of the group
  size_t wanted_[ParamRef::kMaxStates];  // its states
  const char* names_[ParamRef::kMaxStates];
  size_t wanted_count_ = 0;
  size_t launched_ = 0;  // parts
  std::vector<Lent> lent_;
  std::vector<Part> parts_;
  std::list<Tensor> keep_alive_;  // gradients and states brought into order
  std::list<Made> made_;          // states that are to be handed over
  std::vector<Result> results_;
  std::vector<RowsToPut> rows_;
};

/// Throws Error in the words of ParamList unless a tensor has the sizes, and device and dtype of a
/// parameter. `what` and `name`: "gradient" and "", or "state " and its name.
void check_like(const char* op, const char* what, const char* name, size_t group, size_t index,
                const Tensor& t, IntArrayRef sizes, const Tensor& param);
/// The first value of the k-th state of a parameter; nothing where it has no such state.
std::optional<Tensor> first_state(const Rule& rule, const double* values, size_t k,
                                  const Tensor& param);

}  // namespace taeda::inline v0_2::optim
