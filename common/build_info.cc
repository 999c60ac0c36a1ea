#include "common/build_info.h"

namespace benchfleet {

const char* const kVersion = BENCHFLEET_VERSION;
const char* const kBuildId = BENCHFLEET_BUILD_ID;

}  // namespace benchfleet
