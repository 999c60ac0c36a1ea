// Propagation of errors. Context is added once, at the layer that knows it.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define RETURN_IF_ERROR(expr)                                     \
  do {                                                            \
    if (absl::Status status_macro_ = (expr); !status_macro_.ok()) \
      return status_macro_;                                       \
  } while (false)

#define STATUS_MACROS_CONCAT_INNER(a, b) a##b
#define STATUS_MACROS_CONCAT(a, b) STATUS_MACROS_CONCAT_INNER(a, b)

// ASSIGN_OR_RETURN(auto x, MakeX());
#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_INNER(STATUS_MACROS_CONCAT(status_or_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_INNER(tmp, lhs, expr)   \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  lhs = *std::move(tmp)
