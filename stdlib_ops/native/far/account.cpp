#include "stdlib_ops/native/far/account.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/fault.h"
#include "base/settings.h"
#include "stdlib_ops/native/bytes/byte_source.h"

namespace galatea::native::far {
namespace {

constexpr std::string_view kSpaces = " \t\r";
constexpr size_t kMaxProfiles = size_t{1} << 20;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

/// A file of profiles, where there is one.
Result<Profiles> read_profiles(const char* named_by, const char* usual) {
  std::string path = setting(named_by);
  const bool is_named = !path.empty();
  if (!is_named) {
    const std::string home = setting("HOME");
    if (home.empty()) return Profiles{};
    path = home + usual;
  }
  auto text = read_whole_file(path, kMaxProfiles);
  // The usual file need not be there, and may be nobody's business here.
  if (!text && !is_named) return Profiles{};
  if (!text)
    return unusable(fmt::format("cannot read {}, which {} names: {}", path, named_by, text.error().why),
                    "correct the path, or leave the variable out");
  if (text->size() > kMaxProfiles)
    return unusable(fmt::format("{} has more than {} bytes", path, kMaxProfiles), "name a file of profiles");
  GALATEA_ASSIGN(Profiles profiles, parse_profiles(*text, path));
  for (auto& [name, values] : profiles) values["(file)"] = path;
  return profiles;
}

/// The section of a profile, whichever of the two forms its file has.
const std::map<std::string, std::string>* section_of(const Profiles& profiles, const std::string& name) {
  for (const std::string& section : {name, "profile " + name})
    if (const auto at = profiles.find(section); at != profiles.end()) return &at->second;
  return nullptr;
}

std::string value_of(const std::map<std::string, std::string>* section, const char* key) {
  if (!section) return {};
  const auto at = section->find(key);
  return at == section->end() ? std::string() : at->second;
}

Result<std::string> clean_endpoint(std::string endpoint, std::string_view named_by) {
  if (endpoint.empty()) return endpoint;
  if (!endpoint.starts_with("http://") && !endpoint.starts_with("https://")) {
    if (endpoint.find("://") != std::string::npos)
      return unusable(fmt::format("the end point of {} is neither http nor https", named_by),
                      "write http://HOST:PORT or https://HOST");
    endpoint = "http://" + endpoint;  // as emulators are named
  }
  while (endpoint.ends_with('/')) endpoint.pop_back();
  // It is signed and put together with keys: a host, a port, and no more.
  const std::string_view host = std::string_view(endpoint).substr(endpoint.find("://") + 3);
  if (host.empty() || host.find_first_of("/?#@ ") != std::string_view::npos)
    return unusable(fmt::format("the end point of {} is more than a host and a port", named_by),
                    "write http://HOST:PORT or https://HOST");
  return endpoint;
}

/// Keys of a profile; nothing where it has none. What else profiles name keys by is an error: unsigned
/// requests would be refused by a server that can only say no.
Result<std::optional<SigningKeys>> keys_of(const std::map<std::string, std::string>* section,
                                           const std::string& profile) {
  SigningKeys keys{.access = value_of(section, "aws_access_key_id"),
                   .secret = value_of(section, "aws_secret_access_key"),
                   .token = value_of(section, "aws_session_token")};
  if (!keys.access.empty() && !keys.secret.empty()) return keys;
  for (const char* other :
       {"role_arn", "sso_session", "sso_start_url", "credential_process", "login_session"}) {
    if (!value_of(section, other).empty())
      return unusable(fmt::format("the profile {} of {} has its keys by {}, which galatea does not do",
                                  profile, value_of(section, "(file)"), other),
                      "run `aws configure export-credentials --format env` and set what it prints");
  }
  return std::nullopt;
}

}  // namespace

Result<Profiles> parse_profiles(std::string_view text, const std::string& file) {
  Profiles profiles;
  std::map<std::string, std::string>* section = nullptr;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view content = trimmed(line);
    if (content.empty() || content.front() == '#' || content.front() == ';') continue;
    // What is indented belongs to the line before: settings of single services, which are not looked at.
    if (line.front() == ' ' || line.front() == '\t') continue;
    if (content.front() == '[') {
      const size_t end = content.find(']');
      if (end == std::string_view::npos)
        return unusable(fmt::format("{}:{}: a section has no \"]\"", file, number), "write [NAME]");
      const std::string_view name = trimmed(content.substr(1, end - 1));
      const size_t blank = name.find_first_of(kSpaces);
      section = &profiles[blank == std::string_view::npos
                              ? std::string(name)
                              : fmt::format("{} {}", name.substr(0, blank), trimmed(name.substr(blank)))];
      continue;
    }
    const size_t equals = content.find('=');
    // The line itself is not shown: half a secret may stand in it.
    if (equals == std::string_view::npos || !section)
      return unusable(fmt::format("{}:{}: {}", file, number,
                                  section ? "neither [NAME] nor KEY = VALUE" : "no [NAME] before it"),
                      "correct the file; `aws configure` writes it");
    (*section)[std::string(trimmed(content.substr(0, equals)))] = trimmed(content.substr(equals + 1));
  }
  return profiles;
}

