// Runs a program and its twin (twin.h) side by side, instruction by instruction.
#include <cmath>
#include <sstream>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/function.h"
#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/autograd/programs/program.h"
#include "tests/autograd/programs/show.h"
#include "tests/autograd/programs/twin.h"
#include "tests/error_of.h"

namespace taeda::programs {

namespace {

struct Triple : autograd::Function<Triple> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x; }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list g) {
    return {g[0] * 3};
  }
};

/// The modes of an instruction.
struct ModeScope {
  explicit ModeScope(Mode mode) : inference(mode == Mode::Inference), grad(mode == Mode::Grad) {}
  InferenceMode inference;
  AutoGradMode grad;
};

/// Fixed numbers, different for every `salt`, that keep products and exponentials small.
Tensor numbers(IntArrayRef sizes, bool complex, uint32_t salt) {
  const auto real = [&](double phase) {
    return (arange(product(sizes), kDouble) * 0.7 + 0.31 * (salt % 97) + phase)
        .sin()
        .reshape(sizes)
        .clone();
  };
  return complex ? make_complex(real(0), real(1)) : real(0);
}

Tensor magnitude(const Tensor& t) { return t.is_complex() ? view_as_real(t) : t; }

/// |t|^2 summed.
Tensor energy(const Tensor& t) {
  const Tensor m = magnitude(t);
  return (m * m).sum();
}

constexpr const char* kSpoilt = "has been modified by an inplace operation";

struct Pair {
  Tensor real;
  Var twin;
};

class Machine {
 public:
  explicit Machine(std::string* python) : python_(python) {}

  std::string run(const Program& program) {
    for (const Instruction& i : program) {
      step(i);
      if (!failure_.empty()) return failure_;
    }
    mode_ = Mode::Grad;
    compare_values();
    if (failure_.empty()) compare_gradients();
    return failure_;
  }

 private:
  // ---- one instruction ----

  void step(const Instruction& i) {
    if (i.op == Op::Leaf) return make_leaf(i);
    if (pairs_.empty()) return;
    const size_t a = i.a % pairs_.size();
    mode_ = i.mode;
    if (i.op <= Op::Function) return make_new(i, a);
    if (i.op <= Op::Imag) return make_view(i, a);
    if (i.op <= Op::SubInplace) return change(i, a);
    use(i, a);
  }

  void make_leaf(const Instruction& i) {
    static const DimVector kShapes[] = {{4}, {2, 3}, {3, 2}, {2, 2, 2}, {1, 3}, {4, 2}};
    const DimVector& shape = kShapes[i.p % std::size(kShapes)];
    const bool complex = i.q & 1, plain = i.q & 2;
    const auto salt = static_cast<uint32_t>(pairs_.size());
    Pair pair{numbers(shape, complex, salt), {}};
    const Tensor own = numbers(shape, complex, salt);
    pair.real.requires_grad_(!plain);
    Tensor leaf = own.requires_grad_(!plain);
    pair.twin = fresh(pair.real, !plain, true);
    set_value(pair.twin, own);
    say(fresh_name(), " = numbers(", list_of(shape), ", ", complex ? "True" : "False", ", ", salt,
        ").requires_grad_(", plain ? "False" : "True", ")");
    if (!plain) {
      leaves_.push_back(pair.real);
      twin_leaves_.push_back(leaf);
      leaf_names_.push_back(pairs_.size());
    }
    pairs_.push_back(std::move(pair));
  }

