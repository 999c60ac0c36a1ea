#include "common/sha256.h"

#include <openssl/evp.h>

#include "absl/strings/escaping.h"

namespace benchfleet {

Sha256Digest Sha256(absl::string_view data) {
  Sha256Digest digest{};
  EVP_Digest(data.data(), data.size(), digest.data(), nullptr, EVP_sha256(),
             nullptr);
  return digest;
}

std::string Sha256Hex(absl::string_view data) {
  const Sha256Digest digest = Sha256(data);
  return absl::BytesToHexString(absl::string_view(
      reinterpret_cast<const char*>(digest.data()), digest.size()));
}

}  // namespace benchfleet
