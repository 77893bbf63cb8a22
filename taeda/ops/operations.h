// What the library knows of its own operations: the declarations of ops/*.h as data, for tools,
// bindings and tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taeda::inline v0_2 {

/// An argument as it is declared in C++.
struct OperationArgument {
  std::string_view name;           ///< as PyTorch's, but for `self`, which functions call `input`
  std::string_view type;           ///< "const Tensor&", "IntArrayRef"
  std::string_view default_value;  ///< C++ text; empty if there is none
  bool has_default = false;
  bool keyword_only = false;  ///< Python takes it by keyword alone
};

/// One overload of an operation. Lists are words between blanks.
struct Operation {
  std::string_view name;
  std::string_view space;    ///< "linalg", "fft", or empty for namespace taeda
  std::string_view family;   ///< the header below ops/, without its ending
  std::string_view returns;  ///< "Tensor", "std::tuple<Tensor, Tensor>"
  bool function = false;     ///< a free function
  bool method = false;       ///< a method of Tensor
  bool in_place = false;     ///< there is a method `name_`
  bool out = false;          ///< there is a function `name_out`
  std::string_view
      view;  ///< "always", "maybe" (else a copy) or empty: the result aliases its input
  std::string_view autocast;      ///< "lower", "float32 accelerators", "promote"; empty: no policy
  std::string_view dtypes;        ///< "floating complex"; empty: not stated
  std::string_view second_names;  ///< "concat concatenate"
  std::string_view results;       ///< names of several results: "values indices"
  /// Which of `arguments` a method is called on; -1 if none is, as for methods without a function.
  int receiver = -1;
  std::string_view doc;
  std::vector<OperationArgument> arguments;

  /// "add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) -> Tensor"
  std::string signature() const;
};

/// All overloads in the order in which they are declared, those of one family together.
const std::vector<Operation>& operations();

}  // namespace taeda