  void make_new(const Instruction& i, size_t a) {
    if (mode_ == Mode::Inference) return;  // inference tensors are another subject
    const Pair x = pairs_[a];
    if (i.op == Op::Exp && is_large(x.real)) return;
    const bool grad = mode_ == Mode::Grad;
    const double k = 0.5 + i.p % 5 * 0.25;
    if (i.op == Op::Detach || i.op == Op::Reinterpret) return make_without_history(i, a);
    std::string expected = grad ? stale(x.twin) : "";
    if (i.op == Op::Function) {
      if (!grad || !x.twin.requires_grad()) return;
      add([&] { return Triple::apply(x.real); },
          [&](const Tensor& made) {
            Var v = view_of(x.twin, made, ViewKind::CustomFunction);
            v.is_end = false;
            const Tensor value = read(x.twin);
            v.own = value * 3 - (value * 2).detach();
            if (!v.own.requires_grad()) v.own.requires_grad_();  // of a view without gradients
            return v;
          },
          expected, "Triple.apply(" + name(a) + ")");
      return;
    }
    const bool needs = grad && x.twin.requires_grad();
    if (i.op == Op::Scaled) {
      make([&] { return x.real * k; }, [&](const Var&) { return read(x.twin) * k; }, needs,
           expected, name(a) + " * " + std::to_string(k));
    } else if (i.op == Op::Exp) {
      make([&] { return x.real.exp(); },
           [&](const Var& v) { return watch(read(x.twin), {now(v)}, &ran_).exp(); }, needs,
           expected, name(a) + ".exp()");
    } else {
      const size_t b = fitting(i.b, x.real, false);
      const Pair y = pairs_[b];
      const bool other_needs = grad && y.twin.requires_grad();
      if (grad && expected.empty()) expected = stale(y.twin);
      make([&] { return x.real * y.real; },
           [&](const Var&) {
             return watch(read(x.twin), {now(y.twin)}, &ran_) *
                    watch(read(y.twin), {now(x.twin)}, &ran_);
           },
           needs || other_needs, expected, name(a) + " * " + name(b));
    }
  }

  /// A tensor over the same memory.
  void make_without_history(const Instruction& i, size_t a) {
    const Pair x = pairs_[a];
    std::string text = name(a) + ".detach()";
    std::vector<Tensor> made;
    if (i.op == Op::Reinterpret) {
      text.clear();
      made = show(i, x.real, name(a), &text);
      if (text.empty()) return;  // does not apply
    } else {
      made = {x.real.detach()};
    }
    add([&] { return made[0]; }, [&](const Tensor& t) { return detached(x.twin, t); }, "", text);
  }

  /// A result with memory of its own. `twin` gets its variable, without a value still.
  template <class Real, class Twin>
  void make(Real real, Twin twin, bool needs, const std::string& expected,
            const std::string& text) {
    add(
        real,
        [&](const Tensor& made) {
          const AutoGradMode mode(needs);
          Var v = fresh(made, needs, !needs);
          set_value(v, twin(v));
          return v;
        },
        expected, text);
  }

  /// Runs `real`, compares whether it is refused, and keeps the result.
  template <class Real, class Twin>
  void add(Real real, Twin twin, const std::string& expected, const std::string& text) {
    Pair pair;
    const std::string error = attempt([&] { pair.real = real(); });
    if (!agree(error, expected, text)) return;
    if (!error.empty()) return say_error(text);
    pair.twin = twin(pair.real);
    say_in_mode(fresh_name() + " = " + text);
    pairs_.push_back(std::move(pair));
  }

  // ---- views ----

  void make_view(const Instruction& i, size_t a) {
    const Pair x = pairs_[a];
    std::vector<Tensor> made;
    std::string text;
    const std::string error = attempt([&] {
      const ModeScope scope(mode_);
      made = show(i, x.real, name(a), &text);
    });
    if (text.empty()) return;  // does not apply
    const std::string expected = mode_ == Mode::Grad ? stale(x.twin) : "";
    if (!agree(error, expected, text)) return;
    if (!error.empty()) return say_error(text);
    const bool several = i.op == Op::Chunk || i.op == Op::Unbind;
    const ViewKind kind = mode_ == Mode::Inference ? ViewKind::Inference
                          : mode_ == Mode::NoGrad  ? ViewKind::NoGrad
                          : several                ? ViewKind::MultiOutput
                                                   : ViewKind::Default;
    std::string names;
    for (size_t n = 0; n < made.size(); ++n) names += name(pairs_.size() + n) + ", ";
    say_in_mode((several ? names : names.substr(0, names.size() - 2)) + " = " + text);
    for (const Tensor& t : made) {
      Pair pair{t, view_of(x.twin, t, kind)};
      if (!pair.twin.is_end && x.twin.own.defined() &&
          x.twin.version == x.twin.base->memory->version)
        pair.twin.own = part_of(x, pair.twin);
      pairs_.push_back(std::move(pair));
    }
  }

