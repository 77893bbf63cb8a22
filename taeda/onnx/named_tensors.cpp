#include <algorithm>

#include "taeda/onnx/import.h"

namespace taeda::inline v0_2::onnx {

namespace {
/// A name with more is not looked at: each part is a module inside of another.
constexpr int64_t kMostParts = 64;
}  // namespace

/// A module that is there for the tensors below it.
class BranchImpl : public nn::Cloneable<BranchImpl> {
 public:
  void reset() override { tensors.register_with(*this); }

  NamedTensors tensors;
};

bool NamedTensors::has(const std::string& key) const {
  const auto is_key = [&](const Item& item) { return item.key == key; };
  return std::any_of(items.begin(), items.end(), is_key) ||
         std::any_of(branches.begin(), branches.end(),
                     [&](const auto& branch) { return branch.first == key; });
}

/// False for a name that is none of a tree: parts are empty, or one is a tensor already.
bool NamedTensors::try_add(const std::string& name, const Tensor& tensor, Kind kind, int place) {
  const size_t dot = name.find('.');
  const std::string head = name.substr(0, dot);
  if (head.empty()) return false;
  if (dot == std::string::npos) {
    if (has(head)) return false;
    items.push_back({head, tensor, kind, place});
    return true;
  }
  auto branch = std::find_if(branches.begin(), branches.end(),
                             [&](const auto& b) { return b.first == head; });
  const bool fresh = branch == branches.end();
  if (fresh && has(head)) return false;
  if (fresh) branch = branches.insert(branch, {head, std::make_shared<BranchImpl>()});
  if (branch->second->tensors.try_add(name.substr(dot + 1), tensor, kind, place)) return true;
  if (fresh) branches.erase(branch);
  return false;
}

void NamedTensors::add(const std::string& name, const Tensor& tensor, Kind kind, int place) {
  const bool is_tree = std::count(name.begin(), name.end(), '.') < kMostParts;
  if (kind != Kind::Constant && is_tree && try_add(name, tensor, kind, place)) return;
  std::string key = name;
  std::replace(key.begin(), key.end(), '.', '_');
  while (key.empty() || has(key)) key += '_';
  items.push_back({key, tensor, kind, place});
}

void NamedTensors::register_with(nn::Module& owner) {
  for (Item& item : items) {
    const Tensor own = item.tensor.detach().clone();
    item.tensor = item.kind == Kind::Parameter
                      ? owner.register_parameter(item.key, own)
                      : owner.register_buffer(item.key, own, item.kind == Kind::Statistic);
  }
  for (auto& [key, branch] : branches) {
    auto own = std::make_shared<BranchImpl>();
    own->tensors = branch->tensors;
    own->reset();
    branch = owner.register_module(key, own);
  }
}

void NamedTensors::collect(std::vector<Tensor>& values) const {
  for (const Item& item : items) values[static_cast<size_t>(item.place)] = item.tensor;
  for (const auto& [key, branch] : branches) branch->tensors.collect(values);
}

}  // namespace taeda::inline v0_2::onnx
