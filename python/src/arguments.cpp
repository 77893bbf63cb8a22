#include "arguments.h"

#include <structmember.h>

#include <cstring>

#include "overrides.h"
#include "signature_error.h"

namespace taeda::python {

namespace {

constexpr int64_t kHeavy = int64_t{1} << 15;

bool is_single_number(PyObject* o) {
  return is_tensor(o) && tensor_of(o).defined() && tensor_of(o).dim() == 0 &&
         !tensor_of(o).requires_grad();
}

/// What an argument is to a kind: nothing that it takes, taken, or taken although its class may
/// answer the call.
enum Acceptance : int { kRefused = 0, kTaken = 1, kWatched = 3 };

[[gnu::always_inline]] inline int accepts_tensor(PyObject* o) {
  if (is_plain_or_parameter(o)) return kTaken;
  return is_tensor(o) ? kWatched : kRefused;
}
int accepts_tensors(PyObject* o) {
  if (!is_sequence_of(o, is_tensor)) return kRefused;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
    if (!is_plain_or_parameter(PySequence_Fast_GET_ITEM(o, i))) return kWatched;
  return kTaken;
}

// Lenient: tensors of one number pass as numbers.
int accepts(Kind kind, PyObject* o, bool lenient) {
  switch (kind) {
    case Kind::Tensor:
    case Kind::Out: return accepts_tensor(o);
    case Kind::MaybeTensor: return o == Py_None ? kTaken : accepts_tensor(o);
    case Kind::Tensors:
    case Kind::Outs: return accepts_tensors(o);
    case Kind::MaybeNumber:
      if (o == Py_None) return true;
      [[fallthrough]];
    case Kind::Number:
      return is_number(o) ? kTaken : lenient && is_single_number(o) ? accepts_tensor(o) : kRefused;
    case Kind::Numbers: return is_sequence_of(o, is_number) || is_number(o);
    case Kind::MaybeReal:
      if (o == Py_None) return true;
      [[fallthrough]];
    case Kind::Real:
      return is_real(o) ? kTaken : lenient && is_single_number(o) ? accepts_tensor(o) : kRefused;
    case Kind::MaybeReals:
      if (o == Py_None) return true;
      [[fallthrough]];
    case Kind::Reals: return is_sequence_of(o, is_real);
    case Kind::MaybeInt:
      if (o == Py_None) return true;
      [[fallthrough]];
    case Kind::Int: return is_integer(o) || (lenient && is_size(o));
    case Kind::MaybeInts:
      if (o == Py_None) return true;
      [[fallthrough]];
    case Kind::Ints: return is_integer(o) || is_sequence_of(o, is_size) || (lenient && is_size(o));
    case Kind::Sizes: return is_sequence_of(o, is_size);
    case Kind::MaybeBool:
      if (o == Py_None) return true;
      [[fallthrough]];
    case Kind::Bool: return is_bool(o);
    case Kind::MaybeText:
      if (o == Py_None) return true;
      [[fallthrough]];
    case Kind::Text: return PyUnicode_Check(o);
    case Kind::MaybeDtype:
      if (o == Py_None) return true;
      [[fallthrough]];
    case Kind::Dtype: return is_dtype(o);
    case Kind::MaybeDevice: return o == Py_None || is_device(o);
    case Kind::MaybeLayout: return o == Py_None || is_layout(o);
    case Kind::MaybeFormat:
      if (o == Py_None) return true;
      [[fallthrough]];
    case Kind::Format: return is_memory_format(o);
    case Kind::MaybeGenerator: return o == Py_None || is_generator(o);
    case Kind::Reduction: return PyUnicode_Check(o) || is_integer(o);
    case Kind::Padding: return PyUnicode_Check(o) || is_integer(o) || is_sequence_of(o, is_size);
  }
  return kRefused;
}

/// Second names of parameters: NumPy's, PyTorch's where the library has its own, and PyTorch's
/// `input` for the first tensor of all. A parameter that is called so goes first.
constexpr std::string_view kSecondNames[][2] = {
    {"axis", "dim"},
    {"keepdims", "keepdim"},
    {"x", "input"},
    {"a", "input"},
    {"x1", "input"},
    {"x2", "other"},
    {"input", "A"},
    {"input", "self"},
    {"input", "x"},
    {"input", "B"},
    {"input", "L"},
    {"input", "classes"},
    {"input2", "L"},
    {"tensor", "other"},
    {"other", "src"},
    {"tensor", "classes"},
    {"fill_value", "value"},
    {"dims", "repeats"},
    {"axis0", "dim0"},
    {"axis1", "dim1"},
    {"train", "training"},
    {"input", "values"},
    {"other", "B"},
    {"b", "B"},
    {"rcond", "rtol"},
    {"input2", "tau"},
    {"input3", "other"},
    {"the_template", "other"},
    {"tensor_indices_or_sections", "indices_or_sections"}};

int find_exactly(const Signature& s, std::string_view name) {
  for (int i = 0; i < s.count; ++i)
    if (i != s.receiver && name == s.parameters[i].name) return i;
  return -1;
}

int find_parameter(const Signature& s, std::string_view name) {
  int i = find_exactly(s, name);
  for (const auto& [second, first] : kSecondNames) {
    if (i >= 0) break;
    if (name == second) i = find_exactly(s, first);
  }
  return i;
}

/// What answers calls that no signature fits: functions of Python by the operations' names.
PyObject* more_signatures = nullptr;

/// The result of what answers for an operation without a signature that fits; nullptr if nothing.
PyObject* call_more(const char* name, PyObject* self, PyObject* const* args, Py_ssize_t count,
                    PyObject* names) {
  PyObject* function = more_signatures ? PyDict_GetItemString(more_signatures, name) : nullptr;
  if (!function) return nullptr;
  std::vector<PyObject*> all;
  if (self) all.push_back(self);
  all.insert(all.end(), args, args + count + (names ? PyTuple_GET_SIZE(names) : 0));
  Ref made(checked(PyObject_Vectorcall(function, all.data(),
                                       static_cast<size_t>(count + (self != nullptr)), names)));
  return made.get() == Py_NotImplemented ? nullptr : made.release();
}

}  // namespace

double Arguments::real_of(PyObject* object) {
  return is_tensor(object) ? to_scalar(object).toDouble() : to_real(object);
}

taeda::Reduction Arguments::reduction(int i, taeda::Reduction standard) const {
  if (!given(i)) return standard;
  if (!PyUnicode_Check(values_[i])) return ReductionArg(to_int(values_[i]));
  const std::string_view name = to_text(values_[i]);
  if (name == "none") return taeda::Reduction::None;
  if (name == "mean") return taeda::Reduction::Mean;
  if (name == "sum") return taeda::Reduction::Sum;
  raise(PyExc_ValueError, std::string(name) + " is not a valid value for reduction");
}

ConvPadding Arguments::padding(int i) const {
  if (!given(i)) return ConvPadding(0);
  if (PyUnicode_Check(values_[i])) return ConvPadding(std::string(to_text(values_[i])).c_str());
  const Ints sizes = to_ints(values_[i]);
  return ConvPadding(IntArrayRef(sizes));
}

TensorOptions Arguments::options(int i) const {
  TensorOptions out;
  if (present(i)) out = out.dtype(to_dtype(values_[i]));
  if (present(i + 1)) out = out.layout(to_layout(values_[i + 1]));
  if (present(i + 2)) out = out.device(to_device(values_[i + 2]));
  if (present(i + 3)) out = out.pinned_memory(to_bool(values_[i + 3]));
  if (present(i + 4)) out = out.requires_grad(to_bool(values_[i + 4]));
  return out;
}

bool Arguments::is_heavy() const {
  for (int i = 0; i < signature_->count; ++i) {
    if (!values_[i]) continue;
    const Kind kind = signature_->parameters[i].kind;
    if (kind == Kind::Tensors) return true;
    if (kind != Kind::Tensor) continue;
    const Tensor& t = tensor_of(values_[i]);
    if (t.defined() && (t.numel() >= kHeavy || !t.is_cpu())) return true;
  }
  return false;
}

bool Arguments::place_keywords(const Signature& s, PyObject* const* values, PyObject* names) {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(names); ++k) {
    const std::string_view name = to_text(PyTuple_GET_ITEM(names, k));
    const int i = find_parameter(s, name);
    if (i < 0 || values_[i]) return false;
    values_[i] = values[k];
  }
  return true;
}