  /// A view of a user-defined function's view shows a part of that function's value.
  static Tensor part_of(const Pair& of, const Var& view) {
    const Tensor where = of.twin.positions.reshape({-1}), wanted = view.positions.reshape({-1});
    std::vector<int64_t> at;
    for (int64_t k = 0; k < wanted.numel(); ++k)
      for (int64_t j = 0; j < where.numel(); ++j)
        if (wanted[k].item<int64_t>() == where[j].item<int64_t>()) {
          at.push_back(j);
          break;
        }
    const Tensor picked = magnitude(of.twin.own)
                              .reshape({-1})
                              .index_select(0, tensor(at, kLong))
                              .reshape(view.positions.sizes());
    return view.complex ? view_as_complex(picked) : picked;
  }

  // ---- changes in place ----

  void change(const Instruction& i, size_t a) {
    Pair& x = pairs_[a];
    if (x.real.layout().has_internal_overlap()) return;
    if (i.op == Op::ExpInplace && is_large(x.real)) return;
    const bool grad = mode_ == Mode::Grad;
    const bool binary = i.op == Op::MulInplace || i.op == Op::AddInplace ||
                        i.op == Op::CopyInplace || i.op == Op::SubInplace;
    const size_t b = binary ? fitting(i.b, x.real, true) : a;
    if (binary && b == a) return;
    const Pair y = pairs_[b];
    const bool recorded = grad && (x.twin.requires_grad() || (binary && y.twin.requires_grad()));
    std::string expected = unchangeable(x.twin, recorded);
    if (expected.empty() && recorded && binary) expected = stale(y.twin);
    const double k = 0.5 + i.p % 5 * 0.25;
    std::string text = name(a);
    const Kept kept_other = now(y.twin);
    const std::string error = attempt([&] { apply(i.op, x.real, y.real, k, name(b), &text); });
    if (!agree(error, expected, text)) return;
    if (!error.empty()) return say_error(text);
    say_in_mode(text);

    const AutoGradMode mode(recorded);
    const Tensor before = read(x.twin), other = binary ? read(y.twin) : Tensor();
    const Kept result{x.twin.base->memory, x.twin.base->memory->version + 1};
    Tensor after;
    switch (i.op) {
      case Op::ScaleInplace: after = before * k; break;
      case Op::AddNumberInplace: after = before + k; break;
      case Op::MulInplace: after = watch(before, {kept_other}, &ran_) * other; break;
      case Op::AddInplace: after = before + other; break;
      case Op::SubInplace: after = before - other; break;
      case Op::CopyInplace: after = other * 1; break;
      case Op::ZeroInplace: after = zeros_like(before); break;
      default: after = watch(before, {result}, &ran_).exp();
    }
    write(x.twin, after, recorded);
    if (recorded) x.twin.version = x.twin.base->memory->version;
  }

  void apply(Op op, const Tensor& x, const Tensor& y, double k, const std::string& other,
             std::string* text) {
    const ModeScope scope(mode_);
    const auto call = [&](auto... parts) { *text = taeda::detail::concat(*text, ".", parts...); };
    switch (op) {
      case Op::ScaleInplace:
        call("mul_(", k, ")");
        x.mul_(k);
        break;
      case Op::AddNumberInplace:
        call("add_(", k, ")");
        x.add_(k);
        break;
      case Op::MulInplace:
        call("mul_(", other, ")");
        x.mul_(y);
        break;
      case Op::AddInplace:
        call("add_(", other, ")");
        x.add_(y);
        break;
      case Op::SubInplace:
        call("sub_(", other, ")");
        x.sub_(y);
        break;
      case Op::CopyInplace:
        call("copy_(", other, ")");
        x.copy_(y);
        break;
      case Op::ZeroInplace:
        call("zero_()");
        x.zero_();
        break;
      default: call("exp_()"); x.exp_();
    }
  }

  // ---- the loss ----

