// Addresses, accounts and signatures: against the examples of the standards and of Amazon's documentation.
#include <gtest/gtest.h>

#include "stdlib_ops/native/far/account.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/far/sha256.h"
#include "stdlib_ops/native/far/sign.h"
#include "tests/far/environment.h"

namespace galatea::native::far {
namespace {

using galatea::testing::OnlySettings;
using galatea::testing::TestFolder;

// FIPS 180-4's examples, and lengths around the end of a block (from Python's hashlib).
TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256(std::string(55, 'a'))),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(hex(sha256(std::string(56, 'a'))),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(hex(sha256(std::string(64, 'a'))),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  EXPECT_EQ(hex(sha256(std::string(100'000, 'a'))),
            "6d1cf22d7cc09b085dfc25ee1a1f3ae0265804c607bc2074ad253bcc82fd81ee");
}

// RFC 4231, cases 1, 2 and 6.
TEST(Sha256, HmacIsThatOfTheStandard) {
  EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

constexpr std::time_t kMay2013 = 1369353600;  // 2013-05-24 00:00:00 UTC
const SigningKeys kExampleKeys{
    .access = "AKIAIOSFODNN7EXAMPLE", .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", .token = {}};

std::string signature_of(const SignedRequest& request, const SigningKeys& keys, const std::string& region) {
  for (const std::string& header : signed_headers(request, keys, region, kMay2013))
    if (const size_t at = header.find("Signature="); at != std::string::npos) return header.substr(at + 10);
  return {};
}

// "Examples: Signature Calculations" of the reference: an object's part, a sub-resource, a listing.
TEST(Signature, IsThatOfAmazonsExamples) {
  const std::string host = "examplebucket.s3.amazonaws.com";
  EXPECT_EQ(
      signature_of({.host = host, .path = "/test.txt", .query = {}, .headers = {{"range", "bytes=0-9"}}},
                   kExampleKeys, "us-east-1"),
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(signature_of({.host = host, .path = "/", .query = {{"lifecycle", ""}}, .headers = {}},
                         kExampleKeys, "us-east-1"),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  EXPECT_EQ(
      signature_of({.host = host, .path = "/", .query = {{"prefix", "J"}, {"max-keys", "2"}}, .headers = {}},
                   kExampleKeys, "us-east-1"),
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

// As botocore signs it: a port, a session, a key with "=", "+" and letters beyond ASCII.
TEST(Signature, IsThatOfAmazonsLibrary) {
  SigningKeys keys = kExampleKeys;
  keys.token = "TOKEN";
  EXPECT_EQ(signature_of({.host = "127.0.0.1:9000",
                          .path = "/b/" + percent_encoded("a b/c=d+\xC3\xA9.jpg", "/"),
                          .query = {},
                          .headers = {}},
                         keys, "eu-central-1"),
            "532b81d3f7a6b9ae455740c01de72c03e3c990b8229ab8eb56ec680474360a7b");
}

TEST(Addresses, HaveTheirParts) {
  const auto object = parse_address("s3://bucket.of-mine/a b/c=d?e#f%20.jpg");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->bucket, "bucket.of-mine");
  EXPECT_EQ(object->key, "a b/c=d?e#f%20.jpg");
  const auto web = parse_address("https://me:word@example.org:8080/a b/\xC3\xA9%20.jpg?sig=1%2F2&x=y#part");
  ASSERT_TRUE(web);
  EXPECT_EQ(web->url, "https://me:word@example.org:8080/a%20b/%C3%A9%20.jpg?sig=1%2F2&x=y");
  EXPECT_EQ(web->shown, "https://example.org:8080/a b/\xC3\xA9%20.jpg");
  EXPECT_EQ(shown("/data/a?b"), "/data/a?b");
}

TEST(Addresses, ThatAreNoneAreTold) {
  for (const auto& [text, words] : {std::pair{"http://", "it names no host"},
                                    {"https:///a", "it names no host"},
                                    {"http://u:secret@/a", "it names no host"},
                                    {"http://:80/a", "it names no host"},
                                    {"s3://", "it names no bucket"},
                                    {"s3:///key", "it names no bucket"},
                                    {"s3://a@b/key", "a bucket's name has"},
                                    {"gs://a:1/key", "a bucket's name has"},
                                    {"http://a/\nHost: b", "a control character"}}) {
    const auto address = parse_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_NE(address.error().message().find(words), std::string::npos) << address.error().message();
    EXPECT_EQ(address.error().message().find("secret"), std::string::npos);
  }
  EXPECT_FALSE(parse_address("s3://b/" + std::string(1025, 'k')));
  EXPECT_FALSE(parse_address("http://a/" + std::string(20'000, 'k')));
}

TEST(Addresses, JoinNames) {
  EXPECT_EQ(join("s3://b/train", "n01/a b=c.jpg"), "s3://b/train/n01/a b=c.jpg");
  EXPECT_EQ(join("s3://b/train/", "a.jpg"), "s3://b/train/a.jpg");
  EXPECT_EQ(join("https://h/d", "50% of?.jpg"), "https://h/d/50%25%20of%3F.jpg");
  EXPECT_EQ(join("https://h/d", "s3://b/a.jpg"), "s3://b/a.jpg");
  EXPECT_EQ(join("/data", "s3://b/a.jpg"), "s3://b/a.jpg");
  EXPECT_EQ(join("", "a.jpg"), "a.jpg");
  EXPECT_EQ(join("", "file:///b/a.jpg"), "/b/a.jpg");
  EXPECT_EQ(join("s3://b/train", "file:///b/a.jpg"), "/b/a.jpg");
  EXPECT_EQ(join("data", "a.jpg"), "data/a.jpg");
  EXPECT_EQ(join("data", "/b/a.jpg"), "/b/a.jpg");
  EXPECT_EQ(folder_of("s3://b/d/list.txt"), "s3://b/d");
  EXPECT_EQ(folder_of("s3://b/list.txt"), "s3://b");
  EXPECT_EQ(folder_of("https://h/d/list.txt?a=/b/c"), "https://h/d");
  EXPECT_EQ(folder_of("https://h"), "https://h");
  EXPECT_EQ(folder_of("data/list.txt"), "data");
}

TEST(Addresses, OtherSchemesAreSeen) {
  EXPECT_EQ(other_scheme("ftp://host/a"), "ftp");
  EXPECT_EQ(other_scheme("/data/gcs://bucket/a"), "gcs");
  EXPECT_EQ(other_scheme("HTTP://host/a"), "HTTP");
  EXPECT_EQ(other_scheme("a b/web+x-1.0://c"), "web+x-1.0");
  for (const char* none : {"s3://b/a", "https://h", "/data/a.jpg", "a:/b", "://a", "a/://b"})
    EXPECT_EQ(other_scheme(none), "") << none;
}

constexpr const char* kCredentials =
    "# keys\n[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key=secret-one\n\n"
    "[other]\r\naws_access_key_id=AKOTHER\r\naws_secret_access_key=secret-two\r\naws_session_token=token-two\r\n";
constexpr const char* kConfig =
    "[default]\nregion = eu-west-1\n[profile other]\nregion=eu-north-1\nendpoint_url = http://127.0.0.1:9000/\n"
    "s3 =\n  max_concurrent_requests = 5\n[profile by-role]\nrole_arn = arn:aws:iam::1:role/a\n";

TEST(Accounts, ComeFromTheUsualPlacesInTheirOrder) {
  const TestFolder home;
  home.write(".aws/credentials", kCredentials);
  home.write(".aws/config", kConfig);
  const std::string folder = home.path().string();
  {
    const OnlySettings settings({{"HOME", folder}});
    const auto account = find_account(Store::kAmazon);
    ASSERT_TRUE(account);
    EXPECT_EQ(account->keys->access, "AKDEFAULT");
    EXPECT_EQ(account->keys->secret, "secret-one");
    EXPECT_EQ(account->keys_from, "profile default of " + folder + "/.aws/credentials");
    EXPECT_EQ(account->region, "eu-west-1");
    EXPECT_EQ(account->endpoint, "");
    EXPECT_EQ(find_account(Store::kGoogle)->region, "auto");
    EXPECT_FALSE(find_account(Store::kWeb)->keys);
  }
  {
    const OnlySettings settings({{"HOME", folder}, {"AWS_PROFILE", "other"}});
    const auto account = find_account(Store::kAmazon);
    ASSERT_TRUE(account);
    EXPECT_EQ(account->keys->token, "token-two");
    EXPECT_EQ(account->region, "eu-north-1");
    EXPECT_EQ(account->endpoint, "http://127.0.0.1:9000");
  }
  {
    const OnlySettings settings({{"HOME", folder},
                                 {"AWS_ACCESS_KEY_ID", "AKENV"},
                                 {"AWS_SECRET_ACCESS_KEY", "secret-env"},
                                 {"AWS_REGION", "us-west-2"},
                                 {"AWS_ENDPOINT_URL", "https://all.example.org"},
                                 {"AWS_ENDPOINT_URL_S3", "https://s3.example.org"},
                                 {"STORAGE_EMULATOR_HOST", "127.0.0.1:9023"}});
    const auto account = find_account(Store::kAmazon);
    ASSERT_TRUE(account);
    EXPECT_EQ(account->keys->access, "AKENV");
    EXPECT_EQ(account->keys_from, "the environment");
    EXPECT_EQ(account->region, "us-west-2");
    EXPECT_EQ(account->endpoint, "https://s3.example.org");
    EXPECT_EQ(find_account(Store::kGoogle)->endpoint, "http://127.0.0.1:9023");
  }
  const OnlySettings settings({{"HOME", folder + "/nobody"}});
  const auto account = find_account(Store::kAmazon);
  ASSERT_TRUE(account);
  EXPECT_FALSE(account->keys);
  EXPECT_EQ(account->region, "us-east-1");
}

TEST(Accounts, ThatCannotBeUsedAreToldWithoutTheirSecrets) {
  const TestFolder home;
  home.write(".aws/config", kConfig);
  const std::string broken = home.write("broken", "[default]\naws_secret_access_key hidden-secret\n");
  const std::string folder = home.path().string();
  const std::pair<std::map<std::string, std::string>, std::string> cases[] = {
      {{{"AWS_ACCESS_KEY_ID", "AK"}}, "AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not"},
      {{{"AWS_SECRET_ACCESS_KEY", "hidden-secret"}},
       "AWS_SECRET_ACCESS_KEY is set, AWS_ACCESS_KEY_ID is not"},
      {{{"AWS_ACCESS_KEY_ID", "A\nB"}, {"AWS_SECRET_ACCESS_KEY", "hidden-secret"}}, "a control character"},
      {{{"HOME", folder}, {"AWS_PROFILE", "none"}}, "there is no profile none"},
      {{{"HOME", folder}, {"AWS_PROFILE", "by-role"}}, "has its keys by role_arn"},
      {{{"AWS_SHARED_CREDENTIALS_FILE", broken}}, broken + ":2: neither [NAME] nor KEY = VALUE"},
      {{{"AWS_SHARED_CREDENTIALS_FILE", folder + "/none"}}, "which AWS_SHARED_CREDENTIALS_FILE names"},
      {{{"AWS_ENDPOINT_URL", "ftp://a"}}, "neither http nor https"},
      {{{"AWS_ENDPOINT_URL", "http://u:hidden-secret@a"}}, "more than a host and a port"},
      {{{"AWS_REGION", "x/../y"}}, "the region of s3://"}};
  for (const auto& [values, words] : cases) {
    const OnlySettings settings(values);
    const auto account = find_account(Store::kAmazon);
    ASSERT_FALSE(account) << words;
    EXPECT_NE(account.error().message().find(words), std::string::npos) << account.error().message();
    EXPECT_EQ(account.error().message().find("hidden-secret"), std::string::npos)
        << account.error().message();
  }
}

}  // namespace
}  // namespace galatea::native::far