Result<Account> find_account(Store store) {
  Account account;
  auto first_of = [](std::initializer_list<std::string> values) {
    const auto* const found = std::ranges::find_if(values, [](const std::string& v) { return !v.empty(); });
    return found == values.end() ? std::string() : *found;
  };
  account.ca_bundle = store == Store::kAmazon
                          ? first_of({setting("AWS_CA_BUNDLE"), setting("CURL_CA_BUNDLE")})
                          : setting("CURL_CA_BUNDLE");
  if (store == Store::kWeb) return account;

  const std::string profile = first_of({setting("AWS_PROFILE"), "default"});
  GALATEA_ASSIGN(const Profiles secrets, read_profiles("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"));
  GALATEA_ASSIGN(const Profiles configurations, read_profiles("AWS_CONFIG_FILE", "/.aws/config"));
  const auto* const secret_section = section_of(secrets, profile);
  const auto* const config_section = section_of(configurations, profile);
  if (!setting("AWS_PROFILE").empty() && !secret_section && !config_section)
    return unusable(fmt::format("there is no profile {}, which AWS_PROFILE names", profile),
                    "correct AWS_PROFILE; `aws configure list-profiles` lists those that there are");

  SigningKeys keys{.access = setting("AWS_ACCESS_KEY_ID"),
                   .secret = setting("AWS_SECRET_ACCESS_KEY"),
                   .token = setting("AWS_SESSION_TOKEN")};
  if (keys.access.empty() != keys.secret.empty())
    return unusable(fmt::format("{} is set, {} is not",
                                keys.access.empty() ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID",
                                keys.access.empty() ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY"),
                    "set both, or none of them");
  if (!keys.access.empty()) {
    account.keys = keys;
    account.keys_from = "the environment";
  }
  for (const auto* section : {secret_section, config_section}) {
    if (account.keys) break;
    GALATEA_ASSIGN(account.keys, keys_of(section, profile));
    if (account.keys)
      account.keys_from = fmt::format("profile {} of {}", profile, value_of(section, "(file)"));
  }
  // What ends a line would end a header.
  if (account.keys)
    for (const std::string& part : {account.keys->access, account.keys->secret, account.keys->token})
      if (std::ranges::any_of(part, [](unsigned char c) { return c < 0x20 || c == 0x7F; }))
        return unusable(fmt::format("the keys of {} hold a control character", account.keys_from),
                        "set them again");

  if (store == Store::kGoogle) {
    account.region = "auto";
    GALATEA_ASSIGN(account.endpoint,
                   clean_endpoint(setting("STORAGE_EMULATOR_HOST"), "STORAGE_EMULATOR_HOST"));
    return account;
  }
  account.region =
      first_of({setting("AWS_REGION"), setting("AWS_DEFAULT_REGION"), value_of(config_section, "region"),
                value_of(secret_section, "region"), "us-east-1"});
  if (!std::ranges::all_of(account.region, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      }))
    return unusable("the region of s3:// has other characters than small letters, digits and \"-\"",
                    "look at AWS_REGION, and at region in the profile");
  const std::string from_environment =
      first_of({setting("AWS_ENDPOINT_URL_S3"), setting("AWS_ENDPOINT_URL")});
  GALATEA_ASSIGN(account.endpoint,
                 clean_endpoint(first_of({from_environment, value_of(config_section, "endpoint_url")}),
                                from_environment.empty() ? "the profile" : "AWS_ENDPOINT_URL"));
  return account;
}

}  // namespace galatea::native::far
