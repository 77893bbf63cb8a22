#include "tools/taeda/json.h"

#include <algorithm>
#include <cstdio>
#include <istream>
#include <nlohmann/json.hpp>

namespace taeda::tool {

namespace {

using Value = nlohmann::ordered_json;

bool is_member(const Value& v) { return v.is_array() && v.size() == 2 && v[0].is_string(); }

}  // namespace

Json::Json(std::shared_ptr<Value> whole) : whole_(std::move(whole)), value_(whole_.get()) {}

Json::Json() : Json(std::make_shared<Value>()) {}
Json::Json(std::string_view text) : Json(std::make_shared<Value>(text)) {}
Json::Json(bool value) : Json(std::make_shared<Value>(value)) {}
Json::Json(double value) : Json(std::make_shared<Value>(value)) {}
Json::Json(int64_t value) : Json(std::make_shared<Value>(value)) {}
Json::Json(uint64_t value) : Json(std::make_shared<Value>(value)) {}
Json::Json(const std::map<std::string, std::string>& members)
    : Json(std::make_shared<Value>(members)) {}

Json::Json(std::initializer_list<Json> parts) : Json(array()) {
  const bool members = std::ranges::all_of(parts, is_member,
                                           [](const Json& p) -> const Value& { return *p.value_; });
  if (members) *value_ = Value::object();
  for (const Json& p : parts)
    if (members)
      value_->emplace((*p.value_)[0].get_ref<const std::string&>(), Value((*p.value_)[1]));
    else
      value_->push_back(*p.value_);
}

Json Json::array() { return Json(std::make_shared<Value>(Value::array())); }
Json Json::object() { return Json(std::make_shared<Value>(Value::object())); }
Json Json::parse(const std::string& text) {
  return Json(std::make_shared<Value>(Value::parse(text)));
}
Json Json::read(const std::string& text) {
  return Json(std::make_shared<Value>(Value::parse(text, nullptr, /*allow_exceptions=*/false)));
}
Json Json::read(std::istream& in) {
  return Json(std::make_shared<Value>(Value::parse(in, nullptr, /*allow_exceptions=*/false)));
}

bool Json::is_discarded() const { return value_->is_discarded(); }
bool Json::is_null() const { return value_->is_null(); }
bool Json::is_object() const { return value_->is_object(); }
bool Json::is_array() const { return value_->is_array(); }
bool Json::is_string() const { return value_->is_string(); }
bool Json::is_boolean() const { return value_->is_boolean(); }
bool Json::is_number() const { return value_->is_number(); }
bool Json::is_number_float() const { return value_->is_number_float(); }
bool Json::empty() const { return value_->empty(); }
size_t Json::size() const { return value_->size(); }

bool Json::contains(const std::string& name) const { return value_->contains(name); }
Json Json::at(const std::string& name) const { return {whole_, value_->at(name)}; }
const Json Json::operator[](const std::string& name) const {
  return {whole_, const_cast<Value&>(std::as_const(*value_)[name])};
}
const Json Json::operator[](size_t place) const {
  return {whole_, const_cast<Value&>(std::as_const(*value_)[place])};
}

std::vector<Json> Json::elements() const {
  std::vector<Json> out;
  out.reserve(value_->size());
  for (Value& element : *value_) out.push_back({whole_, element});
  return out;
}

std::vector<std::pair<std::string, Json>> Json::members() const {
  std::vector<std::pair<std::string, Json>> out;
  for (const auto& [name, member] : value_->items()) out.emplace_back(name, Json(whole_, member));
  return out;
}

template <class T>
T Json::get() const {
  return value_->get<T>();
}
template bool Json::get() const;
template int64_t Json::get() const;
template double Json::get() const;
template std::string Json::get() const;
template std::vector<int> Json::get() const;
template std::vector<int64_t> Json::get() const;
template std::vector<double> Json::get() const;
template std::vector<std::string> Json::get() const;

template <class T>
T Json::value(const std::string& name, const T& otherwise) const {
  return value_->value(name, otherwise);
}
template int Json::value(const std::string&, const int&) const;
template int64_t Json::value(const std::string&, const int64_t&) const;
template double Json::value(const std::string&, const double&) const;
template std::string Json::value(const std::string&, const std::string&) const;

Json::Value& Json::own() {
  const bool alone = whole_.use_count() == 1 && value_ == whole_.get();
  if (!alone) *this = Json(std::make_shared<Value>(*value_));
  return *value_;
}

Json::Value Json::taken(Json&& from) {
  return from.whole_.use_count() == 1 && from.value_ == from.whole_.get() ? std::move(*from.value_)
                                                                          : *from.value_;
}

Json& Json::set(const std::string& name, Json value) {
  own()[name] = taken(std::move(value));
  return *this;
}

void Json::push_back(Json element) { own().push_back(taken(std::move(element))); }

std::string Json::dump() const { return value_->dump(); }

std::string Json::dump_replacing(int indent) const {
  return value_->dump(indent, ' ', false, Value::error_handler_t::replace);
}

void print_json(const Json& value) { std::printf("%s\n", value.dump_replacing(2).c_str()); }

}  // namespace taeda::tool