  void use(const Instruction& i, size_t a) {
    if (mode_ != Mode::Grad) return;
    const Pair x = pairs_[a];
    const bool square = i.op == Op::UseSquare, complex = x.real.is_complex();
    const Tensor weight = numbers(magnitude(x.real.detach()).sizes(), false, i.p);
    const std::string text =
        taeda::detail::concat("loss = loss + (", complex ? "torch.view_as_real(" : "(", name(a),
                              ")", square ? ".square()" : "", " * numbers(",
                              list_of(weight.sizes()), ", False, ", i.p, ")).sum()");
    Tensor term;
    const std::string error = attempt([&] {
      const Tensor m = magnitude(x.real);
      term = ((square ? m * m : m) * weight).sum();
    });
    if (!agree(error, stale(x.twin), text)) return;
    if (!error.empty()) return say_error(text);
    say(text);
    Var seen = x.twin;
    if (complex) seen.has_node = x.twin.requires_grad();  // view_as_real is recorded
    Tensor m = magnitude(read(seen));
    if (square) m = watch(m, {now(x.twin)}, &ran_) * watch(m, {now(x.twin)}, &ran_);
    loss_ = loss_ + term;
    twin_loss_ = twin_loss_ + (m * weight).sum();
  }

  // ---- the end ----

  void compare_values() {
    const NoGradGuard guard;
    for (size_t k = 0; k < pairs_.size() && failure_.empty(); ++k) {
      const Pair& p = pairs_[k];
      Var plain = p.twin;
      plain.own.reset();
      expect_close(p.real, read(plain), "the value of " + name(k));
    }
    expect_close(loss_, twin_loss_, "the loss");
  }

  void compare_gradients() {
    if (!twin_loss_.requires_grad()) return expect_no_gradient();
    if (!loss_.requires_grad()) return void(failure_ = "the loss lost its gradient");
    std::vector<Tensor> expected = autograd::grad({twin_loss_}, twin_leaves_, {}, true, true, true);
    const bool spoilt = kept_was_changed();
    std::vector<Tensor> got;
    const std::string error =
        attempt([&] { got = autograd::grad({loss_}, leaves_, {}, true, true, true); });
    if (!agree(error, spoilt ? kSpoilt : "", "backward")) return;
    if (spoilt) return say("check_error(lambda: loss.backward())");
    Tensor second, twin_second;
    for (size_t k = 0; k < leaves_.size(); ++k) {
      const Tensor g = got[k].defined() ? got[k] : zeros_like(leaves_[k]);
      const Tensor e = expected[k].defined() ? expected[k] : zeros_like(leaves_[k]);
      expect_close(g, e, "the gradient of leaf " + name(leaf_names_[k]));
      second = second.defined() ? second + energy(g) : energy(g);
      twin_second = twin_second.defined() ? twin_second + energy(e) : energy(e);
    }
    if (!failure_.empty()) return;
    backward_twice(expected);
    if (failure_.empty() && twin_second.requires_grad()) compare_second(second, twin_second);
  }

  /// All that the loss depends on was made without gradients, though it may say that it wants one.
  void expect_no_gradient() {
    if (!loss_.requires_grad()) return;
    agree(attempt([&] { loss_.backward(); }), "", "backward to no leaf");
    for (const Tensor& leaf : leaves_)
      if (leaf.grad().defined()) failure_ = "a leaf has a gradient";
  }

  /// Whether something that the pass of the twin asked for has been changed since it was kept.
  bool kept_was_changed() {
    bool changed = false;
    for (const Kept& k : ran_) changed = changed || k.memory->version != k.version;
    ran_.clear();
    return changed;
  }

  /// Gradients add up, and a graph that is kept can be walked again. Such a pass goes everywhere,
  /// not only where leaves are.
  void backward_twice(const std::vector<Tensor>& expected) {
    for (const Tensor& leaf : leaves_) leaf.mutable_grad().reset();
    twin_loss_.backward({}, true);
    const bool spoilt = kept_was_changed();
    const std::string error = attempt([&] { loss_.backward({}, true); });
    if (!agree(error, spoilt ? kSpoilt : "", "backward into all leaves")) return;
    if (spoilt) return say("check_error(lambda: loss.backward())");
    say("loss.backward(retain_graph=True)");
    loss_.backward({}, true);
    for (size_t k = 0; k < leaves_.size(); ++k) {
      const Tensor g = leaves_[k].grad();
      const Tensor e = expected[k].defined() ? expected[k].detach() : zeros_like(leaves_[k]);
      expect_close(g.defined() ? g / 2 : zeros_like(leaves_[k]), e,
                   "the gradient of leaf " + name(leaf_names_[k]) + " after two passes");
      const Tensor flat = magnitude(e).reshape({-1});
      std::string values;
      for (int64_t j = 0; j < flat.numel(); ++j)
        values += taeda::detail::concat(flat[j].item<double>(), ", ");
      say("check(", name(leaf_names_[k]), ", [", values, "])");
    }
  }

