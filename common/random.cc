#include "common/random.h"

#include <random>

namespace benchfleet {

uint64_t Random::Next() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t Random::Below(uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  const uint64_t threshold = (0 - n) % n;
  while (true) {
    const Wide product = Wide{Next()} * n;
    if (static_cast<uint64_t>(product) >= threshold) {
      return static_cast<uint64_t>(product >> 64);
    }
  }
}

uint64_t DeriveSeed(std::initializer_list<uint64_t> parts) {
  uint64_t seed = 0;
  for (uint64_t part : parts) seed = Random(seed ^ Random(part).Next()).Next();
  return seed;
}

uint64_t RandomSeedFromSystem() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace benchfleet
