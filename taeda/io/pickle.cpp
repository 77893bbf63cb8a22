#include "taeda/io/pickle.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unordered_map>

#include "taeda/base/dtype.h"
#include "taeda/base/error.h"

namespace taeda::inline v0_2::io {

namespace {

using Kind = PickleValue::Kind;

/// Classes and functions that a state dict names. Storage classes end in "Storage".
constexpr std::string_view kKnownNames[] = {
    "collections.OrderedDict", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3",
    "torch._utils._rebuild_parameter", "torch.Size",
    // libtorch's lists of one type
    "torch.jit._pickle.build_intlist", "torch.jit._pickle.build_doublelist",
    "torch.jit._pickle.build_boollist", "torch.jit._pickle.build_tensorlist"};

/// The classes of a file that libtorch's torch::save wrote: one for each module, with its members
/// as the object's state.
bool is_module_class(std::string_view name) {
  return name.starts_with("__torch__.") && name.ends_with("Module");
}

bool is_known(std::string_view name) {
  if (std::find(std::begin(kKnownNames), std::end(kKnownNames), name) != std::end(kKnownNames))
    return true;
  if (is_module_class(name)) return true;
  constexpr std::string_view kTorch = "torch.", kStorage = "Storage";
  if (name == "torch.storage.UntypedStorage") return true;
  for (const ScalarType t : kStoredDtypes)
    if (name.starts_with(kTorch) && name.substr(kTorch.size()) == dtype_name(t)) return true;
  return name.starts_with(kTorch) && name.ends_with(kStorage) &&
         name.find('.', kTorch.size()) == std::string_view::npos;
}

}  // namespace

/// Runs the opcodes. Each one makes one value at most, takes what it puts into a container from the
/// stack, and copies neither containers nor texts: what was remembered can be named again in two
/// bytes. What it makes is charged to the file's budget.
class PickleMachine {
 public:
  PickleMachine(Pickle& pickle, Budget& budget)
      : pickle_(pickle), bytes_(pickle.bytes_), budget_(budget) {}

  const PickleValue* run() {
    while (true) {
      const uint8_t op = byte();
      if (op == '.') break;
      if (!constant(op) && !container(op) && !memory(op) && !object(op)) refuse(op);
    }
    TAEDA_CHECK(stack_.size() == 1 && stack_[0], "the pickle does not end with one value");
    pickle_.used_ = at_;
    return stack_[0];
  }

 private:
  [[noreturn]] static void refuse(uint8_t op) {
    char text[8];
    std::snprintf(text, sizeof text, "0x%02x", op);
    throw Error(std::string("the pickle has opcode ") + text + ", which state dicts do not need");
  }

  // Input.

  std::string_view take(uint64_t n) {
    TAEDA_CHECK(n <= bytes_.size() - at_, "the pickle is cut off");
    const std::string_view out = bytes_.substr(at_, n);
    at_ += n;
    return out;
  }
  uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }
  uint64_t number(size_t width) {
    uint64_t out = 0;
    const std::string_view b = take(width);
    for (size_t i = 0; i < width; ++i) out |= uint64_t{static_cast<uint8_t>(b[i])} << 8 * i;
    return out;
  }
  std::string_view line() {
    const size_t end = bytes_.find('\n', at_);
    TAEDA_CHECK(end != std::string_view::npos, "the pickle is cut off");
    const std::string_view out = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return out;
  }

  // Stack. A mark is a null pointer.

  PickleValue& push(Kind kind) {
    budget_.charge(sizeof(PickleValue), "a value of the pickle");
    PickleValue& v = pickle_.values_.emplace_back();
    v.kind = kind;
    push_known(&v);
    return v;
  }
  /// A value that there is already, or a mark.
  void push_known(PickleValue* value) {
    budget_.charge(kPointerBytes, "the pickle's stack");
    stack_.push_back(value);
  }
  PickleValue* pop() {
    TAEDA_CHECK(!stack_.empty() && stack_.back(), "the pickle takes what is not there");
    PickleValue* out = stack_.back();
    stack_.pop_back();
    return out;
  }
  PickleValue& top(Kind kind, const char* what) {
    TAEDA_CHECK(!stack_.empty() && stack_.back() && stack_.back()->kind == kind,
                "the pickle takes something else for ", what);
    return *stack_.back();
  }
  /// What lies above the last mark, which goes too.
  std::vector<PickleValue*> pop_to_mark() {
    const auto mark = std::find(stack_.rbegin(), stack_.rend(), nullptr);
    TAEDA_CHECK(mark != stack_.rend(), "the pickle lacks a mark");
    std::vector<PickleValue*> out(mark.base(), stack_.end());
    stack_.erase(mark.base() - 1, stack_.end());
    return out;
  }
  void push_tuple(size_t n) {
    std::vector<PickleValue*> items(n);
    for (size_t i = n; i > 0; --i) items[i - 1] = pop();
    push(Kind::Tuple).items = std::move(items);
  }
  void push_integer(int64_t value) { push(Kind::Int).integer = value; }
  void push_bool(bool value) { push(Kind::Bool).integer = value; }
  static void add_entries(PickleValue& dict, const std::vector<PickleValue*>& flat) {
    TAEDA_CHECK(flat.size() % 2 == 0, "the pickle has a key without a value");
    for (size_t i = 0; i < flat.size(); i += 2) dict.entries.emplace_back(flat[i], flat[i + 1]);
  }

