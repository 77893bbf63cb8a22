#include "signature_error.h"

#include <algorithm>

namespace taeda::python {

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::Tensor:
    case Kind::MaybeTensor:
    case Kind::Out: return "Tensor";
    case Kind::Tensors: return "tuple of Tensors";
    case Kind::Outs: return "tuple of Tensors";
    case Kind::Number:
    case Kind::MaybeNumber: return "Number";
    case Kind::Numbers: return "tuple of Numbers";
    case Kind::Real:
    case Kind::MaybeReal: return "float";
    case Kind::Reals:
    case Kind::MaybeReals: return "tuple of floats";
    case Kind::Int:
    case Kind::MaybeInt: return "int";
    case Kind::Ints:
    case Kind::MaybeInts:
    case Kind::Sizes: return "tuple of ints";
    case Kind::Bool:
    case Kind::MaybeBool: return "bool";
    case Kind::Text:
    case Kind::MaybeText: return "str";
    case Kind::Dtype:
    case Kind::MaybeDtype: return "torch.dtype";
    case Kind::MaybeDevice: return "torch.device";
    case Kind::MaybeLayout: return "torch.layout";
    case Kind::Format:
    case Kind::MaybeFormat: return "torch.memory_format";
    case Kind::MaybeGenerator: return "torch.Generator";
    case Kind::Reduction: return "str";
    case Kind::Padding: return "tuple of ints";
  }
  return "?";
}

namespace {

std::string type_name(PyObject* object) {
  if (is_tensor(object))
    return Py_TYPE(object)->tp_name == std::string_view("Parameter") ? "Parameter" : "Tensor";
  const std::string_view name = Py_TYPE(object)->tp_name;
  return std::string(name);
}

// "tuple of (int, str)" for what is in a sequence, as far as it helps.
std::string given_name(PyObject* object) {
  if (!is_sequence(object)) return type_name(object);
  std::string out = std::string(Py_TYPE(object)->tp_name) + " of ";
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  if (n == 0) return PyList_Check(object) ? "list" : "tuple";
  out += n == 1 ? "[" : "(";
  for (Py_ssize_t i = 0; i < n && i < 4; ++i)
    out += (i ? ", " : "") + type_name(PySequence_Fast_GET_ITEM(object, i));
  return out + (n > 4 ? ", ..." : "") + (n == 1 ? "]" : ")");
}

std::string given_text(PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::string out = "(";
  for (Py_ssize_t i = 0; i < count; ++i) out += (i ? ", " : "") + given_name(args[i]);
  for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); ++k)
    out += (count + k ? ", " : "") + std::string(to_text(PyTuple_GET_ITEM(names, k))) + "=" +
           given_name(args[count + k]);
  return out + (count == 0 && names ? ", )" : ")");  // as PyTorch writes it
}

// The first keyword that is no parameter's name; nothing if all are.
std::string unknown_keyword(const Signature& s, PyObject* names) {
  for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); ++k) {
    const std::string_view keyword = to_text(PyTuple_GET_ITEM(names, k));
    bool known = false;
    for (int i = 0; i < s.count; ++i) known |= i != s.receiver && keyword == s.parameters[i].name;
    if (!known) return std::string(keyword);
  }
  return "";
}

// What is wrong with a call of something that has one signature.
std::string complaint(const std::string& name, const Signature& s, PyObject* const* args,
                      Py_ssize_t count, PyObject* names) {
  const int most = s.positional - (s.receiver >= 0);
  if (most == 0 && s.receiver >= 0 && s.count == 1 && count > 0)
    return "TensorBase." + name + "() takes no arguments (" + std::to_string(count) + " given)";
  if (count > most && !s.spread)
    return name + "() takes " + std::to_string(most) + " positional argument" +
           (most == 1 ? "" : "s") + " but " + std::to_string(count) +
           (count == 1 ? " was" : " were") + " given";
  if (const std::string keyword = unknown_keyword(s, names); !keyword.empty())
    return name + "() got an unexpected keyword argument '" + keyword + "'";
  std::string missing;
  int absent = 0;
  for (int i = 0, position = 0; i < s.count; ++i) {
    if (i == s.receiver) continue;
    PyObject* value = position < count ? args[position] : nullptr;
    const int number = ++position;
    for (Py_ssize_t k = 0; !value && names && k < PyTuple_GET_SIZE(names); ++k)
      if (to_text(PyTuple_GET_ITEM(names, k)) == s.parameters[i].name) value = args[count + k];
    if (!value) {
      if (!s.parameters[i].standard) {
        missing += (absent++ ? ", \"" : "\"") + std::string(s.parameters[i].name) + "\"";
      }
      continue;
    }
    Arguments one;
    const Signature alone{&s.parameters[i], 1, 1, -1, s.spread && number <= count, nullptr};
    const Callable callable{name.c_str(), &alone, 1};
    if (s.parameters[i].kind == Kind::Tensors && is_sequence(value) &&
        PySequence_Fast_GET_SIZE(value) > 0) {
      Py_ssize_t k = 0;
      while (k < PySequence_Fast_GET_SIZE(value) - 1 &&
             is_tensor(PySequence_Fast_GET_ITEM(value, k)))
        ++k;
      if (!is_tensor(PySequence_Fast_GET_ITEM(value, k)))
        return "expected Tensor as element " + std::to_string(k) + " in argument " +
               std::to_string(number - 1) + ", but got " +
               type_name(PySequence_Fast_GET_ITEM(value, k));
    }
    if (!one.takes(callable, value))
      return name + "(): argument '" + s.parameters[i].name + "'" +
             (number <= count ? " (position " + std::to_string(number) + ")" : "") + " must be " +
             kind_name(s.parameters[i].kind) + ", not " +
             (s.parameters[i].kind == Kind::Tensor ? type_name(value) : given_name(value));
  }
  if (absent)
    return name + "() missing " + std::to_string(absent) +
           " required positional arguments: " + missing;
  return "";
}

}  // namespace

