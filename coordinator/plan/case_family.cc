#include "coordinator/plan/case_family.h"

#include "absl/strings/str_cat.h"

namespace benchfleet {

std::string MemberId(const v1::CaseFamily& family, int index) {
  if (family.concurrency_size() == 1) return family.id();
  return absl::StrCat(family.id(), "-c", family.concurrency(index));
}

uint32_t ForMember(const google::protobuf::RepeatedField<uint32_t>& values,
                   int index) {
  if (values.size() == 1) return values.Get(0);
  return index < values.size() ? values.Get(index) : 0;
}

}  // namespace benchfleet
