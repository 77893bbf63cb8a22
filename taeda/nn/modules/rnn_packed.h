// Recurrent networks over sequences of different lengths. For modules, and for the operations of
// libtorch's names.
#pragma once

#include "taeda/nn/modules/rnn.h"

namespace taeda::inline v0_2::nn::detail {

/// A network: its weights as ops/nn/rnn.h lists them.
struct PackedNetwork {
  CellKind kind;
  RNNShape shape;
  TensorList weights;
  bool training;
};

/// Each sequence gets what it would get alone, and its last states are those behind its own last
/// element. States are in the order that the sequences had before packing; undefined initial ones
/// are zero.
std::pair<PackedSequence, CellState> run_packed(const PackedNetwork& network,
                                                const PackedSequence& input, CellState initial);

}  // namespace taeda::inline v0_2::nn::detail