std::string signature_text(const Signature& s, bool method) {
  std::string out = "(";
  bool first = true, keywords = false;
  for (int i = 0; i < s.count; ++i) {
    const Parameter& p = s.parameters[i];
    if (method && i == s.receiver) continue;
    if (p.keyword_only && !keywords) {
      out += first ? "*" : ", *";
      keywords = true, first = false;
    }
    out += (first ? "" : ", ") + std::string(kind_name(p.kind)) + " " + p.name;
    if (p.standard) out += " = " + std::string(p.standard);
    first = false;
  }
  return out + ")";
}

namespace {

// What is wrong with as many arguments as a signature takes: each wrong one between marks.
std::string mismatch(const Signature& s, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const int wanted = std::max(1, s.count - (s.receiver >= 0));
  if (names || wanted != count) return "";
  std::string out;
  for (int i = 0, k = 0; k < count; ++i) {
    if (i == s.receiver) continue;
    bool right = false;
    if (i < s.count) {
      Arguments one;
      const Signature alone{&s.parameters[i], 1, 1, -1, false, nullptr};
      right = one.takes(Callable{"", &alone, 1}, args[k]);
    }
    out +=
        (k ? ", " : "") + std::string(right ? "" : "!") + given_name(args[k]) + (right ? "" : "!");
    ++k;
  }
  return "\n      didn't match because some of the arguments have invalid types: (" + out + ")";
}

// The signature that alone takes as many arguments; none where several do, none does, or that one
// has other names.
const Signature* only_meant(const Callable& callable, Py_ssize_t count, PyObject* names) {
  if (callable.count == 1) return callable.signatures;
  const Py_ssize_t given = count + (names ? PyTuple_GET_SIZE(names) : 0);
  const Signature* meant = nullptr;
  for (int k = 0; k < callable.count; ++k) {
    const Signature& s = callable.signatures[k];
    int least = 0;
    for (int i = 0; i < s.count; ++i) least += i != s.receiver && !s.parameters[i].standard;
    if (given < least || given > s.count - (s.receiver >= 0)) continue;
    if (meant) return nullptr;
    meant = &s;
  }
  return meant && unknown_keyword(*meant, names).empty() ? meant : nullptr;
}

}  // namespace

void throw_no_signature(const Callable& callable, bool method, PyObject* const* args,
                        Py_ssize_t count, PyObject* names) {
  if (const Signature* meant = only_meant(callable, count, names))
    if (const std::string text = complaint(callable.name, *meant, args, count, names);
        !text.empty())
      raise(PyExc_TypeError, text);
  std::string text =
      std::string(callable.name) + "() received an invalid combination of arguments - got " +
      given_text(args, count, names) + ", but expected " + (callable.count > 1 ? "one of:" : "");
  for (int k = 0; k < callable.count; ++k)
    text += (callable.count > 1 ? "\n * " : "") + signature_text(callable.signatures[k], method) +
            (callable.count > 1 ? mismatch(callable.signatures[k], args, count, names) : "");
  raise(PyExc_TypeError, text + (callable.count > 1 ? "\n" : ""));
}

void throw_wrong_element(const char* operation, const char* parameter,
                         const WrongElement& element) {
  raise(PyExc_TypeError,
        std::string(operation) + "(): argument '" + parameter +
            "' failed to unpack the object at pos " + std::to_string(element.position + 1) +
            " with error \"type must be tuple of ints,but got " +
            type_name(PySequence_Fast_GET_ITEM(element.sequence, element.position)) + "\"");
}

}  // namespace taeda::python
