// Runs the programs that compare.py writes to its input, one operation a line, and answers with
// what each returned. calls.inc, which calls.py makes from the declarations of operations, has the
// table of calls.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <list>
#include <map>
#include <sstream>

#include "taeda/taeda.h"

namespace {

using namespace taeda;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::string part;
  for (std::istringstream in(text); std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

std::vector<int64_t> integers(const std::string& text) {
  std::vector<int64_t> out;
  for (const std::string& part : split(text, ',')) out.push_back(std::stoll(part));
  return out;
}

const std::map<std::string, ScalarType> kDtypes = {{"uint8", kByte},
                                                   {"int8", kChar},
                                                   {"int16", kShort},
                                                   {"int32", kInt},
                                                   {"int64", kLong},
                                                   {"bool", kBool},
                                                   {"float16", kHalf},
                                                   {"bfloat16", kBFloat16},
                                                   {"float32", kFloat},
                                                   {"float64", kDouble},
                                                   {"complex32", kComplexHalf},
                                                   {"complex64", kComplexFloat},
                                                   {"complex128", kComplexDouble},
                                                   {"uint16", kUInt16},
                                                   {"uint32", kUInt32},
                                                   {"uint64", kUInt64}};

std::string name_of(ScalarType t) {
  for (const auto& [name, dtype] : kDtypes)
    if (dtype == t) return name;
  throw Error("a dtype without a name");
}

/// The tensors of a program, by number.
std::vector<Tensor> slots;

/// The words of one call behind its name: a letter for the kind, then the value; "-" is the
/// default.
class Args {
 public:
  explicit Args(std::vector<std::string> words) : words_(std::move(words)) {}

  bool has(size_t i) const { return words_.at(i) != "-"; }
  const Tensor& tensor(size_t i) const {
    static const Tensor none;
    return text(i) == "none" ? none : slots.at(static_cast<size_t>(integer(i)));
  }
  const std::vector<Tensor>& tensors(size_t i) {
    kept_tensors_.emplace_back();
    for (int64_t slot : integers(text(i)))
      kept_tensors_.back().push_back(slots.at(static_cast<size_t>(slot)));
    return kept_tensors_.back();
  }
  int64_t integer(size_t i) const { return std::stoll(text(i)); }
  double real(size_t i) const { return std::stod(text(i)); }
  bool flag(size_t i) const { return text(i) == "1"; }
  std::string_view word(size_t i) const { return std::string_view(words_.at(i)).substr(1); }
  ScalarType dtype(size_t i) const { return kDtypes.at(text(i)); }
  IntArrayRef list(size_t i) {
    kept_lists_.push_back(integers(text(i)));
    return kept_lists_.back();
  }
  Scalar scalar(size_t i) const {
    const std::string value = text(i);
    switch (words_[i][0]) {
      case 'b': return Scalar(value == "1");
      case 'i': return Scalar(integer(i));
      case 'f': return Scalar(real(i));
      default: {
        const auto parts = split(value, ',');
        return Scalar(std::complex<double>(std::stod(parts[0]), std::stod(parts[1])));
      }
    }
  }

 private:
  std::string text(size_t i) const { return words_.at(i).substr(1); }

  std::vector<std::string> words_;
  std::list<std::vector<Tensor>> kept_tensors_;
  std::list<std::vector<int64_t>> kept_lists_;
};

using Results = std::vector<Tensor>;

Results results(const Tensor& t) { return {t}; }
Results results(const std::vector<Tensor>& list) { return list; }
Results results(bool value) { return {scalar_tensor(value, kBool)}; }
template <class... T>
Results results(const std::tuple<T...>& all) {
  Results out;
  std::apply(
      [&](const auto&... t) {
        (..., [&] {
          for (const Tensor& r : results(t)) out.push_back(r);
        }());
      },
      all);
  return out;
}

struct Call {
  const char* name;
  Results (*run)(Args&);
};

const Call calls[] = {
#include "calls.inc"
};

const Call& find(const std::string& name) {
  static const auto by_name = [] {
    std::map<std::string, const Call*> map;
    for (const Call& call : calls) map[call.name] = &call;
    return map;
  }();
  return *by_name.at(name);
}

int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

/// dtype, sizes, strides, offset, elements of the storage, their bytes.
Tensor read_tensor(std::istringstream& in) {
  std::string dtype, sizes, strides, bytes;
  int64_t offset, count;
  in >> dtype >> sizes >> strides >> offset >> count >> bytes;
  const Tensor storage = empty({count}, kDtypes.at(dtype));
  auto* to = static_cast<uint8_t*>(storage.data_ptr());
  for (size_t i = 1; i + 1 < bytes.size(); i += 2)
    *to++ = static_cast<uint8_t>(digit(bytes[i]) << 4 | digit(bytes[i + 1]));
  return storage.as_strided(integers(sizes.substr(1)), integers(strides.substr(1)), offset);
}

/// Part of the memory of another tensor of the program.
Tensor read_view(std::istringstream& in) {
  size_t slot;
  std::string sizes, strides;
  int64_t offset;
  in >> slot >> sizes >> strides >> offset;
  return slots.at(slot).as_strided(integers(sizes.substr(1)), integers(strides.substr(1)), offset);
}

void write_tensor(std::ostream& out, const Tensor& t) {
  if (!t.defined()) {
    out << "none\n";
    return;
  }
  out << name_of(t.dtype()) << " s";
  for (int64_t d = 0; d < t.dim(); ++d) out << (d ? "," : "") << t.size(d);
  out << " x";
  const Tensor dense = t.detach().contiguous();
  const auto* from = static_cast<const uint8_t*>(dense.data_ptr());
  for (int64_t i = 0; i < dense.numel() * dense.element_size(); ++i)
    out << "0123456789abcdef"[from[i] >> 4] << "0123456789abcdef"[from[i] & 15];
  out << "\n";
}

/// The name of a call and its words, read from the rest of a line.
std::pair<std::string, std::vector<std::string>> read_call(std::istringstream& in) {
  std::string name, word;
  in >> name;
  std::vector<std::string> words;
  while (in >> word) words.push_back(word);
  return {name, words};
}

Results run(std::istringstream& in) {
  const auto [name, words] = read_call(in);
  Args args(words);
  Results made = find(name).run(args);
  for (Tensor& t : made)
    if (t.defined() && !t.is_strided()) t = t.to_dense();
  slots.insert(slots.end(), made.begin(), made.end());
  return made;
}

/// The slots that a call's words name, each once.
std::vector<size_t> slots_of(const std::vector<std::string>& words) {
  std::vector<size_t> out;
  for (const std::string& word : words) {
    if (word[0] != 't' && word[0] != 'L') continue;
    for (int64_t i : integers(word.substr(1)))
      if (std::find(out.begin(), out.end(), size_t(i)) == out.end()) out.push_back(size_t(i));
  }
  return out;
}

/// A number that depends on every element of `t`, and on each in another way.
Tensor weighed(const Tensor& t) {
  const Tensor weights = arange(t.numel(), kDouble).remainder(7).add(1).reshape(t.sizes());
  const Tensor product = t.to(t.is_complex() ? kComplexDouble : kDouble) * weights;
  return t.is_complex() ? (real(product) + imag(product) * 0.5).sum() : product.sum();
}

/// The gradients of a call's results by its tensors; nothing if no result has one. The program's
/// tensors stay as they are.
Results run_gradients(std::istringstream& in) {
  const auto [name, words] = read_call(in);
  const std::vector<Tensor> before = slots;
  Results leaves;
  for (size_t i : slots_of(words)) {
    if (!slots[i].is_floating_point() && !slots[i].is_complex()) continue;
    leaves.push_back(slots[i].detach().requires_grad_());
    slots[i] = name.find("_/") == std::string::npos ? leaves.back() : leaves.back().clone();
  }
  Tensor loss;
  try {
    Args args(words);
    for (const Tensor& t : find(name).run(args)) {
      if (!t.defined() || !t.requires_grad()) continue;
      loss = loss.defined() ? loss + weighed(t) : weighed(t);
    }
  } catch (...) {
    slots = before;
    throw;
  }
  slots = before;
  if (!loss.defined()) return {};
  Results made = autograd::grad({loss}, leaves, {}, {}, false, true);
  for (Tensor& t : made)
    if (t.defined() && !t.is_strided()) t = t.to_dense();
  return made;
}

/// What compare.py reads: libraries below may print to the standard output.
std::FILE* answers = nullptr;

/// Writes what `call` returns, or its error's first line. What takes longer than any operation on
/// a few numbers should ends the process.
template <class Call>
void answer(Call call) {
  constexpr unsigned kSeconds = 20;
  std::ostringstream out;
  alarm(kSeconds);
  try {
    const Results made = call();
    out << "ok " << made.size() << "\n";
    for (const Tensor& t : made) write_tensor(out, t);
  } catch (const std::exception& e) {
    const std::string what = e.what();
    out.str("");
    out << "error " << what.substr(0, what.find('\n')) << "\n";
  }
  alarm(0);
  std::fputs(out.str().c_str(), answers);
  std::fflush(answers);
}

}  // namespace

int main() {
  answers = fdopen(dup(STDOUT_FILENO), "w");
  dup2(STDERR_FILENO, STDOUT_FILENO);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line.substr(1));
    if (line[0] == 't') slots.push_back(read_tensor(in));
    if (line[0] == 'v') slots.push_back(read_view(in));
    if (line[0] == 'c') answer([&] { return run(in); });
    if (line[0] == 'g') answer([&] { return run_gradients(in); });
    if (line[0] == '.') slots.clear();
  }
}
