// `taeda completion`: what a shell needs to complete command lines, made from the commands
// themselves.
#include <algorithm>
#include <cstdio>

#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

/// A command with its path ("train csv"; empty for taeda itself) and what may follow it.
struct Place {
  std::string path;
  std::vector<std::pair<std::string, std::string>> commands, flags;  ///< with descriptions
};

std::string one_line(std::string text) {
  text = text.substr(0, text.find('\n'));
  std::replace(text.begin(), text.end(), '\'', ' ');
  return text;
}

void collect(const Command& command, const std::string& path, std::vector<Place>& out) {
  Place place{path, {}, {}};
  for (const Command& sub : command.commands())
    place.commands.emplace_back(sub.name(), one_line(sub.description()));
  for (const auto& [flag, description] : command.flags())
    place.flags.emplace_back(flag, one_line(description));
  out.push_back(place);
  for (const Command& sub : command.commands())
    collect(sub, path.empty() ? sub.name() : path + " " + sub.name(), out);
}

std::string words(const Place& place) {
  std::string out;
  for (const auto* list : {&place.commands, &place.flags})
    for (const auto& [name, description] : *list) out += (out.empty() ? "" : " ") + name;
  return out;
}

/// A function that finds out which command is being typed, and the words that may follow.
std::string bash_script(const std::vector<Place>& places) {
  std::string out =
      "# bash completion of taeda:  source <(taeda completion bash)\n"
      "_taeda() {\n"
      "  local path='' word next words\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    next=\"${path:+$path }$word\"\n"
      "    case \"$next\" in\n      ";
  std::string cases;
  for (const Place& p : places)
    if (!p.path.empty()) cases += (cases.empty() ? "'" : " | '") + p.path + "'";
  out += cases +
         ") path=$next ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$path\" in\n";
  for (const Place& p : places) out += "    '" + p.path + "') words='" + words(p) + "' ;;\n";
  return out +
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
         "}\n"
         "complete -o default -F _taeda taeda\n";
}

std::string zsh_script(const std::vector<Place>& places) {
  std::string out =
      "#compdef taeda\n"
      "# zsh completion of taeda:  taeda completion zsh > \"${fpath[1]}/_taeda\"\n"
      "_taeda() {\n"
      "  local place='' word\n"
      "  local -a choices\n"
      "  for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
      "    case \"${place:+$place }$word\" in\n";
  for (const Place& p : places)
    if (!p.path.empty()) out += "      '" + p.path + "') place='" + p.path + "' ;;\n";
  out +=
      "    esac\n"
      "  done\n"
      "  case \"$place\" in\n";
  for (const Place& p : places) {
    out += "    '" + p.path + "') choices=(";
    for (const auto* list : {&p.commands, &p.flags})
      for (const auto& [name, description] : *list) {
        std::string text = description;
        for (size_t at = 0; (at = text.find(':', at)) != std::string::npos; at += 2)
          text.insert(at, "\\");
        out += " '" + name + ":" + text + "'";
      }
    out += ") ;;\n";
  }
  return out +
         "  esac\n"
         "  _describe 'taeda' choices || _files\n"
         "}\n"
         "compdef _taeda taeda\n";
}

std::string fish_script(const std::vector<Place>& places) {
  std::string out = "# fish completion of taeda:  taeda completion fish | source\n";
  for (const Place& p : places) {
    std::string condition;
    std::string rest = p.path;
    while (!rest.empty()) {
      const size_t space = rest.find(' ');
      condition += (condition.empty() ? "" : "; and ") +
                   std::string("__fish_seen_subcommand_from ") + rest.substr(0, space);
      rest = space == std::string::npos ? "" : rest.substr(space + 1);
    }
    std::string names;
    for (const auto& [name, description] : p.commands) names += " " + name;
    if (!names.empty())
      condition += (condition.empty() ? "" : "; and ") +
                   std::string("not __fish_seen_subcommand_from") + names;
    for (const auto& [name, description] : p.commands)
      out +=
          "complete -c taeda -f -n '" + condition + "' -a " + name + " -d '" + description + "'\n";
    for (const auto& [name, description] : p.flags)
      out += "complete -c taeda" + (condition.empty() ? "" : " -n '" + condition + "'") + " -l " +
             name.substr(2) + " -d '" + description + "'\n";
  }
  return out;
}

}  // namespace

void add_completion(const Command& app) {
  const Command c =
      app.add_command("completion", "Print what a shell needs to complete commands",
                      {"source <(taeda completion bash)", "taeda completion zsh > ~/.zfunc/_taeda",
                       "taeda completion fish > ~/.config/fish/completions/taeda.fish"});
  auto shell = std::make_shared<std::string>();
  c.add_plain("shell", *shell, "bash, zsh or fish").required();
  c.on_call([app, shell] {
    std::vector<Place> places;
    collect(app, "", places);
    if (*shell != "bash" && *shell != "zsh" && *shell != "fish")
      throw UsageError("the shell must be bash, zsh or fish, got " + *shell);
    std::printf("%s", (*shell == "bash"  ? bash_script
                       : *shell == "zsh" ? zsh_script
                                         : fish_script)(places)
                          .c_str());
    return 0;
  });
}

}  // namespace taeda::tool
