// What the members of a case family are called and get.
#pragma once

#include <cstdint>
#include <string>

#include "benchfleet/v1/suite.pb.h"

namespace benchfleet {

// The family's id if it has one concurrency, else "id-c4".
std::string MemberId(const v1::CaseFamily& family, int index);

// Of a list with one value for all or one per member; 0 if it has none.
uint32_t ForMember(const google::protobuf::RepeatedField<uint32_t>& values,
                   int index);

}  // namespace benchfleet
