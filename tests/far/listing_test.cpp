// Pages of a bucket's listing, and errors of a store.
#include "stdlib_ops/native/far/listing.h"

#include <gtest/gtest.h>

namespace galatea::native::far {
namespace {

const std::string kShown = "s3://b/train";

TEST(Listing, HasKeysPrefixesAndTheNextPage) {
  const auto page = parse_list_page(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"x\"><Name>b</Name><Prefix>train/</Prefix>"
      "<IsTruncated>true</IsTruncated><NextContinuationToken>a+b=</NextContinuationToken>"
      "<!-- a comment --><Contents><Key>train/a&amp;b&#38;&#xe9;&lt;.jpg</Key><Size>3</Size><Owner><ID>1</ID></Owner></Contents>"
      "<Contents>\n <Key>train/ b </Key>\n</Contents><Contents><Key/></Contents>"
      "<CommonPrefixes><Prefix>train/n01/</Prefix></CommonPrefixes></ListBucketResult>",
      kShown);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->keys, (std::vector<std::string>{"train/a&b&\xC3\xA9<.jpg", "train/ b ", ""}));
  EXPECT_EQ(page->prefixes, std::vector<std::string>{"train/n01/"});
  EXPECT_TRUE(page->is_truncated);
  EXPECT_EQ(page->next, "a+b=");
}

TEST(Listing, OfEncodedNamesHasThemDecoded) {
  const auto page = parse_list_page(
      "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>a%20b+c%2Bd%0A%zz</Key></Contents>"
      "<CommonPrefixes><Prefix>%C3%A9/</Prefix></CommonPrefixes></ListBucketResult>",
      kShown);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->keys, std::vector<std::string>{"a b c+d\n%zz"});
  EXPECT_EQ(page->prefixes, std::vector<std::string>{"\xC3\xA9/"});
  EXPECT_FALSE(page->is_truncated);
}

TEST(Listing, ThatIsNoneIsTold) {
  const std::string deep = [] {
    std::string out = "<ListBucketResult>";
    for (int i = 0; i < 100'000; ++i) out += "<a>";
    return out;
  }();
  const std::pair<std::string, std::string> cases[] = {
      {"", "it ends too early"},
      {"<html><body>no</body></html>", "it is another document"},
      {"<ListBucketResult>", "it ends too early"},
      {"<ListBucketResult", "it ends within a tag"},
      {"<ListBucketResult></Other>", "</Other> ends nothing"},
      {"<ListBucketResult/><ListBucketResult/>", "two roots"},
      {"<!DOCTYPE a [<!ENTITY b \"cc\">]><ListBucketResult/>", "a document type"},
      {"<ListBucketResult><Contents><Key>&b;</Key></Contents></ListBucketResult>", "malformed or unknown"},
      {"<ListBucketResult><Contents><Key>&#xD800;</Key></Contents></ListBucketResult>",
       "malformed or unknown"},
      {"<ListBucketResult><Contents><Key>&#1114112;</Key></Contents></ListBucketResult>",
       "malformed or unknown"},
      {"<ListBucketResult><Contents><Key>& </Key></Contents></ListBucketResult>", "malformed or unknown"},
      {"<ListBucketResult><!-- </ListBucketResult>", "ends within a comment"},
      {"<ListBucketResult><></></ListBucketResult>", "a tag is malformed"},
      {"<ListBucketResult></></ListBucketResult>", "a tag is malformed"},
      {"<ListBucketResult><//></ListBucketResult>", "a tag is malformed"},
      {"words <ListBucketResult/>", "text outside"},
      {deep, "nested deeply"}};
  for (const auto& [xml, words] : cases) {
    const auto page = parse_list_page(xml, kShown);
    ASSERT_FALSE(page) << xml.substr(0, 80);
    EXPECT_EQ(page.error().diagnostics.front().code, "G0803");
    EXPECT_NE(page.error().message().find(words), std::string::npos) << page.error().message();
    EXPECT_NE(page.error().message().find(kShown), std::string::npos);
  }
}

TEST(Listing, CutAnywhereIsAnErrorOrSaysNoMoreThanStandsThere) {
  const std::string whole =
      "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a&amp;b</Key></Contents></ListBucketResult>";
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_list_page(std::string_view(whole).substr(0, size), kShown)) << size;
  EXPECT_TRUE(parse_list_page(whole, kShown));
}

TEST(Listing, ErrorsOfAStoreHaveACodeAndWords) {
  const StoreError error = parse_store_error(
      "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Message>It&apos;s not there.</Message></Error>");
  EXPECT_EQ(error.code, "NoSuchKey");
  EXPECT_EQ(error.message, "It's not there.");
  EXPECT_EQ(parse_store_error("<html>").code, "");
  EXPECT_EQ(parse_store_error("<Error><Code>A</Code>").code, "");
}

}  // namespace
}  // namespace galatea::native::far
