// Written by tests/golden/samplers.py with PyTorch 1.13.0.
#pragma once

#include <cstddef>
#include <vector>

namespace taeda::golden {

inline const std::vector<std::vector<size_t>> kRandom = {
    {6, 0, 3, 7, 8, 5, 1, 9, 2, 4},
    {0, 9, 6, 1, 7, 2, 5, 3, 4, 8},
};
inline const std::vector<std::vector<size_t>> kRandomDefault = {
    {7, 6, 5, 4, 8, 3, 2, 9, 0, 1},
    {8, 3, 0, 5, 9, 1, 6, 2, 4, 7},
};
inline const std::vector<std::vector<size_t>> kReplacement = {
    {6, 8, 7, 7, 0, 0, 0, 5, 1, 9, 4, 1},
    {5, 9, 6, 9, 5, 4, 0, 4, 6, 9, 1, 6},
};
inline const std::vector<std::vector<size_t>> kMoreThanOnce = {
    {2, 3, 1, 0, 3, 2, 1, 0, 0, 3},
    {3, 2, 0, 1, 1, 3, 2, 0, 1, 0},
};
inline const std::vector<std::vector<size_t>> kSubset = {
    {3, 21, 8, 13, 5},
    {13, 8, 21, 5, 3},
};
inline const std::vector<std::vector<size_t>> kWeighted = {
    {1, 1, 4, 4, 4, 4, 1, 4, 4, 4, 0, 0},
    {1, 0, 1, 4, 0, 4, 1, 5, 4, 4, 4, 1},
};
inline const std::vector<std::vector<size_t>> kWeightedOnce = {
    {1, 4, 0, 3},
    {4, 5, 1, 0},
};
inline const std::vector<std::vector<size_t>> kDistributed = {
    {0, 3, 6, 9},
    {1, 4, 7, 0},
    {2, 5, 8, 1},
    {0, 3, 6},
    {1, 4, 7},
    {2, 5, 8},
    {0, 1, 9, 6},
    {7, 8, 2, 0},
    {5, 3, 4, 7},
    {0, 1, 9},
    {7, 8, 2},
    {5, 3, 4},
};
inline const std::vector<std::vector<size_t>> kDistributedFew = {
    {0},
    {1},
    {0},
    {1},
    {0},
};
inline const std::vector<std::vector<size_t>> kLoader = {
    {0, 9, 3, 6, 1, 5, 7, 4, 8, 2},
    {8, 5, 4, 7, 1, 3, 6, 9, 2, 0},
};
inline const std::vector<std::vector<size_t>> kLoaderDefault = {
    {3, 1, 7, 0, 8, 2, 5, 6, 4, 9},
    {2, 6, 5, 8, 9, 0, 1, 3, 4, 7},
};

}  // namespace taeda::golden
