// What servers and files of accounts say: the first byte chooses what the others are.
//
// Must hold: no crash; no more names than the text has room for; errors name where it came from; what is
// encoded decodes to the same.
#include <cstdlib>
#include <string>

#include "stdlib_ops/native/far/account.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/far/listing.h"
#include "tests/fuzz/target.h"

namespace galatea::fuzz::of_far {

GALATEA_FUZZ_TARGET(far, 6000)(const uint8_t* data, size_t size) {
  using namespace galatea::native::far;
  if (size == 0) return;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 4 == 0) {
    const auto page = parse_list_page(text, "s3://b/d");
    if (!page) {
      require(page.error().message().find("s3://b/d") != std::string::npos);
    } else {
      size_t bytes = page->next.size();
      for (const std::string& key : page->keys) bytes += key.size();
      for (const std::string& prefix : page->prefixes) bytes += prefix.size();
      require(bytes <= text.size());
    }
  } else if (data[0] % 4 == 1) {
    const StoreError error = parse_store_error(text);
    require(error.code.size() + error.message.size() <= text.size());
  } else if (data[0] % 4 == 2) {
    const auto profiles = parse_profiles(text, "profiles");
    if (!profiles) require(profiles.error().message().find("profiles:") != std::string::npos);
  } else {
    require(percent_decoded(percent_encoded(text)) == text);
    const std::string there = join("https://h/d", text);
    require(is_far(there) || there.front() == '/');
    if (!is_far(text)) return;
    const auto address = parse_address(text);
    require(address || !address.error().message().empty());
    if (address && address->store == Store::kWeb) {
      for (const char c : address->url)
        require(static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7F);
      require(address->shown.find('?') == std::string::npos);
    }
  }
}

}  // namespace galatea::fuzz::of_far
