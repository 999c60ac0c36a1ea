// coordinator export-raw [RUN] --engine --case --repeat: the raw artifact that
// a row's source_sha256 is the hash of, on stdout.
#pragma once

namespace benchfleet {

// 0 printed, 2 usage or no such round, 3 the database cannot be read.
int RunExportRaw(int argc, char* const* argv);

}  // namespace benchfleet
