#include "stdlib_ops/native/far/far_folder.h"

#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "stdlib_ops/native/bytes/byte_source.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/far/listing.h"

namespace galatea::native::far {
namespace {

constexpr size_t kMostListed = 100'000'000;

}  // namespace

Result<FarFolder> list_folder(Fetcher& fetcher, const std::string& text) {
  GALATEA_ASSIGN(Address folder, parse_address(text));
  if (folder.store == Store::kWeb)
    return unusable(fmt::format("{} is a web server's, which lists no files", folder.shown),
                    "name the files: files=[…] or file_list=; folders are listed of s3:// and gs://");
  std::string prefix = folder.key;
  if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
  Address bucket = folder;
  bucket.key.clear();
  FarFolder out;
  std::set<std::string> pages;
  bool is_there = false;
  for (std::string next;;) {
    std::vector<std::pair<std::string, std::string>> query = {
        {"list-type", "2"}, {"delimiter", "/"}, {"prefix", prefix}, {"encoding-type", "url"}};
    if (!next.empty()) query.emplace_back("continuation-token", next);
    GALATEA_ASSIGN(const std::string xml, fetcher.list(bucket, std::move(query)));
    GALATEA_ASSIGN(ListPage page, parse_list_page(xml, folder.shown));
    const auto wrong = [&](const std::string& what) {
      return make_error(ErrorKind::kUser, "G0803", fmt::format("cannot list {}: {}", folder.shown, what),
                        "check that the end point is that of a store with an interface as S3 has it");
    };
    for (auto* const names : {&page.keys, &page.prefixes}) {
      const bool are_folders = names == &page.prefixes;
      for (const std::string& name : *names) {
        if (!name.starts_with(prefix)) return wrong("the store lists keys of elsewhere");
        std::string_view within = std::string_view(name).substr(prefix.size());
        if (are_folders && within.ends_with('/')) within.remove_suffix(1);
        is_there = true;
        if (within.empty()) continue;  // an object that stands for the folder itself
        if (within.find('/') != std::string_view::npos) return wrong("the store lists keys of sub-folders");
        (are_folders ? out.folders : out.files).emplace_back(within);
      }
    }
    if (!page.is_truncated) break;
    if (page.next.empty() || !pages.insert(page.next).second) return wrong("its pages go in circles");
    if (out.files.size() + out.folders.size() > kMostListed) return wrong("it has too many files");
    next = std::move(page.next);
  }
  if (!is_there)
    return unusable(fmt::format("there is nothing in {}", folder.shown),
                    "check bucket and folder: capitals count");
  return out;
}

}  // namespace galatea::native::far