  void compare_second(const Tensor& second, const Tensor& twin_second) {
    std::vector<Tensor> got(leaves_.size());  // where all are zero the graph may end before
    if (second.requires_grad()) got = autograd::grad({second}, leaves_, {}, false, false, true);
    const auto expected = autograd::grad({twin_second}, twin_leaves_, {}, false, false, true);
    for (size_t k = 0; k < leaves_.size() && failure_.empty(); ++k) {
      const Tensor none = zeros_like(leaves_[k]);
      expect_close(got[k].defined() ? got[k] : none, expected[k].defined() ? expected[k] : none,
                   "the second derivative of leaf " + name(leaf_names_[k]));
    }
  }

  // ---- helpers ----

  template <class F>
  std::string attempt(F f) {
    try {
      const ModeScope scope(mode_);
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  bool agree(const std::string& error, const std::string& expected, const std::string& where) {
    if (expected.empty() ? error.empty() : error.find(expected) != std::string::npos) return true;
    failure_ = taeda::detail::concat(where, ": expected ",
                                     expected.empty() ? "no error" : "'" + expected + "'", ", got ",
                                     error.empty() ? "none" : "'" + error + "'");
    return false;
  }

  void expect_close(const Tensor& got, const Tensor& expected, const std::string& what) {
    const NoGradGuard guard;
    const Tensor a = magnitude(got.detach()), b = magnitude(expected.detach());
    if (failure_.empty() && (a.sizes() != b.sizes() || !a.allclose(b, 1e-7, 1e-9, true)))
      failure_ = taeda::detail::concat(what, " is ", a.repr(), ", not ", b.repr());
  }

  /// Another tensor of the dtype and shape of `x`, if `apart` in other memory; `x` where none is.
  size_t fitting(uint32_t b, const Tensor& x, bool apart) const {
    size_t self = 0;
    for (size_t k = 0; k < pairs_.size(); ++k) {
      const size_t at = (b + k) % pairs_.size();
      const Tensor& t = pairs_[at].real;
      if (t.is_same(x)) self = at;
      if (!t.is_same(x) && t.dtype() == x.dtype() && t.sizes() == x.sizes() &&
          !(apart && t.storage() == x.storage()))
        return at;
    }
    return self;
  }

  /// Exponentials of exponentials overflow.
  static bool is_large(const Tensor& t) {
    const NoGradGuard guard;
    return t.numel() > 0 && magnitude(t.detach()).abs().max().item<double>() > 3;
  }

  static Kept now(const Var& v) { return {v.base->memory, v.base->memory->version}; }
  static std::string name(size_t k) { return "t" + std::to_string(k); }
  std::string fresh_name() const { return name(pairs_.size()); }

  template <class... Parts>
  void say(const Parts&... parts) {
    if (python_) *python_ += taeda::detail::concat("    ", parts..., "\n");
  }
  void say_in_mode(const std::string& text) {
    if (mode_ == Mode::Grad) return say(text);
    say("with torch.", mode_ == Mode::NoGrad ? "no_grad" : "inference_mode", "(): ", text);
  }
  void say_error(const std::string& text) {
    const std::string expression = text.starts_with("loss = ") ? text.substr(7) : text;
    say("check_error(lambda: ", expression, ")");
  }

  std::vector<Pair> pairs_;
  std::vector<Tensor> leaves_, twin_leaves_;
  std::vector<size_t> leaf_names_;
  Tensor loss_ = zeros({}, kDouble), twin_loss_ = zeros({}, kDouble);
  std::vector<Kept> ran_;
  Mode mode_ = Mode::Grad;
  std::string failure_;
  std::string* python_;
};

}  // namespace

std::string run(const Program& program, std::string* python) {
  try {
    return Machine(python).run(program);
  } catch (const std::exception& e) {
    return std::string("unexpected error: ") + e.what();
  }
}

}  // namespace taeda::programs
