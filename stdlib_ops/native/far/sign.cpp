#include "stdlib_ops/native/far/sign.h"

#include <algorithm>

#include <fmt/format.h>

#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/far/sha256.h"

namespace galatea::native::far {
namespace {

constexpr const char* kAlgorithm = "AWS4-HMAC-SHA256";

/// "20130524T000000Z".
std::string basic_time(std::time_t now) {
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace

std::string query_text(const std::vector<std::pair<std::string, std::string>>& query) {
  std::vector<std::pair<std::string, std::string>> encoded;
  for (const auto& [name, value] : query) encoded.emplace_back(percent_encoded(name), percent_encoded(value));
  std::ranges::sort(encoded);
  std::string out;
  for (const auto& [name, value] : encoded)
    out += fmt::format("{}{}={}", out.empty() ? "" : "&", name, value);
  return out;
}

std::vector<std::string> signed_headers(const SignedRequest& request, const SigningKeys& keys,
                                        const std::string& region, std::time_t now) {
  const std::string time = basic_time(now), date = time.substr(0, 8);
  const std::string no_body = hex(sha256(""));
  std::map<std::string, std::string> headers = request.headers;
  headers["host"] = request.host;
  headers["x-amz-content-sha256"] = no_body;
  headers["x-amz-date"] = time;
  if (!keys.token.empty()) headers["x-amz-security-token"] = keys.token;
  std::string canonical, names;
  for (const auto& [name, value] : headers) {
    canonical += fmt::format("{}:{}\n", name, value);
    names += fmt::format("{}{}", names.empty() ? "" : ";", name);
  }
  const std::string whole = fmt::format("GET\n{}\n{}\n{}\n{}\n{}", request.path, query_text(request.query),
                                        canonical, names, no_body);
  const std::string scope = fmt::format("{}/{}/s3/aws4_request", date, region);
  const std::string to_sign = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, time, scope, hex(sha256(whole)));
  Digest key = hmac_sha256("AWS4" + keys.secret, date);
  for (const std::string& part : {region, std::string("s3"), std::string("aws4_request")})
    key = hmac_sha256(bytes_of(key), part);
  headers["authorization"] = fmt::format("{} Credential={}/{},SignedHeaders={},Signature={}", kAlgorithm,
                                         keys.access, scope, names, hex(hmac_sha256(bytes_of(key), to_sign)));
  headers.erase("host");
  std::vector<std::string> out;
  for (const auto& [name, value] : headers) out.push_back(fmt::format("{}: {}", name, value));
  return out;
}

}  // namespace galatea::native::far
