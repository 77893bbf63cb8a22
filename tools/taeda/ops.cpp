// `taeda ops`: the operations that the library declares.
#include <cstdio>

#include "taeda/base/nearest.h"
#include "taeda/ops/operations.h"
#include "tools/taeda/command.h"
#include "tools/taeda/json.h"

namespace taeda::tool {

namespace {

struct OpsOptions {
  std::string name;
  bool json = false;
};

/// Every name that an operation goes by: with its namespace, its second names, in place and with
/// out.
bool is_called(const Operation& o, const std::string& name) {
  const std::string space = o.space.empty() ? "" : std::string(o.space) + ".";
  const std::string known = std::string(o.name) + " " + std::string(o.second_names);
  for (size_t begin = 0; begin <= known.size();) {
    const size_t end = std::min(known.find(' ', begin), known.size());
    const std::string word = known.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    for (const std::string& called : {word, space + word})
      if (name == called || (o.in_place && name == called + "_") ||
          (o.out && name == called + "_out"))
        return true;
  }
  return false;
}

Json to_json(const Operation& o) {
  Json arguments = Json::array();
  for (const OperationArgument& a : o.arguments) {
    Json argument = {{"name", a.name}, {"type", a.type}};
    if (a.has_default) argument.set("default", a.default_value);
    if (a.keyword_only) argument.set("keyword_only", true);
    arguments.push_back(argument);
  }
  return {{"name", o.name},
          {"namespace", o.space},
          {"family", o.family},
          {"arguments", arguments},
          {"returns", o.returns},
          {"results", o.results},
          {"function", o.function},
          {"method", o.method},
          {"receiver", o.receiver},
          {"in_place", o.in_place},
          {"out", o.out},
          {"view", o.view},
          {"autocast", o.autocast},
          {"dtypes", o.dtypes},
          {"second_names", o.second_names},
          {"doc", o.doc}};
}

void print_forms(const Operation& o) {
  std::string forms;
  const auto add = [&](bool is, const std::string& text) {
    if (is) forms += (forms.empty() ? "" : "; ") + text;
  };
  const std::string name(o.name);
  add(o.method && o.function, "method");
  add(o.in_place, "in place " + name + "_");
  add(o.out, name + "_out");
  add(o.view == "always", "a view");
  add(o.view == "maybe", "a view, or a copy where there is none");
  add(!o.autocast.empty(), "autocast " + std::string(o.autocast));
  add(!o.dtypes.empty(), "dtypes " + std::string(o.dtypes));
  add(!o.results.empty(), "results " + std::string(o.results));
  add(!o.second_names.empty(), "also " + std::string(o.second_names));
  if (!forms.empty()) std::printf("    %s\n", forms.c_str());
}

[[noreturn]] void throw_unknown(const std::string& name) {
  std::vector<std::string> names;
  for (const Operation& o : operations()) names.emplace_back(o.name);
  const std::string nearest = nearest_name(name, names);
  throw UsageError("no operation is called '" + name + "'" +
                   (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

int run_ops(const OpsOptions& options) {
  Json list = Json::array();
  bool any = false;
  std::string_view family, doc;
  for (const Operation& o : operations()) {
    if (!options.name.empty() && !is_called(o, options.name)) continue;
    any = true;
    if (options.json) {
      list.push_back(to_json(o));
      continue;
    }
    if (o.family != family)
      std::printf("%s%s\n", family.empty() ? "" : "\n", std::string(o.family).c_str());
    family = o.family;
    std::printf("  %s\n", o.signature().c_str());
    if (!options.name.empty()) {
      print_forms(o);
      if (o.doc != doc) std::printf("    %s\n", std::string(o.doc).c_str());
      doc = o.doc;
    }
  }
  if (!any) throw_unknown(options.name);
  if (options.json) print_json(list);
  return 0;
}

}  // namespace

void add_ops(const Command& app) {
  const Command c = app.add_command("ops", "List the operations, or tell about one",
                                    {"taeda ops", "taeda ops linalg.solve", "taeda ops --json"});
  auto options = std::make_shared<OpsOptions>();
  c.add_plain("name", options->name, "An operation's name, as PyTorch's");
  c.add_flag("--json", options->json, "Print JSON");
  c.on_call([options] { return run_ops(*options); });
}

}  // namespace taeda::tool
