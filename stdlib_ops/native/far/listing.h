// What S3 answers to: pages of a bucket's listing (ListObjectsV2), and errors. Both are XML documents.
//
// Comes in: the bytes of a reply, from whoever answered. Goes out: names, or words. Document types,
// entities of their own and deep nesting are refused, so that a page takes no more memory than a few times
// its length.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace galatea::native::far {

struct ListPage {
  std::vector<std::string> keys;
  std::vector<std::string> prefixes;  ///< of keys that go on behind the delimiter
  bool is_truncated = false;
  std::string next;  ///< what the next page is asked for by
};
/// `shown` is the address, for messages.
Result<ListPage> parse_list_page(std::string_view xml, const std::string& shown);

struct StoreError {
  std::string code, message;  ///< "NoSuchKey", "The specified key does not exist."
};
/// Both empty where it is no such document.
StoreError parse_store_error(std::string_view xml);

}  // namespace galatea::native::far
