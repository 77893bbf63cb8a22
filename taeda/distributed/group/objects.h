// Objects between ranks, as JSON and never as code. Needs nlohmann-json, so that programs include
// it by itself.
#pragma once

#include <nlohmann/json.hpp>

#include "taeda/distributed/group/texts.h"

namespace taeda::inline v0_2::distributed {

using Object = nlohmann::json;

namespace detail {

inline std::vector<std::string> to_texts(const std::vector<Object>& objects) {
  std::vector<std::string> out;
  for (const Object& object : objects) out.push_back(object.dump());
  return out;
}

inline std::vector<Object> to_objects(const std::vector<std::string>& texts) {
  std::vector<Object> out;
  for (const std::string& text : texts) out.push_back(Object::parse(text));
  return out;
}

}  // namespace detail

/// `object_list` becomes the objects of all ranks.
inline void all_gather_object(std::vector<Object>& object_list, const Object& obj,
                              const ProcessGroupPtr& group = {}, Site site = Site::current()) {
  object_list = detail::to_objects(detail::all_gather_texts(obj.dump(), group, site));
}

/// `object_list` becomes that of `src`; it has as many objects on all ranks.
inline void broadcast_object_list(std::vector<Object>& object_list, int src = 0,
                                  const ProcessGroupPtr& group = {}, Site site = Site::current()) {
  object_list =
      detail::to_objects(detail::broadcast_texts(detail::to_texts(object_list), src, group, site));
}

/// On `dst`, `*object_gather_list` becomes the objects of all ranks.
inline void gather_object(const Object& obj, std::vector<Object>* object_gather_list = nullptr,
                          int dst = 0, const ProcessGroupPtr& group = {},
                          Site site = Site::current()) {
  auto objects = detail::to_objects(detail::gather_texts(obj.dump(), dst, group, site));
  if (object_gather_list && !objects.empty()) *object_gather_list = std::move(objects);
}

/// The first of `scatter_object_output_list` becomes this rank's of the input list of `src`.
inline void scatter_object_list(std::vector<Object>& scatter_object_output_list,
                                const std::vector<Object>& scatter_object_input_list = {},
                                int src = 0, const ProcessGroupPtr& group = {},
                                Site site = Site::current()) {
  const std::string text =
      detail::scatter_text(detail::to_texts(scatter_object_input_list), src, group, site);
  if (text.empty()) return;
  if (scatter_object_output_list.empty()) scatter_object_output_list.emplace_back();
  scatter_object_output_list[0] = Object::parse(text);
}

}  // namespace taeda::distributed
