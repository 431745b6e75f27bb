// Signatures of requests to S3: AWS Signature Version 4, with the signature in a header (Amazon S3 API
// reference, "Authenticating Requests: Using the Authorization Header").
//
// Comes in: a request without a body, keys, the time. Goes out: the headers that it is sent with.
#pragma once

#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace galatea::native::far {

struct SigningKeys {
  std::string access, secret;
  std::string token;  ///< of temporary keys; empty: they are not
};

struct SignedRequest {
  std::string host;                                        ///< as the header Host has it
  std::string path;                                        ///< encoded, as it is asked for
  std::vector<std::pair<std::string, std::string>> query;  ///< not encoded
  std::map<std::string, std::string> headers;              ///< further ones to sign: names in small letters
};

/// "k=v&k=v", encoded and in the order that signatures want.
std::string query_text(const std::vector<std::pair<std::string, std::string>>& query);
/// All headers but Host, "Name: value" each.
std::vector<std::string> signed_headers(const SignedRequest& request, const SigningKeys& keys,
                                        const std::string& region, std::time_t now);

}  // namespace galatea::native::far
