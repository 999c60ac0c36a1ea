// Certificates: right, unknown, of another name, expired.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "agent/http/curl_transport.h"
#include "agent/http/fetch.h"
#include "common/clock.h"
#include "tests/support/child_process.h"

namespace benchfleet {
namespace {

using Kind = TransportEnd::Kind;
using testing::HasSubstr;

// Writes a self-signed certificate and its key, in PEM, to a temporary file.
class Certificate {
 public:
  Certificate(const std::string& names, long seconds_valid)
      : path_(absl::StrCat(testing::TempDir(), "/certificate-", getpid(), "-",
                           ++count_)) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* x509 = X509_new();
    X509_set_version(x509, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x509), ++count_);
    X509_gmtime_adj(X509_getm_notBefore(x509), -7200);
    X509_gmtime_adj(X509_getm_notAfter(x509), seconds_valid);
    X509_set_pubkey(x509, key);
    X509_NAME* name = X509_get_subject_name(x509);
    X509_NAME_add_entry_by_txt(
        name, "CN", MBSTRING_ASC,
        reinterpret_cast<const unsigned char*>("benchfleet test"), -1, -1, 0);
    X509_set_issuer_name(x509, name);
    X509_EXTENSION* alt = X509V3_EXT_conf_nid(
        nullptr, nullptr, NID_subject_alt_name, names.c_str());
    X509_add_ext(x509, alt, -1);
    X509_sign(x509, key, EVP_sha256());
    if (std::FILE* file = std::fopen(path_.c_str(), "w")) {
      PEM_write_X509(file, x509);
      PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
      std::fclose(file);
    }
    X509_EXTENSION_free(alt);
    X509_free(x509);
    EVP_PKEY_free(key);
  }
  ~Certificate() { unlink(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  static inline int count_ = 0;
  const std::string path_;
};

FetchResult Ask(const Certificate& certificate,
                const CurlTransportOptions& options, int posts = 1) {
  ChildProcess server({"python3",
                       absl::StrCat(TESTS_SOURCE_DIR, "/support/tls_server.py"),
                       certificate.path()});
  const RealClock clock;
  const auto transport = MakeCurlTransport(options, clock);
  HttpRequest request;
  request.url = absl::StrCat("https://127.0.0.1:", server.ReadPort(), "/");
  request.body = "{}";
  FetchResult result;
  for (int i = 0; i < posts; ++i) result = Fetch(**transport, clock, request);
  return result;
}

TEST(CurlTlsTest, ACertificateOfTheCaFileIsTaken) {
  const Certificate certificate("IP:127.0.0.1", 7200);
  CurlTransportOptions options;
  options.ca_file = certificate.path();
  const FetchResult first = Ask(certificate, options);
  EXPECT_EQ(first.end.kind, Kind::kOk) << first.end.message;
  EXPECT_EQ(first.body, "ok");
  EXPECT_GT(first.end.tls, absl::ZeroDuration());
  const FetchResult second = Ask(certificate, options, 2);
  EXPECT_FALSE(second.end.new_connection);
  EXPECT_EQ(second.end.tls, absl::ZeroDuration());
}

TEST(CurlTlsTest, WrongCertificatesAreTlsFailuresWithTheirReason) {
  const Certificate good("IP:127.0.0.1", 7200);
  const Certificate other_name("DNS:other.example", 7200);
  const Certificate expired("IP:127.0.0.1", -3600);
  struct Row {
    const Certificate& certificate;
    std::string ca_file;
    const char* reason;
  };
  const Row rows[] = {
      {good, "", "self-signed certificate"},
      {other_name, other_name.path(), "subject name"},
      {expired, expired.path(), "expired"},
  };
  for (const Row& row : rows) {
    CurlTransportOptions options;
    options.ca_file = row.ca_file;
    const FetchResult result = Ask(row.certificate, options);
    EXPECT_EQ(result.end.kind, Kind::kTls) << row.reason;
    EXPECT_THAT(result.end.message, HasSubstr(row.reason));
    EXPECT_THAT(result.end.message, HasSubstr("127.0.0.1:"));
    EXPECT_EQ(result.status, 0);
  }
}

TEST(CurlTlsTest, VerificationCanBeSwitchedOff) {
  const Certificate expired("DNS:other.example", -3600);
  CurlTransportOptions options;
  options.insecure_skip_verify = true;
  EXPECT_EQ(Ask(expired, options).body, "ok");
}

TEST(CurlTlsTest, AMissingCaFileIsNamed) {
  CurlTransportOptions options;
  options.ca_file = "/no/such/ca.pem";
  const RealClock clock;
  const auto transport = MakeCurlTransport(options, clock);
  EXPECT_THAT(std::string(transport.status().message()),
              HasSubstr("/no/such/ca.pem"));
}

}  // namespace
}  // namespace benchfleet
