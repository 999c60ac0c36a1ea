#include "common/flags.h"

#include <getopt.h>

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace benchfleet {
namespace {

// Far from where sums of times overflow.
constexpr absl::Duration kLongestDuration = absl::Hours(1000);

absl::Status BadValue(absl::string_view name, absl::string_view value,
                      absl::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", name, "=", value, ": expected ", wanted));
}

}  // namespace

FlagSet::FlagSet(std::string usage, std::string purpose)
    : usage_(std::move(usage)), purpose_(std::move(purpose)) {}

void FlagSet::String(std::string name, std::string* target, std::string help) {
  Add({std::move(name), std::move(help), *target, false,
       [target](absl::string_view value) {
         *target = std::string(value);
         return absl::OkStatus();
       }});
}

void FlagSet::Uint(std::string name, uint64_t* target, std::string help,
                   uint64_t max) {
  Add({name, std::move(help), absl::StrCat(*target), false,
       [name, target, max](absl::string_view value) {
         uint64_t number = 0;
         const bool digits =
             !value.empty() &&
             value.find_first_not_of("0123456789") == absl::string_view::npos;
         if (!digits || !absl::SimpleAtoi(value, &number) || number > max) {
           return BadValue(name, value,
                           absl::StrCat("a whole number from 0 to ", max));
         }
         *target = number;
         return absl::OkStatus();
       }});
}

void FlagSet::Bool(std::string name, bool* target, std::string help) {
  Add({name, std::move(help), *target ? "true" : "", true,
       [name, target](absl::string_view value) {
         if (!value.empty() && !absl::SimpleAtob(value, target)) {
           return BadValue(name, value, "true or false");
         }
         if (value.empty()) *target = true;
         return absl::OkStatus();
       }});
}

void FlagSet::Duration(std::string name, absl::Duration* target,
                       std::string help, absl::Duration min) {
  Add({name, std::move(help), absl::FormatDuration(*target), false,
       [name, target, min](absl::string_view value) {
         absl::Duration parsed;
         if (!absl::ParseDuration(value, &parsed) || parsed < min ||
             parsed > kLongestDuration) {
           return BadValue(
               name, value,
               absl::StrCat("a time such as 10s or 1m30s, from ",
                            absl::FormatDuration(min), " to ",
                            absl::FormatDuration(kLongestDuration)));
         }
         *target = parsed;
         return absl::OkStatus();
       }});
}

absl::StatusOr<std::vector<std::string>> FlagSet::Parse(int argc,
                                                        char* const* argv) {
  std::vector<option> options;
  for (const Flag& flag : flags_) {
    options.push_back({flag.name.c_str(),
                       flag.is_bool ? optional_argument : required_argument,
                       nullptr, 0});
  }
  options.push_back({"help", no_argument, nullptr, 0});
  options.push_back({nullptr, 0, nullptr, 0});

  std::vector<char*> mutable_argv(argv, argv + argc);
  mutable_argv.push_back(nullptr);
  optind = 0;  // glibc: start anew
  while (true) {
    int index = -1;
    // ':' tells a missing value from an unknown flag.
    const int got =
        getopt_long(argc, mutable_argv.data(), ":", options.data(), &index);
    if (got == -1) break;
    if (got == '?') {
      return absl::InvalidArgumentError(absl::StrCat(
          "unknown flag ",
          optopt != 0 ? std::string{'-', static_cast<char>(optopt)}
                      : mutable_argv[static_cast<size_t>(optind - 1)],
          "; see --help"));
    }
    if (got == ':') {
      return absl::InvalidArgumentError(absl::StrCat(
          mutable_argv[static_cast<size_t>(optind - 1)], " needs a value"));
    }
    if (static_cast<size_t>(index) == flags_.size()) {
      help_asked_ = true;
      return std::vector<std::string>{};
    }
    RETURN_IF_ERROR(
        flags_[static_cast<size_t>(index)].set(optarg ? optarg : ""));
  }
  return std::vector<std::string>(mutable_argv.begin() + optind,
                                  mutable_argv.begin() + argc);
}

std::string FlagSet::Help() const {
  std::string text = absl::StrCat(usage_, "\n\n", purpose_, "\n");
  if (!flags_.empty()) absl::StrAppend(&text, "\nFlags:\n");
  for (const Flag& flag : flags_) {
    absl::StrAppend(&text, "  --", flag.name, "\n      ", flag.help);
    if (!flag.default_text.empty()) {
      absl::StrAppend(&text, " (default ", flag.default_text, ")");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace benchfleet
