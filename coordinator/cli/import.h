// coordinator import FILE: a result file as a run of the database.
#pragma once

namespace benchfleet {

// 0 imported (or there already), 2 usage or a file that is no result file, 3
// file or database cannot be opened.
int RunImport(int argc, char* const* argv);

}  // namespace benchfleet
