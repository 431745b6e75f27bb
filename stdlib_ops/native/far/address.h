// Addresses of data that lies on other machines: http://, https://, s3:// and gs://.
//
// Comes in: what a pipeline wrote as a path. Goes out: which kind it is, its parts, and a form of it that
// may be shown: without the password and the query, in which signatures stand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace galatea::native::far {

enum class Store : uint8_t {
  kWeb,     ///< http, https: the address of one file
  kAmazon,  ///< s3: a bucket, and a key in it
  kGoogle,  ///< gs: the same, asked through the interface that is like Amazon's
};

struct Address {
  Store store = Store::kWeb;
  std::string shown;        ///< for messages
  std::string url;          ///< of kWeb: what is asked for
  std::string bucket, key;  ///< of the others; the key as it is, nothing encoded
};

/// Whether a path is such an address.
bool is_far(std::string_view path);
/// The scheme of an address of another kind, such as "ftp", also where it stands behind the folder of a list;
/// "" where there is none.
std::string_view other_scheme(std::string_view path);
/// A path that is written as an address of this machine, "file:///data/a", as the path; any other as it is.
std::string_view path_of_address(std::string_view path);
/// Errors say what an address lacks.
Result<Address> parse_address(std::string_view text);
/// A path as messages show it: one of this machine as it is.
std::string shown(std::string_view path);

/// What `name` is, seen from `root`. A name that is an address itself stays, of this machine ("file:///data/a")
/// as its path; so does an absolute path.
/// Names of files behind http(s) are encoded, "%" and "?" among them: they are names, not addresses.
std::string join(std::string_view root, std::string_view name);
/// The folder that a file lies in: what names in a list are relative to. Without the query.
std::string folder_of(std::string_view path);

/// RFC 3986, section 2.1: everything but letters, digits, "-._~" and what `keep` names becomes "%XX".
std::string percent_encoded(std::string_view text, std::string_view keep = {});
/// The way back. A "%" without two digits behind it stays as it is.
std::string percent_decoded(std::string_view text);

}  // namespace galatea::native::far