bool Arguments::fits(const Signature& s, PyObject* self, PyObject* const* args, Py_ssize_t count,
                     PyObject* names, bool lenient) {
  std::memset(values_, 0, sizeof values_);  // all: a method has no `out`, and its call asks for it
  signature_ = &s;
  const int most = s.positional - (s.receiver >= 0);
  if (s.receiver >= 0) values_[s.receiver] = self;
  const bool spread = s.spread && count > 0 && is_size(args[0]);
  const int spread_to = spread ? s.receiver == 0 : -1;
  if (count > most && !spread) return false;
  if (spread && count > 1) {
    packed_ = Ref(checked(PyTuple_New(count)));
    for (Py_ssize_t k = 0; k < count; ++k) {
      Py_INCREF(args[k]);
      PyTuple_SET_ITEM(packed_.get(), k, args[k]);
    }
    values_[spread_to] = packed_.get();
  } else {
    for (int i = 0, k = 0; k < count; ++i)
      if (i != s.receiver) values_[i] = args[k++];
  }
  if (names && !place_keywords(s, args + count, names)) return false;
  for (int i = 0; i < s.count; ++i) {
    PyObject*& value = values_[i];
    const Parameter& p = s.parameters[i];
    if (!value) {
      if (!p.standard && i != s.receiver) return false;
    } else if (value == Py_None && (p.kind == Kind::Out || p.kind == Kind::Outs ||
                                    (lenient && p.standard && p.kind == Kind::Ints))) {
      value = nullptr;
    } else if (lenient && value == Py_None && p.kind == Kind::Ints &&
               p.name == std::string_view("dim")) {
      continue;  // all of them
    } else if (i != s.receiver && i != spread_to) {
      const int acceptance = accepts(p.kind, value, lenient);
      if (!acceptance) return false;
      watched_ |= acceptance == kWatched;
    }
  }
  return true;
}

