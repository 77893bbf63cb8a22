#include "taeda/distributed/group/texts.h"

#include <algorithm>
#include <cstring>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::distributed::detail {

namespace {

ProcessGroupPtr given_or_default(const ProcessGroupPtr& group) {
  return group ? group : default_group();
}

// Note [What a rank says of its text]
// Lengths are what other ranks say. Memory for a text is taken as the text arrives, a piece at a
// time, so a rank that announces more than it sends costs the others one piece and an error of the
// collective that it left them in.

/// Of a text, and of the texts of one call together.
constexpr int64_t kMostBytes = int64_t{1} << 40;
constexpr int64_t kPiece = int64_t{16} << 20;

/// Calls f(from, bytes) for each piece of a text.
template <class F>
void for_pieces(int64_t length, F&& f) {
  for (int64_t from = 0; from < length; from += kPiece) f(from, std::min(kPiece, length - from));
}

/// A piece of a text, with zeros behind its end.
Tensor piece_of(const std::string& text, int64_t from, int64_t bytes) {
  const Tensor out = zeros({bytes}, kByte);
  const auto size = static_cast<int64_t>(text.size());
  if (from < size)
    std::memcpy(out.data_ptr(), text.data() + from,
                static_cast<size_t>(std::min(bytes, size - from)));
  return out;
}

/// Takes over what the piece has of a text of this length.
void append(std::string& text, const Tensor& piece, int64_t from, int64_t length) {
  const int64_t bytes = std::min(piece.numel(), length - from);
  if (bytes > 0)
    text.append(static_cast<const char*>(piece.data_ptr()), static_cast<size_t>(bytes));
}

Tensor lengths_of(const std::vector<std::string>& texts) {
  const Tensor out = zeros({static_cast<int64_t>(texts.size())}, kLong);
  for (size_t i = 0; i < texts.size(); ++i)
    out.data_ptr<int64_t>()[i] = static_cast<int64_t>(texts[i].size());
  return out;
}

void check_length(int64_t length) {
  TAEDA_CHECK_AS(DistributedError, length >= 0 && length <= kMostBytes,
                 "a rank says that its text has ", length, " bytes");
}

/// Of all ranks' texts; checked.
std::vector<int64_t> checked(const Tensor& lengths) {
  std::vector<int64_t> out(lengths.data_ptr<int64_t>(),
                           lengths.data_ptr<int64_t>() + lengths.numel());
  for (const int64_t length : out) check_length(length);
  return out;
}

int64_t largest(const std::vector<int64_t>& lengths) {
  return lengths.empty() ? 0 : *std::ranges::max_element(lengths);
}

/// How long every rank's text is.
std::vector<int64_t> gather_lengths(const std::string& text, const ProcessGroupPtr& group,
                                    Site site) {
  const Tensor all = zeros({group->size()}, kLong);
  all_gather_into_tensor(all, lengths_of({text}), group, false, site);
  return checked(all);
}

}  // namespace

std::vector<std::string> all_gather_texts(const std::string& text, const ProcessGroupPtr& group,
                                          Site site) {
  const ProcessGroupPtr g = given_or_default(group);
  if (!g->is_member()) return {};
  const std::vector<int64_t> lengths = gather_lengths(text, g, site);
  std::vector<std::string> out(lengths.size());
  for_pieces(largest(lengths), [&](int64_t from, int64_t bytes) {
    const Tensor table = zeros({g->size(), bytes}, kByte);
    all_gather_into_tensor(table, piece_of(text, from, bytes), g, false, site);
    for (size_t r = 0; r < out.size(); ++r)
      append(out[r], table.select(0, static_cast<int64_t>(r)), from, lengths[r]);
  });
  return out;
}

std::vector<std::string> gather_texts(const std::string& text, int dst,
                                      const ProcessGroupPtr& group, Site site) {
  const ProcessGroupPtr g = given_or_default(group);
  if (!g->is_member()) return {};
  const std::vector<int64_t> lengths = gather_lengths(text, g, site);
  const bool here = g->rank() == get_group_rank(g, dst);
  std::vector<std::string> out(here ? lengths.size() : 0);
  for_pieces(largest(lengths), [&](int64_t from, int64_t bytes) {
    std::vector<Tensor> rows;
    for (size_t r = 0; r < out.size(); ++r) rows.push_back(zeros({bytes}, kByte));
    gather(piece_of(text, from, bytes), rows, dst, g, false, site);
    for (size_t r = 0; r < out.size(); ++r) append(out[r], rows[r], from, lengths[r]);
  });
  return out;
}

std::vector<std::string> broadcast_texts(const std::vector<std::string>& texts, int src,
                                         const ProcessGroupPtr& group, Site site) {
  const ProcessGroupPtr g = given_or_default(group);
  if (!g->is_member()) return texts;
  const Tensor said = lengths_of(texts);
  broadcast(said, src, g, false, site);
  const std::vector<int64_t> lengths = checked(said);
  const bool here = g->rank() == get_group_rank(g, src);
  int64_t total = 0;
  for (const int64_t length : lengths) check_length(total += length);
  std::string all;
  if (here)
    for (const std::string& text : texts) all += text;
  for_pieces(total, [&](int64_t from, int64_t bytes) {
    const Tensor piece = here ? piece_of(all, from, bytes) : zeros({bytes}, kByte);
    broadcast(piece, src, g, false, site);
    if (!here) append(all, piece, from, total);
  });
  std::vector<std::string> out;
  size_t at = 0;
  for (const int64_t length : lengths) {
    out.push_back(all.substr(at, static_cast<size_t>(length)));
    at += static_cast<size_t>(length);
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
  const Tensor said = here ? lengths_of(texts) : zeros({g->size()}, kLong);
  broadcast(said, src, g, false, site);
  const std::vector<int64_t> lengths = checked(said);
  std::string out;
  for_pieces(largest(lengths), [&](int64_t from, int64_t bytes) {
    std::vector<Tensor> rows;
    if (here)
      for (const std::string& text : texts) rows.push_back(piece_of(text, from, bytes));
    const Tensor row = zeros({bytes}, kByte);
    scatter(row, rows, src, g, false, site);
    append(out, row, from, lengths[static_cast<size_t>(g->rank())]);
  });
  return out;
}

}  // namespace taeda::inline v0_2::distributed::detail
