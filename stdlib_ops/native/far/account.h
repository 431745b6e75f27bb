// Who asks for s3:// and gs://, and where: keys, region, end point.
//
// Comes in: the environment (base/settings.h), AWS's files of profiles. Goes out: an Account. Its keys are
// shown nowhere; messages say where they came from.
//
// Order, as AWS's own programs have it: the environment, then the profile (AWS_PROFILE, else "default") in
// the file of credentials, then in the file of configurations. Without keys requests are not signed, as
// public buckets want it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/far/sign.h"

namespace galatea::native::far {

struct Account {
  std::optional<SigningKeys> keys;
  std::string keys_from;  ///< for messages: "the environment", "profile default of /home/me/.aws/credentials"
  std::string region;
  std::string endpoint;   ///< "https://host", without a slash behind; empty: the store's own
  std::string ca_bundle;  ///< a file; empty: libcurl's
};

/// A file of profiles: the settings of each section. Lines that are neither are an error that names them.
using Profiles = std::map<std::string, std::map<std::string, std::string>>;
Result<Profiles> parse_profiles(std::string_view text, const std::string& file);

/// As the environment and the files say it now.
Result<Account> find_account(Store store);

}  // namespace galatea::native::far