const Signature* Arguments::find(const Callable& callable, PyObject* self, PyObject* const* args,
                                 Py_ssize_t count, PyObject* names) {
  watched_ = self ? !is_plain_or_parameter(self) : plain_type == nullptr;
  for (const bool lenient : {false, true})
    for (int k = 0; k < callable.count; ++k)
      if (fits(callable.signatures[k], self, args, count, names, lenient))
        return &callable.signatures[k];
  return nullptr;
}

PyObject* call(const Callable& callable, PyObject* self, PyObject* const* args, Py_ssize_t count,
               PyObject* names) noexcept {
  return guarded([&]() -> PyObject* {
    const Py_ssize_t n = PyVectorcall_NARGS(static_cast<size_t>(count));
    Arguments arguments;
    const Signature* s = arguments.find(callable, self, args, n, names);
    if (!s || arguments.may_be_overridden()) [[unlikely]] {
      if (PyObject* made = overridden_call(callable.name, self, args, n, names)) return made;
      if (!s)
        if (PyObject* made = call_more(callable.name, self, args, n, names)) return made;
      if (!s) throw_no_signature(callable, self != nullptr, args, n, names);
    }
    try {
      return s->call(arguments);
    } catch (const Overridden&) {
      PyErr_Clear();
      return answered(overridden_call(callable.name, self, args, n, names));
    } catch (const WrongElement& e) {
      PyErr_Clear();
      int i = 0;
      while (i + 1 < s->count && arguments.object(i) != e.sequence) ++i;
      throw_wrong_element(callable.name, s->parameters[i].name, e);
    } catch (const IndexError& e) {  // PyTorch's gather and scatter raise a plain RuntimeError
      const std::string_view name = callable.name;
      if (!name.starts_with("gather") && !name.starts_with("scatter")) throw;
      if (e.message().find("out of bounds") == std::string::npos) throw;
      raise(PyExc_RuntimeError, e.message());
    }
  });
}

void set_more_signatures(PyObject* functions) {
  Py_XINCREF(functions);
  Py_XSETREF(more_signatures, functions);
}

std::vector<Tensor> outs(PyObject* out, int count, const char* name) {
  std::vector<Tensor> tensors = to_tensors(out);
  if (static_cast<int>(tensors.size()) != count)
    raise(PyExc_TypeError, std::string(name) + "(): argument 'out' must be a tuple of " +
                               std::to_string(count) + " Tensors, got " +
                               std::to_string(tensors.size()));
  return tensors;
}

namespace {

// "torch.return_types.max(\nvalues=tensor(...),\nindices=tensor(...))"
PyObject* named_repr(PyObject* self) {
  return guarded([&]() -> PyObject* {
    std::string out = std::string(Py_TYPE(self)->tp_name) + "(\n";
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
      const Ref text(checked(PyObject_Repr(PyTuple_GET_ITEM(self, i))));
      out += (i ? ",\n" : "") + std::string(Py_TYPE(self)->tp_members[i].name) + "=" +
             std::string(to_text(text.get()));
    }
    out += ")";
    return PyUnicode_FromStringAndSize(out.data(), static_cast<Py_ssize_t>(out.size()));
  });
}

}  // namespace

PyTypeObject* NamedResult::type() {
  if (type_) return type_;
  std::vector<std::string>& names = *new std::vector<std::string>;  // the type refers to them
  std::string about = "A tuple of tensors that have names:";
  for (const char* p = fields_; *p;) {
    const size_t n = std::strcspn(p, " ");
    names.emplace_back(p, n);
    about += (names.size() == 1 ? " " : ", ") + names.back();
    p += n + (p[n] == ' ');
  }
  auto* fields = new std::vector<PyStructSequence_Field>;
  for (const std::string& name : names) fields->push_back({name.c_str(), nullptr});
  fields->push_back({nullptr, nullptr});
  about += '.';
  PyStructSequence_Desc description = {name_, about.c_str(), fields->data(),
                                       static_cast<int>(names.size())};
  type_ = PyStructSequence_NewType(&description);
  if (!type_) throw ErrorIsSet();
  type_->tp_repr = named_repr;
  return type_;
}

PyObject* NamedResult::operator()(std::vector<Tensor> tensors) {
  Ref out(checked(PyStructSequence_New(type())));
  for (size_t i = 0; i < tensors.size(); ++i)
    PyStructSequence_SetItem(out.get(), static_cast<Py_ssize_t>(i), wrap(std::move(tensors[i])));
  return out.release();
}

PyObject* NamedResult::operator()(std::tuple<Tensor, std::vector<Tensor>> parts) {
  Ref out(checked(PyStructSequence_New(type())));
  PyStructSequence_SetItem(out.get(), 0, wrap(std::move(std::get<0>(parts))));
  PyStructSequence_SetItem(out.get(), 1, checked(from_tensors(std::move(std::get<1>(parts)))));
  return out.release();
}

}  // namespace taeda::python
