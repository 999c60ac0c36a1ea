// Numbers as text, the same under every locale. Pure.
#pragma once

#include <string>

namespace benchfleet {

// As Python's repr(float): the shortest digits that give the same double,
// always with a point or an exponent ("17.0", "1e-07").
// REQUIRES: finite.
std::string PythonFloat(double value);

// For people: about four digits ("0.0123", "6.826", "128.3", "12345").
std::string ShortNumber(double value);

}  // namespace benchfleet