  // Opcodes, each by the name of pickletools. False: it is none of these.

  bool constant(uint8_t op) {
    switch (op) {
      case 'N': push(Kind::None); return true;
      case 0x88: push_bool(true); return true;
      case 0x89: push_bool(false); return true;
      case 'J': push_integer(static_cast<int32_t>(number(4))); return true;  // BININT
      case 'K': push_integer(static_cast<int64_t>(number(1))); return true;  // BININT1
      case 'M': push_integer(static_cast<int64_t>(number(2))); return true;  // BININT2
      case 0x8a: push_integer(long_integer(number(1))); return true;         // LONG1
      case 'G': push(Kind::Float).real = big_endian_double(); return true;   // BINFLOAT
      case 'X': push(Kind::Text).text = take(number(4)); return true;        // BINUNICODE
      case 'U': push(Kind::Text).text = take(number(1)); return true;        // Python 2's
      case 'T': push(Kind::Text).text = take(number(4)); return true;        // texts
      case 0x8c: push(Kind::Text).text = take(number(1)); return true;       // SHORT_
      case 0x8d: push(Kind::Text).text = take(number(8)); return true;       // BINUNICODE8
      default: return false;
    }
  }
  /// Two's complement, little-endian, of up to 8 bytes.
  int64_t long_integer(uint64_t width) {
    TAEDA_CHECK(width <= 8, "the pickle has an integer of ", width, " bytes");
    if (width == 0) return 0;
    const unsigned shift = 64 - 8 * static_cast<unsigned>(width);
    return static_cast<int64_t>(number(width) << shift) >> shift;
  }
  double big_endian_double() {
    uint64_t bits = 0;
    for (char c : take(8)) bits = bits << 8 | static_cast<uint8_t>(c);
    double out;
    std::memcpy(&out, &bits, sizeof out);
    return out;
  }

  bool container(uint8_t op) {
    switch (op) {
      case '(': push_known(nullptr); return true;
      case ')': push(Kind::Tuple); return true;
      case ']': push(Kind::List); return true;
      case '}': push(Kind::Dict); return true;
      case 0x85: push_tuple(1); return true;
      case 0x86: push_tuple(2); return true;
      case 0x87: push_tuple(3); return true;
      case 't':
      case 'l': {
        const auto items = pop_to_mark();
        push(op == 't' ? Kind::Tuple : Kind::List).items.assign(items.begin(), items.end());
        return true;
      }
      case 'd': {
        const auto flat = pop_to_mark();
        add_entries(push(Kind::Dict), flat);
        return true;
      }
      case 'a': {
        PickleValue* item = pop();
        top(Kind::List, "a list").items.push_back(item);
        return true;
      }
      case 'e': {
        const auto items = pop_to_mark();
        auto& list = top(Kind::List, "a list").items;
        list.insert(list.end(), items.begin(), items.end());
        return true;
      }
      case 's': {
        const PickleValue* value = pop();
        const PickleValue* key = pop();
        top(Kind::Dict, "a dictionary").entries.emplace_back(key, value);
        return true;
      }
      case 'u': {
        const auto flat = pop_to_mark();
        add_entries(top(Kind::Dict, "a dictionary"), flat);
        return true;
      }
      default: return false;
    }
  }

  bool memory(uint8_t op) {
    switch (op) {
      case 0x80: {  // PROTO
        const uint8_t version = byte();
        TAEDA_CHECK(version >= 2 && version <= 5, "the pickle has protocol ", int{version});
        return true;
      }
      case 0x95: number(8); return true;  // FRAME: a hint for buffering
      case 'q': remember(number(1)); return true;
      case 'r': remember(number(4)); return true;
      case 0x94: remember(memo_.size()); return true;
      case 'h': recall(number(1)); return true;
      case 'j': recall(number(4)); return true;
      default: return false;
    }
  }
  void remember(uint64_t index) {
    budget_.charge(kMemoBytes, "the pickle's memory");
    PickleValue* value = pop();
    stack_.push_back(value);
    memo_[index] = value;
  }
  void recall(uint64_t index) {
    const auto found = memo_.find(index);
    TAEDA_CHECK(found != memo_.end(), "the pickle recalls what it did not keep");
    push_known(found->second);
  }

