// save() and load() for tensors, lists and maps of them, modules and optimizers. A path's ending
// chooses the format, safetensors or another (io/archive.h): a module's file holds its state dict
// and opens in Python as it is.
//
// Modules and optimizers are recognised by their state_dict(); this header needs none of theirs.
#pragma once

#include <concepts>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/io/archive.h"

namespace taeda::inline v0_2 {

namespace io {

/// state_dict() is a dictionary of tensors: modules.
template <class T>
concept HasTensorState = requires(const T& c, T& m) {
  m.load_state_dict(c.state_dict());
  { c.state_dict().begin()->value() } -> std::convertible_to<Tensor>;
};
/// state_dict() is a dictionary of numbers: schedules of learning rates.
template <class T>
concept HasNumberState = requires(const T& c, T& m) {
  m.load_state_dict(c.state_dict());
  { c.state_dict().begin()->value() } -> std::convertible_to<double>;
};
/// state_dict() has tensors and numbers: optimizers.
template <class T>
concept HasMixedState = requires(const T& c, T& m) {
  m.load_state_dict(c.state_dict());
  c.state_dict().tensors.begin();
  c.state_dict().numbers.begin();
};
/// A holder or a shared pointer to something that can be saved.
template <class T>
concept PointsToState = requires(const T& p) {
  requires HasTensorState<std::remove_cvref_t<decltype(*p)>> ||
      HasNumberState<std::remove_cvref_t<decltype(*p)>> ||
      HasMixedState<std::remove_cvref_t<decltype(*p)>>;
};
template <class T>
concept Saveable = std::same_as<T, Tensor> || std::same_as<T, std::vector<Tensor>> ||
    std::same_as<T, std::map<std::string, Tensor>> || HasTensorState<T> || HasNumberState<T> ||
    HasMixedState<T> || PointsToState<T>;

/// Adds `value` to the archive, names starting with `prefix`.
template <Saveable T>
void pack(Archive& archive, const std::string& prefix, const T& value) {
  if constexpr (std::same_as<T, Tensor>) {
    archive.add(prefix + "tensor", value);
  } else if constexpr (std::same_as<T, std::vector<Tensor>>) {
    for (size_t i = 0; i < value.size(); ++i) archive.add(prefix + std::to_string(i), value[i]);
  } else if constexpr (std::same_as<T, std::map<std::string, Tensor>>) {
    for (const auto& [name, tensor] : value) archive.add(prefix + name, tensor);
  } else if constexpr (requires { pack_state(archive, prefix, value); }) {
    pack_state(archive, prefix, value);  // a module
  } else if constexpr (HasTensorState<T>) {
    for (const auto& item : value.state_dict()) archive.add(prefix + item.key(), item.value());
  } else if constexpr (HasNumberState<T>) {
    for (const auto& item : value.state_dict())
      archive.add_number(prefix + item.key(), item.value());
  } else if constexpr (HasMixedState<T>) {
    const auto state = value.state_dict();
    for (const auto& item : state.tensors) archive.add(prefix + item.key(), item.value());
    for (const auto& item : state.numbers) archive.add_number(prefix + item.key(), item.value());
    if constexpr (requires { state.kind; }) archive.metadata[prefix + "kind"] = state.kind;
  } else {
    pack(archive, prefix, *value);
  }
}

/// Takes everything in the archive as the state of `value`. Throws ValueError or Error when names
/// or shapes do not fit.
template <Saveable T>
void unpack(const Archive& archive, T& value) {
  if constexpr (std::same_as<T, Tensor>) {
    value = archive.only();
  } else if constexpr (std::same_as<T, std::vector<Tensor>>) {
    std::vector<Tensor> list;
    for (size_t i = 0; i < archive.tensors.size(); ++i)
      list.push_back(archive.at(std::to_string(i)));
    value = std::move(list);
  } else if constexpr (std::same_as<T, std::map<std::string, Tensor>>) {
    std::map<std::string, Tensor> map;
    for (const auto& [name, tensor] : archive.tensors) map.emplace(name, tensor);
    value = std::move(map);
  } else if constexpr (requires { unpack_state(archive, value); }) {
    unpack_state(archive, value);
  } else if constexpr (HasTensorState<T>) {
    std::remove_cvref_t<decltype(value.state_dict())> state;
    for (const auto& [name, tensor] : archive.tensors) state.insert(name, tensor);
    value.load_state_dict(state);
  } else if constexpr (HasNumberState<T>) {
    std::remove_cvref_t<decltype(value.state_dict())> state;
    for (const auto& [name, text] : archive.metadata)
      state.insert(name, Archive::parse_number(name, text));
    value.load_state_dict(state);
  } else if constexpr (HasMixedState<T>) {
    std::remove_cvref_t<decltype(value.state_dict())> state;
    for (const auto& [name, tensor] : archive.tensors) state.tensors.insert(name, tensor);
    for (const auto& [name, text] : archive.metadata) {
      if constexpr (requires { state.kind; })
        if (name == "kind") {
          state.kind = text;
          continue;
        }
      state.numbers.insert(name, Archive::parse_number(name, text));
    }
    value.load_state_dict(state);
  } else {
    unpack(archive, *value);
  }
}

}  // namespace io

/// Saves to a path (atomically) or a stream.
template <io::Saveable T, class Target>
requires requires(const io::Archive& archive, Target&& target) {
  io::save_archive(archive, target);
}
void save(const T& value, Target&& path_or_stream) {
  io::Archive archive;
  io::pack(archive, "", value);
  io::save_archive(archive, path_or_stream);
}

/// A list in braces: save({a, b}, "tensors.pt").
template <class Target>
void save(std::initializer_list<Tensor> list, Target&& path_or_stream) {
  save(std::vector<Tensor>(list), std::forward<Target>(path_or_stream));
}

/// Loads what save() wrote. A tensor is replaced by the one in the file, on the CPU; a module or an
/// optimizer, which must have the same structure, takes over the values. Throws Error, changing
/// nothing, when names or shapes do not fit.
template <io::Saveable T, class Source>
requires requires(Source&& source) { io::load_archive(source); }
void load(T& value, Source&& path_or_stream) {
  io::unpack(io::load_archive(path_or_stream), value);
}

}  // namespace taeda::inline v0_2
