#include "optim_step.h"

#include <array>
#include <cmath>
#include <deque>
#include <exception>
#include <memory>

#include "bindings.h"
#include "taeda/nn/clip_rules.h"
#include "taeda/optim/averaging_rules.h"
#include "taeda/optim/rates.h"
#include "taeda/optim/rule_step.h"
#include "taeda/taeda.h"

namespace taeda::python {

namespace {

using optim::Lent;
using optim::Rule;
using optim::RuleField;
using optim::RuleStep;
using optim::StepCount;

/// A text that lives as long as the process, one object for each.
PyObject* key_of(const char* name) { return checked(PyUnicode_InternFromString(name)); }

/// A rule, and the names of its options and states as keys of Python's dicts.
struct Named {
  explicit Named(const Rule& r) : rule(r), op(std::string(r.name) + ".step()") {
    for (const RuleField& field : r.fields) options.push_back(key_of(field.option));
    for (const auto& state : r.states) states.push_back(key_of(state.name));
    for (const char* number : r.numbers) numbers.push_back(key_of(number));
  }
  const Rule& rule;
  std::string op;
  std::vector<PyObject*> options, states, numbers;
};

/// Names are constants of classes, so they are told by their objects.
const Named& rule_named(const py::str& name) {
  static std::deque<std::pair<PyObject*, Named>> known;
  for (const auto& [object, named] : known)
    if (object == name.ptr()) return named;
  const auto text = name.cast<std::string>();
  const Rule* rule = optim::find_rule(text);
  if (!rule) raise(PyExc_ValueError, "there is no optimizer of the name " + text);
  PyObject* kept = key_of(text.c_str());
  for (const auto& [object, named] : known)
    if (object == kept) return named;
  return known.emplace_back(kept, *rule).second;
}

/// Keys that all groups or states may have.
struct Keys {
  PyObject *step = key_of("step"), *params = key_of("params"), *lr = key_of("lr"),
           *differentiable = key_of("differentiable");
};
const Keys& keys() {
  static const Keys made;
  return made;
}

PyObject* item(PyObject* dict, PyObject* key) {
  PyObject* found = PyDict_GetItemWithError(dict, key);
  if (!found && PyErr_Occurred()) throw py::error_already_set();
  return found;
}

/// An option of a group as a number. Throws ValueError for the one that stands for None: it is
/// none that a program may give.
double number_of(const RuleField& field, PyObject* option) {
  const auto given = [&](double value) {
    if (field.none != 0 && value == field.none)
      raise(PyExc_ValueError, field.refusal + py::str(option).cast<std::string>());
    return value;
  };
  if (PyFloat_CheckExact(option)) return given(PyFloat_AS_DOUBLE(option));
  if (field.part >= 0) {
    const Ref place(PyLong_FromLong(field.part)), part(PyObject_GetItem(option, place.get()));
    if (!part) throw py::error_already_set();
    RuleField one = field;
    one.part = -1;
    return number_of(one, part.get());
  }
  if (is_tensor(option)) return tensor_of(option).detach().item<double>();
  if (option == Py_None && (field.range == optim::Range::Any || field.none != 0)) return field.none;
  if (field.kind == optim::OptionKind::Word)
    return optim::detail::to_place(field, py::str(option).cast<std::string>());
  if (PyUnicode_Check(option) || option == Py_None)
    raise(PyExc_TypeError, std::string("optimizer option '") + field.option +
                               "' must be a number, not " + Py_TYPE(option)->tp_name);
  const Ref number(PyNumber_Float(option));
  if (!number) throw py::error_already_set();
  return given(PyFloat_AS_DOUBLE(number.get()));
}

/// What a group lacks it has by the rule.
void read_options(const Named& named, PyObject* group, double* values) {
  for (size_t i = 0; i < named.options.size(); ++i) {
    PyObject* option = item(group, named.options[i]);
    const RuleField& field = named.rule.fields[i];
    values[i] = option ? number_of(field, option) : field.fallback;
  }
}

double read_number(const Tensor& t) {
  if (t.device().is_cpu() && t.dtype() == kFloat32) return *t.data_ptr<float>();
  return t.item<double>();
}
void write_number(const Tensor& t, double value) {
  const NoGradGuard guard;
  if (t.device().is_cpu() && t.dtype() == kFloat32)
    *t.data_ptr<float>() = static_cast<float>(value);
  else
    t.fill_(value);
}

/// A parameter's dict of state, and what of it is lent.
struct Place {
  PyObject* object;         // the parameter, which its group keeps
  PyObject* state;          // nullptr before the first step
  Tensor param, grad;       // complex ones as pairs of reals
  Tensor step, numbers[2];  // undefined where there is none yet, or no tensor
  Tensor states[ParamRef::kMaxStates];
  bool had[ParamRef::kMaxStates] = {};
};

Tensor as_real(const Tensor& t) { return t.defined() && t.is_complex() ? view_as_real(t) : t; }

/// What a dict has under a name, if that is a tensor.
Tensor tensor_in(PyObject* state, PyObject* name) {
  PyObject* found = state ? item(state, name) : nullptr;
  return found && is_tensor(found) ? tensor_of(found) : Tensor();
}

double whole_step(PyObject* state) {
  PyObject* found = state ? item(state, keys().step) : nullptr;
  return found && PyNumber_Check(found) ? PyFloat_AsDouble(found) : 0;
}

/// How the steps of a group are: recorded, and from which learning rate if gradients flow to it.
struct Recording {
  bool on = false;
  Tensor rate;
};

Recording recording_of(PyObject* group) {
  PyObject* option = item(group, keys().differentiable);
  const int on = option ? PyObject_IsTrue(option) : 0;
  if (on < 0) throw py::error_already_set();
  if (!on) return {};
  const Tensor rate = tensor_in(group, keys().lr);
  return {true, rate.defined() && rate.requires_grad() ? rate : Tensor()};
}

Lent lend(const Named& named, const double* values, PyObject* states, const Recording& recording,
          Place& place) {
  const AutoGradMode views(recording.on);  // of what is changed in place
  const Tensor& param = tensor_of(place.object);
  const Rule& rule = named.rule;
  if (param.is_complex() && !rule.complex)
    raise(PyExc_RuntimeError, std::string(rule.name) + " does not support complex parameters");
  place.state = item(states, place.object);
  if (place.state && !PyDict_Check(place.state)) place.state = nullptr;
  const bool real = param.is_complex() && !param.grad().is_sparse();
  place.param = real ? view_as_real(param) : param;
  place.grad = real ? view_as_real(param.grad()) : param.grad();
  Lent lent{.recorded = recording.on, .rate = recording.rate.defined() ? &recording.rate : nullptr};
  for (size_t k = 0; k < rule.states.size(); ++k) {
    if (!rule.wants(values, k)) continue;
    const Tensor state = tensor_in(place.state, named.states[k]);
    place.had[k] = state.defined();
    place.states[k] = real ? as_real(state) : state;
  }
  if (rule.counts) {
    place.step = tensor_in(place.state, keys().step);
    lent.count.step = place.step.defined() ? read_number(place.step) : whole_step(place.state);
  }
  lent.count.single = true;
  for (size_t k = 0; k < rule.numbers.size(); ++k) {
    Tensor& number = place.numbers[k] = tensor_in(place.state, named.numbers[k]);
    if (!number.defined())
      lent.new_numbers = true;
    else
      lent.count.numbers[k] = read_number(number);
    if (number.defined() && number.dtype() != kFloat32) lent.count.single = false;
  }
  return lent;
}

void put(PyObject* dict, PyObject* key, PyObject* owned) {
  const Ref value(checked(owned));
  checked(PyDict_SetItem(dict, key, value.get()));
}

PyObject* new_number(double value) { return wrap(full({}, value, TensorOptions(kFloat32))); }

/// Writes a parameter's new count, and what was made for it, to its dict.
void take_back(const Named& named, const Lent& lent, const Place& place, PyObject* states) {
  const Rule& rule = named.rule;
  PyObject* state = place.state;
  if (!state) {
    bool any = rule.counts || rule.numbers.size() > 0;
    for (const Tensor& t : place.states) any = any || t.defined();
    if (!any) return;
    put(states, place.object, PyDict_New());
    state = item(states, place.object);
  }
  if (place.step.defined())
    write_number(place.step, lent.count.step);
  else if (rule.counts)
    put(state, keys().step,
        rule.dense ? new_number(lent.count.step) : PyLong_FromDouble(lent.count.step));
  for (size_t k = 0; k < rule.numbers.size(); ++k) {
    if (place.numbers[k].defined())
      write_number(place.numbers[k], lent.count.numbers[k]);
    else
      put(state, named.numbers[k], new_number(lent.count.numbers[k]));
  }
  const bool complex = tensor_of(place.object).is_complex();
  const AutoGradMode views(lent.recorded);
  for (size_t k = 0; k < rule.states.size(); ++k) {
    const Tensor& made = place.states[k];
    if (place.had[k] || !made.defined()) continue;
    put(state, named.states[k], wrap(complex && !made.is_complex() ? view_as_complex(made) : made));
  }
}

/// What replays of a captured step find their groups and counts in.
RuleStep::Replay replay_of(const std::vector<Place>& places, const py::list& groups,
                           const std::vector<Lent>& lent) {
  struct Counted {
    Tensor step, numbers[2];
    bool single;
  };
  std::vector<std::shared_ptr<Kept>> kept;
  for (const py::handle group : groups) kept.push_back(std::make_shared<Kept>(group.ptr()));
  std::vector<Counted> all;
  for (size_t i = 0; i < places.size(); ++i)
    all.push_back(
        {places[i].step, {places[i].numbers[0], places[i].numbers[1]}, lent[i].count.single});
  return [kept = std::move(kept), all = std::move(all)](ArrayRef<RuleStep::Member> members,
                                                        const RuleStep::Next& next) {
    double lr = 0;
    {
      const HoldGil gil;
      PyObject* found = PyDict_GetItemString(kept[members[0].group]->get(), "lr");
      if (!found) raise(PyExc_KeyError, "'lr'");
      lr = number_of(RuleField{"lr"}, found);
    }
    for (const RuleStep::Member& member : members) {
      const Counted& of = all[member.number];
      StepCount count{.single = of.single};
      if (of.step.defined()) count.step = read_number(of.step);
      for (size_t k = 0; k < 2; ++k)
        if (of.numbers[k].defined()) count.numbers[k] = read_number(of.numbers[k]);
      next(lr, count);
      if (of.step.defined()) write_number(of.step, count.step);
      for (size_t k = 0; k < 2; ++k)
        if (of.numbers[k].defined()) write_number(of.numbers[k], count.numbers[k]);
    }
  };
}

/// The step, without the lock of the interpreter. An error comes back; `step` tells what was done.
std::exception_ptr run(RuleStep& step, const std::vector<Lent>& lent,
                       const std::vector<std::array<double, Rule::kMostFields>>& values) {
  const ReleaseGil released;
  try {
    step.reserve(lent.size());
    size_t group = values.size();
    for (const Lent& l : lent) {
      if (l.group != group) step.begin_group(values[group = l.group].data());
      step.add(l);
    }
    step.run();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

/// One step of a rule over Python's own groups and states: all of it, or an error and nothing.
void step(const py::str& name, const py::list& groups, const py::dict& states) {
  const Named& named = rule_named(name);
  const NoGradGuard guard;
  std::vector<Place> places;
  std::vector<Lent> lent;
  std::vector<std::array<double, Rule::kMostFields>> values(groups.size());
  std::vector<Recording> recording(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    PyObject* group = PyList_GET_ITEM(groups.ptr(), static_cast<Py_ssize_t>(g));
    read_options(named, group, values[g].data());
    recording[g] = recording_of(group);
    PyObject* params = item(group, keys().params);
    if (!params || !PyList_Check(params)) raise(PyExc_KeyError, "'params'");
    places.reserve(places.size() + static_cast<size_t>(PyList_GET_SIZE(params)));
    lent.reserve(places.capacity());
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(params); ++i) {
      PyObject* object = PyList_GET_ITEM(params, i);
      if (!is_tensor(object)) raise(PyExc_TypeError, "optimizer can only optimize Tensors");
      if (!tensor_of(object).grad().defined()) continue;
      Place& place = places.emplace_back();
      place.object = object;
      Lent& l = lent.emplace_back(lend(named, values[g].data(), states.ptr(), recording[g], place));
      l.group = g;
      l.index = static_cast<size_t>(i);
    }
  }
  for (size_t i = 0; i < places.size(); ++i) {
    lent[i].param = &places[i].param;
    lent[i].grad = &places[i].grad;
    lent[i].states = places[i].states;
  }
  RuleStep step(named.rule, named.op.c_str(), /*replaces=*/false);
  if (captures_under_way() > 0) step.when_replayed(replay_of(places, groups, lent));
  const std::exception_ptr failed = run(step, lent, values);
  for (size_t i = 0; i < step.lent().size(); ++i) {
    const Lent& l = step.lent()[i];
    if (l.done && !l.captured) take_back(named, l, places[i], states.ptr());
  }
  if (failed) std::rethrow_exception(failed);
}

/// The state that a parameter has before its first step, for optimizers that make it early.
py::dict first_state(const py::str& name, const py::dict& group, const Tensor& param) {
  const Named& named = rule_named(name);
  double values[Rule::kMostFields];
  read_options(named, group.ptr(), values);
  py::dict state;
  if (named.rule.counts) put(state.ptr(), keys().step, new_number(0));
  const Tensor like = as_real(param.detach());
  for (size_t k = 0; k < named.rule.states.size(); ++k) {
    const std::optional<Tensor> made = optim::first_state(named.rule, values, k, like);
    if (!made) continue;
    put(state.ptr(), named.states[k], wrap(param.is_complex() ? view_as_complex(*made) : *made));
  }
  return state;
}

/// None, or the beginning of an error and the value that a rule does not take.
py::object refused(const py::str& name, const py::dict& group) {
  const Named& named = rule_named(name);
  double values[Rule::kMostFields];
  read_options(named, group.ptr(), values);
  const RuleField* wrong = optim::wrong_field(named.rule, values);
  if (wrong) {
    auto option = py::reinterpret_borrow<py::object>(
        item(group.ptr(), named.options[wrong - named.rule.fields.begin()]));
    if (wrong->part >= 0) option = option[py::int_(wrong->part)];
    return py::make_tuple(wrong->refusal, option);
  }
  if (named.rule.check) named.rule.check(values);
  return py::none();
}

/// A field's default as PyTorch has it: what is whole is an int.
py::object default_of(const RuleField& field) {
  if (field.is_none()) return py::none();
  if (field.kind == optim::OptionKind::Flag) return py::bool_(field.fallback != 0);
  if (field.fallback == std::floor(field.fallback))
    return py::int_(static_cast<int64_t>(field.fallback));
  return py::float_(field.fallback);
}

/// What a rule's options are where a program says nothing, by name.
py::dict defaults(const py::str& name) {
  py::dict out;
  for (const RuleField& field : rule_named(name).rule.fields) {
    py::object value = default_of(field);
    if (field.part >= 0)
      value = (field.part > 0 ? py::tuple(out[field.option]) : py::tuple()) + py::make_tuple(value);
    out[field.option] = value;
  }
  return out;
}

/// Forgets gradients, or sets them to zero.
void zero_grad(const py::list& params, bool set_to_none) {
  const NoGradGuard guard;
  for (const py::handle object : params) {
    if (!is_tensor(object.ptr())) continue;
    const Tensor& param = tensor_of(object.ptr());
    if (!param.grad().defined()) continue;
    if (set_to_none) {
      param.mutable_grad().reset();
    } else {
      if (param.grad().grad_fn()) param.mutable_grad() = param.grad().detach();
      param.mutable_grad().requires_grad_(false).zero_();
    }
  }
}

double as_number(const py::handle& object) {
  const Ref number(PyNumber_Float(object.ptr()));
  if (!number) throw py::error_already_set();
  return PyFloat_AS_DOUBLE(number.get());
}

/// How far L-BFGS is, from the dict that a parameter's state is in PyTorch, and back.
struct LbfgsDict {
  explicit LbfgsDict(const py::dict& d) : dict(d) {
    for (const auto& [name, list] : lists())
      if (dict.contains(name))
        for (const py::handle t : py::list(dict[name])) list->push_back(tensor_of(t.ptr()));
    state.d(tensor_in(dict.ptr(), key_of("d")));
    state.prev_flat_grad(tensor_in(dict.ptr(), key_of("prev_flat_grad")));
    state.H_diag(tensor_in(dict.ptr(), key_of("H_diag")));
    if (state.d().defined() && !state.H_diag().defined())
      state.H_diag(ones({}, state.d().options()));
    state.func_evals(static_cast<int64_t>(number("func_evals")));
    state.n_iter(static_cast<int64_t>(number("n_iter")));
    state.t(number("t")).prev_loss(number("prev_loss"));
  }

  void write(size_t history_size) {
    dict["func_evals"] = state.func_evals();
    dict["n_iter"] = state.n_iter();
    if (!state.d().defined()) return;
    if (state.al()) {
      py::list weights;
      for (const Tensor& t : *state.al()) weights.append(object(t));
      while (weights.size() < history_size) weights.append(py::none());
      dict["al"] = weights;
    }
    dict["d"] = object(state.d());
    dict["t"] = state.t();
    for (const auto& [name, list] : lists()) {
      py::list written;
      for (const Tensor& t : *list) written.append(object(t));
      dict[name] = written;
    }
    dict["H_diag"] = state.ro().empty() ? py::object(py::int_(1)) : object(state.H_diag());
    dict["prev_flat_grad"] = object(state.prev_flat_grad());
    dict["prev_loss"] = state.prev_loss();
  }

  static py::object object(const Tensor& t) { return py::reinterpret_steal<py::object>(wrap(t)); }
  double number(const char* name) const { return dict.contains(name) ? as_number(dict[name]) : 0; }
  std::array<std::pair<const char*, std::deque<Tensor>*>, 3> lists() {
    return {
        {{"old_dirs", &state.old_dirs()}, {"old_stps", &state.old_stps()}, {"ro", &state.ro()}}};
  }
  py::dict dict;
  optim::LBFGSParamState state;
};

/// A step of L-BFGS from where the parameters are, whose gradients they have.
void lbfgs_step(const py::dict& group, const py::dict& dict, const py::object& loss,
                const py::function& closure) {
  const NoGradGuard no_grad;
  double values[Rule::kMostFields];
  read_options(rule_named("LBFGS"), group.ptr(), values);
  optim::LBFGSOptions options;
  optim::write_values(optim::lbfgs_rule, options, values);
  std::vector<Tensor> params;
  for (const py::handle p : py::list(group["params"])) params.push_back(tensor_of(p.ptr()));
  LbfgsDict known(dict);
  optim::lbfgs_step(
      options, known.state, params, as_number(loss),
      [&] {
        py::object again;
        {
          AutoGradMode with_gradients(true);
          again = closure();
        }
        return as_number(again);
      },
      group.contains("maximize") && py::bool_(group["maximize"]));
  known.write(static_cast<size_t>(options.history_size()));
}

/// A norm in the dtype that those of these tensors have together, as Python shows it.
Tensor as_norm_of(const std::vector<Tensor>& tensors, const Tensor& norm) {
  std::optional<ScalarType> dtype;
  for (const Tensor& t : tensors)
    if (t.defined()) dtype = dtype ? promote_types(*dtype, t.dtype()) : t.dtype();
  return norm.to(dtype ? to_real_type(*dtype) : kFloat);
}

void add_clipping(py::module_& m) {
  namespace utils = nn::utils;
  m.def("norm_of_all", [](const std::vector<Tensor>& tensors, double norm_type, bool check) {
    const ReleaseGil released;
    const Tensor norm = utils::norm_of_all(tensors, norm_type);
    if (check) utils::check_finite_norm(norm, nn::float_text(norm_type));
    return as_norm_of(tensors, norm);
  });
  m.def("clip_gradients",
        [](const std::vector<Tensor>& params, double max_norm, double norm_type, bool check) {
          const ReleaseGil released;
          const std::string order = check ? nn::float_text(norm_type) : "";
          std::vector<Tensor> gradients;
          for (const Tensor& p : params) gradients.push_back(p.grad());
          return as_norm_of(gradients, utils::clip_gradients(params, max_norm, norm_type, order));
        });
  m.def("scale_gradients",
        [](const std::vector<Tensor>& params, double max_norm, const Tensor& norm) {
          const ReleaseGil released;
          utils::scale_gradients(params, max_norm, norm);
        });
  m.def("clip_grad_value_", [](const std::vector<Tensor>& params, double limit) {
    const ReleaseGil released;
    utils::clip_grad_value_(params, limit);
  });
}

double period(double epochs) {
  if (epochs == 0) raise(PyExc_ZeroDivisionError, "a period of 0 epochs");
  return epochs;
}

void add_rates(py::module_& m) {
  namespace rates = optim::rates;
  py::module_ r = m.def_submodule("rates", "How learning rates go over the epochs.");
  r.def("stepped", &rates::stepped);
  r.def("stepped_change", [](double epoch, double size, double gamma) {
    return rates::stepped_change(epoch, period(size), gamma);
  });
  r.def("constant", &rates::constant);
  r.def("constant_change", &rates::constant_change);
  r.def("linear", &rates::linear);
  r.def("linear_change", &rates::linear_change);
  r.def("polynomial", &rates::polynomial);
  r.def("polynomial_change", &rates::polynomial_change);
  r.def("cosine", &rates::cosine);
  r.def("cosine_rate", &rates::cosine_rate);
  r.def("cosine_next", [](double rate, double base, double least, double epoch, double total) {
    return rates::cosine_next(rate, base, least, epoch, period(total));
  });
  r.def("annealed", &rates::annealed);
  r.def("cycle", &rates::cycle);
  r.def("cycled", &rates::cycled);
  r.def("peak", [](int peaks, double x, double gamma) {
    return rates::peak(static_cast<rates::Peaks>(peaks), x, gamma);
  });
  r.def("one_cycle", [](double steps, double part, bool three_phases) {
    std::vector<std::tuple<double, int, int>> phases;
    for (const auto& [end, from, to] : rates::one_cycle(steps, part, three_phases))
      phases.emplace_back(end, from, to);
    return phases;
  });
  r.def("phase_of", &rates::phase_of);
  r.def("restarted", &rates::restarted<int64_t>);
  r.def("restarted", &rates::restarted<double>);
  r.def("approached", &rates::approached);
  r.def("is_better", &rates::is_better);
  r.def("fallen", &rates::fallen);
  r.def("plateau_ends",
        [](bool better, double patience, int64_t cooldown, int64_t bad, int64_t rest) {
          const bool ends = rates::plateau_ends(better, patience, cooldown, bad, rest);
          return std::make_tuple(ends, bad, rest);
        });
}

}  // namespace

void add_optim_steps(PyObject* module) {
  py::module_ m = as_module(module).def_submodule(
      "_optim", "The library's rules of optimizers over groups and states of Python.");
  add_rates(m);
  m.def("step", &step);
  m.def("lbfgs_step", &lbfgs_step);
  m.def("first_state", &first_state);
  m.def("refused", &refused);
  m.def("defaults", &defaults);
  m.def("zero_grad", &zero_grad);
  add_clipping(m);
  m.def("move_averages",
        [](const std::vector<Tensor>& averages, const std::vector<Tensor>& values, double weight) {
          const ReleaseGil released;
          optim::move_averages(averages, values, weight);
        });
}

}  // namespace taeda::python
