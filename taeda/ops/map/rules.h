// Rules of operations in maps over samples, in kinds: Note [Rules of maps] in rules.cpp.
#pragma once

#include <unordered_map>

#include "taeda/ops/map/call.h"

namespace taeda::inline v0_2::map_rules {

using Table = std::unordered_map<std::string_view, MapRule>;
/// Each name in `names`, between blanks, has the rule.
void add(Table& table, MapRule rule, std::string_view names);

bool pointwise(MapCall& call);
/// For what takes more dimensions in front by itself.
bool as_it_is(MapCall& call);
/// For what is made of other operations. `false` where it is not with these arguments, and in
/// place.
bool by_parts(MapCall& call);
/// As it is, with more dimensions in front: every operand is mapped, all with as many dimensions.
bool in_front(MapCall& call);
void add_shapes(Table& table);
void add_reductions(Table& table);
void add_products(Table& table);
void add_layers(Table& table);
void add_losses(Table& table);
void add_indexing(Table& table);

/// A dimension of a sample, in a tensor of all samples.
int64_t behind_samples(int64_t dim, int64_t dims);
DimVector behind_samples(IntArrayRef dims_of, int64_t dims);
/// The same of argument `i`: a dimension, several, or none of a sample with `dims`.
void move_dim(MapCall& call, size_t i, int64_t dims);
/// Runs the call along argument `i`, a dimension or several of a sample with `dims`.
bool run_along(MapCall& call, size_t i, int64_t dims);
/// The elements of a sample in one dimension: [samples, elements].
Tensor rows_of(const Tensor& all);
/// The sizes of a sample.
DimVector sample_sizes(const Tensor& all);

}  // namespace taeda::inline v0_2::map_rules
