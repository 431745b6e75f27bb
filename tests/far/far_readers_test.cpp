// All readers over data that is far away: what they give is what they give of the same files here.
//
// The server has the recorded containers as a store and as a web server; the pipelines are those that
// DALI's outputs were recorded with (tests/readers).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "base/fault.h"
#include "base/json.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/far/curl.h"
#include "tests/far/environment.h"
#include "tests/far/scripted_server.h"
#include "tests/readers/run_text.h"
#include "tests/support/build_folder.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;
using native::far::percent_decoded;

const std::string kFolder = std::string(GALATEA_SOURCE_DIR) + "/tests/readers/recorded";

std::string with_folder(std::string text, const std::string& folder) {
  for (size_t at = 0; (at = text.find('@', at)) != std::string::npos; at += folder.size())
    text.replace(at, 1, folder);
  return text;
}

/// The files of a folder as the bucket "bucket" of a store: "/bucket/KEY", and listings. Web addresses are
/// the same.
HttpReply store_reply(const HttpRequest& request, const std::string& folder) {
  const size_t question = request.target.find('?');
  const std::string path = percent_decoded(request.target.substr(0, question));
  if (path != "/bucket/") {
    const auto text = read_whole_file(folder + path.substr(std::string("/bucket").size()));
    if (!text) return {http_text(404, "", "<Error><Code>NoSuchKey</Code></Error>")};
    return file_reply(request, *text);
  }
  std::string prefix;
  const std::string query = request.target.substr(question + 1);
  if (const size_t at = query.find("prefix="); at != std::string::npos)
    prefix = percent_decoded(query.substr(at + 7, query.find('&', at) - at - 7));
  std::string content;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(folder) / prefix, error)) {
    const std::string name = prefix + entry.path().filename().string();
    content += entry.is_directory()
                   ? fmt::format("<CommonPrefixes><Prefix>{}/</Prefix></CommonPrefixes>", name)
                   : fmt::format("<Contents><Key>{}</Key></Contents>", name);
  }
  return {http_text(200, "", "<ListBucketResult>" + content + "</ListBucketResult>")};
}

class FarReaders : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto curl = native::far::Curl::get(); !curl) GTEST_SKIP() << curl.error().message();
  }
  /// Settings under which s3:// is this server, nothing is kept on disk, and failures come soon; a busy machine is none.
  static std::map<std::string, std::string> settings(const ScriptedServer& server) {
    return {{"AWS_ENDPOINT_URL_S3", server.address()}, {"AWS_ACCESS_KEY_ID", "AK"},
            {"AWS_SECRET_ACCESS_KEY", "hidden"},       {"GALATEA_CACHE_DIR", build_folder() + "/test-cache"},
            {"GALATEA_FAR_CACHE_SIZE", "0"},           {"GALATEA_FAR_STALL", "600"},
            {"GALATEA_FAR_TIME_LIMIT", "1200"},        {"GALATEA_FAR_TRIES", "2"}};
  }
};

void expect_same(const TextRun& a, const TextRun& b) {
  ASSERT_EQ(a.errors, std::vector<std::string>());
  ASSERT_EQ(b.errors, std::vector<std::string>());
  ASSERT_EQ(a.batch->outputs.size(), b.batch->outputs.size());
  for (size_t k = 0; k < a.batch->outputs.size(); ++k) {
    ASSERT_EQ(a.batch->outputs[k].samples.size(), b.batch->outputs[k].samples.size());
    for (size_t i = 0; i < a.batch->outputs[k].samples.size(); ++i) {
      const runtime::Tensor &x = a.batch->outputs[k].samples[i], &y = b.batch->outputs[k].samples[i];
      ASSERT_EQ(x.dtype, y.dtype);
      ASSERT_TRUE(std::ranges::equal(std::span(x.extents, static_cast<size_t>(x.ndim)),
                                     std::span(y.extents, static_cast<size_t>(y.ndim))));
      EXPECT_EQ(std::memcmp(x.data, y.data, static_cast<size_t>(x.num_bytes())), 0);
    }
  }
}

TEST_F(FarReaders, GiveWhatTheyGiveOfFilesHere) {
  ScriptedServer server([](const HttpRequest& request) { return store_reply(request, kFolder); });
  const OnlySettings only(settings(server));
  const nlohmann::json cases = parse_json(*read_whole_file(kFolder + "/dali.json"));
  std::set<std::string> readers;
  for (const nlohmann::json& recorded : cases) {
    const std::string name = recorded["name"], body = recorded["body"];
    // One of a kind and one with a list of files each: what parts of arrays are, tests/readers looks at.
    if (name.starts_with("numpy_roi_") || (name.starts_with("coco_") && name != "coco_images")) continue;
    SCOPED_TRACE(name);
    const std::string options = fmt::format("batch_size={}", recorded["batch"].get<int>());
    const TextRun here = run_text(with_folder(body, kFolder), options);
    expect_same(run_text(with_folder(body, "s3://bucket"), options), here);
    if (body.find("file_root=\"@") == std::string::npos)  // a web server lists no folder
      expect_same(run_text(with_folder(body, server.address() + "/bucket"), options), here);
    readers.insert(name.substr(0, name.find('_')));
  }
  EXPECT_EQ(readers, (std::set<std::string>{"caffe", "caffe2", "coco", "mxnet", "numpy", "sequence",
                                            "tfrecord", "webdataset"}));
}

