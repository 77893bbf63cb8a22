// Recurrent networks: an operator for each layer.
//
// ONNX has the gates in another order and lists directions first; weights are put into its order by
// operators, so that they stay in the file under the names and with the values that they have.
#include "taeda/onnx/lower.h"

namespace taeda::inline v0_2::onnx {

namespace {

struct Network {
  const char* op;
  std::vector<size_t> gates;  ///< which of Taeda's gates ONNX's are, in its order
  size_t states;
  const char* activation;
};

/// What a call says besides its tensors.
struct Arguments {
  bool biases, bidirectional, batch_first;
  int64_t layers, directions;
};

/// (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
Arguments read_arguments(Call& c) {
  Arguments a{};
  a.biases = c.flag(3);
  a.layers = c.integer(4);
  a.bidirectional = c.flag(7);
  a.batch_first = c.flag(8);
  a.directions = a.bidirectional ? 2 : 1;
  if (c.flag(6) && c.real(5) != 0) c.refuse("it drops elements between layers by chance");
  return a;
}

/// [G H, ...] with its gates in ONNX's order.
std::string reordered(Call& c, const std::string& name, const Network& network, int64_t hidden) {
  if (network.gates.size() == 1) return name;
  const Names gates =
      c.emit_many("Split", {name, c.ints(std::vector<int64_t>(network.gates.size(), hidden))},
                  network.gates.size(), {{"axis", int64_t{0}}});
  Names order;
  for (const size_t gate : network.gates) order.push_back(gates[gate]);
  return c.emit("Concat", order, {{"axis", int64_t{0}}});
}

/// One tensor [directions, ...] of those of the directions.
std::string directions_of(Call& c, Names parts) {
  for (std::string& part : parts) part = c.unsqueeze(part, {0});
  return parts.size() == 1 ? parts[0] : c.emit("Concat", parts, {{"axis", int64_t{0}}});
}

struct Weights {
  std::string input, hidden, bias;
};

/// The weights of a layer, whose first is number `at` of the list.
Weights weights_of(Call& c, const Network& network, const Arguments& a, size_t at, int64_t hidden) {
  const size_t each = a.biases ? 4 : 2;
  Names input, recurrent, bias;
  for (int64_t d = 0; d < a.directions; ++d) {
    const auto w = [&](size_t k) {
      return reordered(c, c.lowering().name_of(c.ids(2)[at + static_cast<size_t>(d) * each + k]),
                       network, hidden);
    };
    input.push_back(w(0));
    recurrent.push_back(w(1));
    if (a.biases) bias.push_back(c.emit("Concat", {w(2), w(3)}, {{"axis", int64_t{0}}}));
  }
  return {directions_of(c, input), directions_of(c, recurrent),
          a.biases ? directions_of(c, bias) : std::string()};
}

/// The states of a layer out of those of all.
std::string layer_states(Call& c, const std::string& states, const Arguments& a, int64_t layer) {
  if (a.layers == 1) return states;
  return c.slice(states, 0, fixed(layer * a.directions), fixed((layer + 1) * a.directions));
}

void write_network(Call& c, const Network& network) {
  const Arguments a = read_arguments(c);
  const bool is_list = c.is<std::vector<ValueId>>(1);
  const size_t each = static_cast<size_t>(a.directions) * (a.biases ? 4 : 2);
  if (c.ids(2).size() != each * static_cast<size_t>(a.layers))
    c.refuse("its hidden states are projected");
  Names states;
  for (size_t s = 0; s < network.states; ++s)
    states.push_back(is_list ? c.lowering().name_of(c.ids(1)[s]) : c.in(1));
  const int64_t hidden = c.lowering().value(c.ids(2)[1]).sizes[1];
  std::string x = a.batch_first ? c.transpose(c.in(0), {1, 0, 2}) : c.in(0);
  std::vector<Names> last(network.states);
  for (int64_t layer = 0; layer < a.layers; ++layer) {
    const Weights w = weights_of(c, network, a, static_cast<size_t>(layer) * each, hidden);
    Names inputs{x, w.input, w.hidden, w.bias, ""};
    for (const std::string& s : states) inputs.push_back(layer_states(c, s, a, layer));
    Attributes attributes{{"hidden_size", hidden}};
    if (a.bidirectional) attributes.emplace("direction", std::string("bidirectional"));
    if (std::string(network.op) == "GRU") attributes.emplace("linear_before_reset", int64_t{1});
    if (network.activation)
      attributes.emplace("activations", std::vector<std::string>(static_cast<size_t>(a.directions),
                                                                 network.activation));
    const Names out = c.emit_many(network.op, inputs, 1 + network.states, attributes);
    // [T, D, N, H] to [T, N, D H]
    x = a.directions == 1
            ? c.squeeze(out[0], {1})
            : c.emit("Reshape", {c.transpose(out[0], {0, 2, 1, 3}), c.ints({0, 0, -1})});
    for (size_t s = 0; s < network.states; ++s) last[s].push_back(out[1 + s]);
  }
  c.give(a.batch_first ? c.transpose(x, {1, 0, 2}) : x, 0);
  for (size_t s = 0; s < network.states; ++s)
    c.give(a.layers == 1 ? last[s][0] : c.emit("Concat", last[s], {{"axis", int64_t{0}}}), 1 + s);
}

/// (input, hx, w_ih, w_hh, b_ih, b_hh): a network of one step.
void write_cell(Call& c, const Network& network) {
  const bool is_list = c.is<std::vector<ValueId>>(1);
  const int64_t hidden = c.fixed_size(3, 1);
  Names inputs{c.unsqueeze(c.in(0), {0})};
  for (const size_t i : {2, 3})
    inputs.push_back(c.unsqueeze(reordered(c, c.in(i), network, hidden), {0}));
  std::string bias;
  if (c.has(4))
    bias = c.unsqueeze(
        c.emit("Concat",
               {reordered(c, c.in(4), network, hidden), reordered(c, c.in(5), network, hidden)},
               {{"axis", int64_t{0}}}),
        {0});
  inputs.push_back(bias);
  inputs.emplace_back();
  for (size_t s = 0; s < network.states; ++s)
    inputs.push_back(c.unsqueeze(is_list ? c.lowering().name_of(c.ids(1)[s]) : c.in(1), {0}));
  Attributes attributes{{"hidden_size", hidden}};
  if (std::string(network.op) == "GRU") attributes.emplace("linear_before_reset", int64_t{1});
  if (network.activation)
    attributes.emplace("activations", std::vector<std::string>{network.activation});
  const Names out = c.emit_many(network.op, inputs, 1 + network.states, attributes);
  for (size_t s = 0; s < network.states; ++s) c.give(c.squeeze(out[1 + s], {0}), s);
}

Network lstm_network() { return {"LSTM", {0, 3, 1, 2}, 2, nullptr}; }
Network gru_network() { return {"GRU", {1, 0, 2}, 1, nullptr}; }
Network rnn_network(const char* activation) { return {"RNN", {0}, 1, activation}; }

constexpr Rule kRecurrent[] = {
    {"lstm", [](Call& c) { write_network(c, lstm_network()); }},
    {"gru", [](Call& c) { write_network(c, gru_network()); }},
    {"rnn_tanh", [](Call& c) { write_network(c, rnn_network("Tanh")); }},
    {"rnn_relu", [](Call& c) { write_network(c, rnn_network("Relu")); }},
    {"lstm_cell", [](Call& c) { write_cell(c, lstm_network()); }},
    {"gru_cell", [](Call& c) { write_cell(c, gru_network()); }},
    {"rnn_tanh_cell", [](Call& c) { write_cell(c, rnn_network("Tanh")); }},
    {"rnn_relu_cell", [](Call& c) { write_cell(c, rnn_network("Relu")); }},
};

}  // namespace

std::span<const Rule> recurrent_rules() { return kRecurrent; }

}  // namespace taeda::inline v0_2::onnx
