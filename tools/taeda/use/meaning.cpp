#include "tools/taeda/use/meaning.h"

#include "tools/taeda/json.h"
#include "tools/taeda/train/options.h"

namespace taeda::tool {

namespace {

std::string list_text(const Json& list) { return list.dump_replacing(); }

/// What stands in every file, whatever the task.
std::map<std::string, std::string> common(const About& about) {
  std::map<std::string, std::string> out = {
      {"task", about.task}, {"model", about.model}, {"about", about.json()}};
  if (!about.classes.empty()) out["classes"] = list_text(about.classes);
  return out;
}

void describe_alone(const About& about, Meaning& m) {
  m.metadata["mean"] = list_text(about.mean);
  m.metadata["stddev"] = list_text(about.stddev);
  m.output = "scores";
  m.output_text = "a score for each of `classes`; softmax makes probabilities of them";
}

Meaning of_table(const About& about, bool whole) {
  Meaning m{.input = "rows", .metadata = common(about)};
  Json names = Json::array(), words = Json::object();
  for (const data::CsvColumn& column : about.columns) {
    names.push_back(column.name);
    if (!column.words.empty()) words.set(column.name, column.words);
  }
  m.metadata["columns"] = list_text(names);
  if (!words.empty()) m.metadata["categories"] = list_text(words);
  // A table without a header has no name for it.
  const std::string target = about.header ? about.target : "prediction";
  m.metadata["target"] = target;
  if (!whole) {
    describe_alone(about, m);
    m.input_text =
        "`columns` of the table, each less its `mean` and divided by its `stddev`" +
        std::string(words.empty()
                        ? ""
                        : "; a column of `categories` becomes one for each of its words, 1 or 0");
    if (!about.classes.empty()) return m;
    m.metadata["target_mean"] = exact_text(about.target_mean);
    m.metadata["target_stddev"] = exact_text(about.target_stddev);
    m.output_text = "times `target_stddev` plus `target_mean`: " + target;
    return m;
  }
  m.input_text = "`columns` of the table, as numbers in the table's own units" +
                 std::string(words.empty() ? "" : "; a word is its place in `categories`, from 0") +
                 (about.missing == "mean" ? "; NaN where there is no value" : "");
  m.output = target == m.input ? target + "_told" : target;
  m.output_text = about.classes.empty() ? target + ", in the table's own unit"
                                        : "the probability of each of `classes` of " + target;
  return m;
}

Meaning of_pictures(const About& about, bool whole) {
  Meaning m{.input = "pictures", .metadata = common(about)};
  const std::string colours = about.shape.channels == 1 ? "grey" : "red, green and blue";
  if (!whole) {
    describe_alone(about, m);
    m.input_text = colours + " from 0 to 1, less `mean` and divided by `stddev` of the channel";
    return m;
  }
  m.input_text = colours + " as bytes from 0 to 255";
  m.output = "class";
  m.output_text = "the probability of each of `classes`";
  return m;
}

Meaning of_text(const About& about) {
  Meaning m{.input = "tokens", .output = "scores", .metadata = common(about)};
  std::vector<int> bytes;
  for (const char c : about.vocabulary) bytes.push_back(static_cast<unsigned char>(c));
  m.metadata["vocabulary"] = list_text(bytes);
  m.input_text = "bytes of the text, as their places in `vocabulary`, from 0";
  m.output_text = "a score for each byte of `vocabulary` to come next";
  return m;
}

}  // namespace

Meaning meaning_of(const About& about, bool whole) {
  if (about.task == "text") return of_text(about);
  return about.task == "csv" ? of_table(about, whole) : of_pictures(about, whole);
}

}  // namespace taeda::tool