TEST_F(FarReaders, AnArrayThatIsNotThereIsAskedForOnce) {
  ScriptedServer server([](const HttpRequest&) { return HttpReply{http_text(404, "", "")}; });
  const OnlySettings only(settings(server));
  const TextRun run =
      run_text("data = fn.readers.numpy(files=[\"" + server.address() + "/none.npy\"])\nreturn data * 2",
               "batch_size=1");
  ASSERT_EQ(run.errors.size(), 1u);
  EXPECT_NE(run.errors[0].find("the first array says what all are"), std::string::npos) << run.errors[0];
  EXPECT_EQ(server.requests().size(), 1u);
  // With an argument of which nothing is known: once for each value that is tried in its place.
  EXPECT_EQ(run_text("data = fn.readers.numpy(files=[\"" + server.address() +
                         "/none.npy\"], roi_start=nothing)\nreturn data * 2",
                     "batch_size=1")
                .errors.size(),
            1u);
  EXPECT_LE(server.requests().size(), 10u);
}

TEST_F(FarReaders, FilesComeByFolderByListAndByName) {
  const TestFolder folder;
  for (const char* name : {"b/x 1=2.jpg", "b/y.JPG", "a/z+.png", "a/notes.txt", "loose.jpg", "c/deep/er.jpg"})
    folder.write(name, std::string(name) + " holds this");
  folder.write("lists/all.txt", "../a/z+.png 3\nb/nowhere.jpg 4\n");
  folder.write("list.txt", "b/x 1=2.jpg 7\na/z+.png 9\n");
  ScriptedServer server(
      [&](const HttpRequest& request) { return store_reply(request, folder.path().string()); });
  const OnlySettings only(settings(server));
  const std::string web = server.address() + "/bucket";
  for (const std::string arguments :
       {"file_root=\"@\"", "file_root=\"@\", dir_filters=[\"b\"]", "file_list=\"@/list.txt\"",
        "file_list=\"@/list.txt\", file_root=\"@\"", "files=[\"a/z+.png\", \"b/y.JPG\"], file_root=\"@\""}) {
    SCOPED_TRACE(arguments);
    const std::string body = "a, b = fn.readers.file(" + arguments + ")\nreturn a, b";
    const TextRun here = run_text(with_folder(body, folder.path().string()), "batch_size=2");
    expect_same(run_text(with_folder(body, "s3://bucket"), "batch_size=2"), here);
    if (!arguments.starts_with("file_root"))
      expect_same(run_text(with_folder(body, web), "batch_size=2"), here);
  }
  EXPECT_EQ(
      run_text("a, b = fn.readers.file(file_root=\"" + web + "?k=hidden\")\nreturn a, b", "batch_size=2")
          .errors,
      std::vector<std::string>{"G0801 " + web + " is a web server's, which lists no files"});
  EXPECT_EQ(
      run_text("a, b = fn.readers.file(files=[\"s3://bucket/b/y.jpg\"])\nreturn a, b", "batch_size=1").errors,
      std::vector<std::string>{
          "G0803 cannot read s3://bucket/b/y.jpg: the server answers 404 Not Found, NoSuchKey"});
  EXPECT_EQ(
      run_text("a, b = fn.readers.file(file_list=\"s3://bucket/none.txt\")\nreturn a, b", "batch_size=1")
          .errors,
      std::vector<std::string>{
          "G0803 cannot read s3://bucket/none.txt: the server answers 404 Not Found, NoSuchKey"});
  const TextRun skipped = run_text(
      "a, b = fn.readers.file(files=[\"s3://bucket/b/y.JPG\", \"s3://bucket/nowhere.jpg\"])\nreturn b",
      "batch_size=2, on_error=\"skip\"");
  ASSERT_EQ(skipped.errors, std::vector<std::string>());
  EXPECT_EQ(skipped.batch->outputs[0].samples.size(), 1U);
}

/// A server that lists no class until a second one is asked for: who asks for one behind the other fails.
TEST_F(FarReaders, ClassesAreListedSeveralAtATime) {
  const TestFolder folder;
  for (const char* name : {"c/3.jpg", "a/1.jpg", "b/2.jpg", "a/0.jpg"}) folder.write(name, name);
  std::mutex mutex;
  std::condition_variable asked;
  int classes = 0;
  ScriptedServer server([&](const HttpRequest& request) -> HttpReply {
    if (request.target.find("prefix=") != std::string::npos && !request.target.ends_with("prefix=")) {
      std::unique_lock lock(mutex);
      ++classes;
      asked.notify_all();
      if (!asked.wait_for(lock, std::chrono::seconds(120), [&] { return classes >= 2; }))
        return {http_text(404, "", "<Error><Code>NoneElseWasAskedFor</Code></Error>")};
    }
    return store_reply(request, folder.path().string());
  });
  const OnlySettings only(settings(server));
  const std::string body = "a, b = fn.readers.file(file_root=\"@\")\nreturn a, b";
  expect_same(run_text(with_folder(body, "s3://bucket"), "batch_size=4"),
              run_text(with_folder(body, folder.path().string()), "batch_size=4"));
  EXPECT_EQ(classes, 3);
}

TEST_F(FarReaders, AForkedChildBeginsAnew) {
  if (kSanitized) GTEST_SKIP() << "the thread sanitizer starts no threads in a forked child";
  ScriptedServer server([](const HttpRequest& request) { return store_reply(request, kFolder); });
  const OnlySettings only(settings(server));
  const std::string expected = *read_whole_file(kFolder + "/plain.tar");
  const auto is_right = [&] {
    native::will_open("s3://bucket/plain.tar");
    const auto text = native::text_of("s3://bucket/plain.tar", "archive");
    return text && *text == expected;
  };
  ASSERT_TRUE(is_right());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(is_right() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(is_right());
}

}  // namespace
}  // namespace galatea::testing
