#include "taeda/distributed/group/texts.h"

#include <cstring>

#include "taeda/base/error.h"
#include "taeda/ops/create.h"
#include "taeda/ops/shape.h"

namespace taeda::inline v0_2::distributed::detail {

namespace {

ProcessGroupPtr given_or_default(const ProcessGroupPtr& group) {
  return group ? group : default_group();
}

/// Of a text, and of the texts of one call together.
constexpr int64_t kMostBytes = int64_t{1} << 40;

/// A text with zeros behind it.
Tensor bytes_of(const std::string& text, int64_t length) {
  const Tensor out = zeros({length}, kByte);
  if (!text.empty()) std::memcpy(out.data_ptr(), text.data(), text.size());
  return out;
}

/// The first bytes of a row.
std::string text_of(const Tensor& row, int64_t length) {
  return {static_cast<const char*>(row.data_ptr()), static_cast<size_t>(length)};
}

Tensor lengths_of(const std::vector<std::string>& texts) {
  const Tensor out = zeros({static_cast<int64_t>(texts.size())}, kLong);
  for (size_t i = 0; i < texts.size(); ++i)
    out.data_ptr<int64_t>()[i] = static_cast<int64_t>(texts[i].size());
  return out;
}

/// Lengths are what other ranks say.
void check_length(int64_t length) {
  TAEDA_CHECK_AS(DistributedError, length >= 0 && length <= kMostBytes,
                 "a rank says that its text has ", length, " bytes");
}

int64_t largest(const Tensor& lengths) {
  int64_t out = 0;
  for (int64_t i = 0; i < lengths.numel(); ++i) {
    check_length(lengths.data_ptr<int64_t>()[i]);
    out = std::max(out, lengths.data_ptr<int64_t>()[i]);
  }
  return out;
}

std::vector<std::string> rows_of(const Tensor& table, const Tensor& lengths) {
  std::vector<std::string> out;
  for (int64_t i = 0; i < lengths.numel(); ++i)
    out.push_back(text_of(table.select(0, i), lengths.data_ptr<int64_t>()[i]));
  return out;
}

/// How long every rank's text is.
Tensor gather_lengths(const std::string& text, const ProcessGroupPtr& group, Site site) {
  const Tensor all = zeros({group->size()}, kLong);
  all_gather_into_tensor(all, lengths_of({text}), group, false, site);
  return all;
}

}  // namespace

std::vector<std::string> all_gather_texts(const std::string& text, const ProcessGroupPtr& group,
                                          Site site) {
  const ProcessGroupPtr g = given_or_default(group);
  if (!g->is_member()) return {};
  const Tensor lengths = gather_lengths(text, g, site);
  const int64_t longest = largest(lengths);
  const Tensor table = zeros({g->size(), longest}, kByte);
  all_gather_into_tensor(table, bytes_of(text, longest), g, false, site);
  return rows_of(table, lengths);
}

std::vector<std::string> gather_texts(const std::string& text, int dst,
                                      const ProcessGroupPtr& group, Site site) {
  const ProcessGroupPtr g = given_or_default(group);
  if (!g->is_member()) return {};
  const Tensor lengths = gather_lengths(text, g, site);
  const int64_t longest = largest(lengths);
  std::vector<Tensor> rows;
  const bool here = g->rank() == get_group_rank(g, dst);
  for (int r = 0; here && r < g->size(); ++r) rows.push_back(zeros({longest}, kByte));
  gather(bytes_of(text, longest), rows, dst, g, false, site);
  std::vector<std::string> out;
  for (size_t r = 0; r < rows.size(); ++r)
    out.push_back(text_of(rows[r], lengths.data_ptr<int64_t>()[r]));
  return out;
}

std::vector<std::string> broadcast_texts(const std::vector<std::string>& texts, int src,
                                         const ProcessGroupPtr& group, Site site) {
  const ProcessGroupPtr g = given_or_default(group);
  if (!g->is_member()) return texts;
  const Tensor lengths = lengths_of(texts);
  broadcast(lengths, src, g, false, site);
  const bool here = g->rank() == get_group_rank(g, src);
  int64_t total = 0;
  for (int64_t i = 0; i < lengths.numel(); ++i) {
    check_length(lengths.data_ptr<int64_t>()[i]);
    total += lengths.data_ptr<int64_t>()[i];
    check_length(total);
  }
  std::string all;
  for (const std::string& text : texts) all += text;
  const Tensor data = here ? bytes_of(all, total) : zeros({total}, kByte);
  broadcast(data, src, g, false, site);
  std::vector<std::string> out;
  int64_t at = 0;
  for (int64_t i = 0; i < lengths.numel(); ++i) {
    const int64_t n = lengths.data_ptr<int64_t>()[i];
    out.push_back(text_of(data.narrow(0, at, n), n));
    at += n;
  }
  return out;
}

std::string scatter_text(const std::vector<std::string>& texts, int src,
                         const ProcessGroupPtr& group, Site site) {
  const ProcessGroupPtr g = given_or_default(group);
  if (!g->is_member()) return {};
  const bool here = g->rank() == get_group_rank(g, src);
  TAEDA_CHECK_VALUE(!here || static_cast<int>(texts.size()) == g->size(),
                    "scatter_object_list: expected an object for each of ", g->size(),
                    " ranks, got ", texts.size());
  const Tensor lengths = here ? lengths_of(texts) : zeros({g->size()}, kLong);
  broadcast(lengths, src, g, false, site);
  const int64_t longest = largest(lengths);
  std::vector<Tensor> rows;
  for (size_t r = 0; here && r < texts.size(); ++r) rows.push_back(bytes_of(texts[r], longest));
  const Tensor row = zeros({longest}, kByte);
  scatter(row, rows, src, g, false, site);
  return text_of(row, lengths.data_ptr<int64_t>()[g->rank()]);
}

}  // namespace taeda::inline v0_2::distributed::detail