  bool object(uint8_t op) {
    switch (op) {
      case 'c': {  // GLOBAL
        const std::string_view module = line(), name = line();
        push_name(module, name);
        return true;
      }
      case 0x93: {  // STACK_GLOBAL
        const PickleValue *name = pop(), *module = pop();
        TAEDA_CHECK(name->kind == Kind::Text && module->kind == Kind::Text,
                    "the pickle has a name that is no text");
        push_name(module->text, name->text);
        return true;
      }
      case 'Q': {  // BINPERSID
        const PickleValue* id = pop();
        TAEDA_CHECK(id->kind == Kind::Tuple, "the pickle has a storage without a description");
        PickleValue& storage = push(Kind::Storage);
        storage.arguments = id;
        budget_.charge(kPointerBytes, "a storage of the pickle");
        pickle_.storages_.push_back(&storage);
        return true;
      }
      case 'R': {  // REDUCE
        const PickleValue *arguments = pop(), *called = pop();
        TAEDA_CHECK(arguments->kind == Kind::Tuple && called->kind == Kind::Name,
                    "the pickle calls what is no function");
        call(called->text, *arguments);
        return true;
      }
      case 0x81: {  // NEWOBJ
        const PickleValue *arguments = pop(), *made = pop();
        TAEDA_CHECK(arguments->kind == Kind::Tuple && arguments->items.empty() &&
                        made->kind == Kind::Name && is_module_class(made->text),
                    "the pickle makes an object that is no module");
        push(Kind::Dict).text = made->text;
        return true;
      }
      case 'b': {  // BUILD: of an OrderedDict, attributes such as its _metadata
        const PickleValue* state = pop();
        PickleValue& object = top(Kind::Dict, "an OrderedDict");
        if (object.text.empty()) return true;
        TAEDA_CHECK(state->kind == Kind::Dict, "the pickle has a module without members");
        budget_.charge(state->entries.size() * sizeof(state->entries[0]), "a module's members");
        object.entries.insert(object.entries.end(), state->entries.begin(), state->entries.end());
        return true;
      }
      default: return false;
    }
  }
  void push_name(std::string_view module, std::string_view name) {
    TAEDA_CHECK(module.size() + name.size() < kLongestName, "the pickle has a name of ",
                module.size() + name.size(), " characters");
    const std::string full = std::string(module) + "." + std::string(name);
    TAEDA_CHECK(is_known(full), "it names ", full,
                ", which is not among what state dicts need: "
                "tensors, numbers, texts, lists and dictionaries. If it is a whole module, save "
                "its state instead, in Python: torch.save(model.state_dict(), path)");
    if (!pickle_.names_.contains(full)) budget_.charge(kLongestName, "a name in the pickle");
    push(Kind::Name).text = *pickle_.names_.insert(full).first;
  }
  void call(std::string_view name, const PickleValue& arguments) {
    if (name == "torch.Size") {
      TAEDA_CHECK(arguments.items.size() == 1 && arguments.items[0]->kind == Kind::Tuple,
                  "torch.Size is called with other arguments");
      push_known(arguments.items[0]);
      return;
    }
    if (name.starts_with("torch.jit._pickle.build_")) {
      TAEDA_CHECK(arguments.items.size() == 1 && arguments.items[0]->kind == Kind::List, name,
                  " is called with other arguments");
      push_known(arguments.items[0]);
      return;
    }
    if (name == "collections.OrderedDict") {
      PickleValue& dict = push(Kind::Dict);
      TAEDA_CHECK(arguments.items.size() <= 1, "OrderedDict is called with other arguments");
      if (arguments.items.empty()) return;
      budget_.charge(arguments.items[0]->items.size() * sizeof(dict.entries[0]),
                     "a copy of a dictionary's entries");
      for (const PickleValue* pair : arguments.items[0]->items) {
        TAEDA_CHECK(pair->items.size() == 2, "OrderedDict is called with other arguments");
        dict.entries.emplace_back(pair->items[0], pair->items[1]);
      }
      return;
    }
    PickleValue& made = push(Kind::Call);
    made.text = name;
    made.arguments = &arguments;
  }

  // Vectors that grow hold twice what is in them; a pointer lies on the stack, then in a container.
  static constexpr uint64_t kPointerBytes = 4 * sizeof(void*), kMemoBytes = 64;
  static constexpr size_t kLongestName = 256;

  Pickle& pickle_;
  std::string_view bytes_;
  Budget& budget_;
  size_t at_ = 0;
  std::vector<PickleValue*> stack_;
  std::unordered_map<uint64_t, PickleValue*> memo_;
};

Pickle::Pickle(View bytes, Budget& budget) : bytes_(bytes.bytes) {
  root_ = PickleMachine(*this, budget).run();
}

Pickle::Pickle(std::string bytes, Budget& budget) : owned_(std::move(bytes)), bytes_(owned_) {
  root_ = PickleMachine(*this, budget).run();
}

Pickle::Pickle(std::string bytes) : owned_(std::move(bytes)), bytes_(owned_) {
  Budget budget(bytes_.size());
  root_ = PickleMachine(*this, budget).run();
}

}  // namespace taeda::inline v0_2::io
