// Seeded numbers that are the same on every machine and library version, so
// one agent or ten send the same requests.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace benchfleet {

// A new seed from parts, such as (run seed, case, repeat). Order matters.
uint64_t DeriveSeed(std::initializer_list<uint64_t> parts);

// splitmix64 (Steele, Lea, Flood 2014). Thread-compatible.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  // Uniform in [0, n), n > 0, without modulo bias (Lemire 2019).
  uint64_t Below(uint64_t n);

 private:
  uint64_t state_;
};

// Not reproducible: for seeds and instance ids.
uint64_t RandomSeedFromSystem();

}  // namespace benchfleet
