#include "agent/host_facts.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace benchfleet {
namespace {

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(':');
    if (absl::StartsWith(line, "model name") && colon != std::string::npos) {
      return std::string(absl::StripAsciiWhitespace(
          absl::string_view(line).substr(colon + 1)));
    }
  }
  return "";
}

uint64_t Positive(long value) {
  return value > 0 ? static_cast<uint64_t>(value) : 0;
}

}  // namespace

uint64_t RaiseOpenFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

v1::HostFacts ReadHostFacts() {
  v1::HostFacts facts;
  utsname name{};
  if (uname(&name) == 0) {
    facts.set_hostname(name.nodename);
    facts.set_kernel(absl::StrCat(name.sysname, " ", name.release));
  }
  facts.set_cpu_model(CpuModel());
  facts.set_cpus(
      static_cast<uint32_t>(Positive(sysconf(_SC_NPROCESSORS_ONLN))));
  facts.set_memory_bytes(Positive(sysconf(_SC_PHYS_PAGES)) *
                         Positive(sysconf(_SC_PAGESIZE)));
  facts.set_max_open_files(RaiseOpenFileLimit());
  return facts;
}

}  // namespace benchfleet
