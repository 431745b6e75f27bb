// `galatea data` as scripts see it: round trips, kills, damage, names that mean harm.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/support/build_folder.h"
#include "tests/tools/program.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using galatea::parse_json;
using galatea::testing::build_folder;
using galatea::testing::contains;
using galatea::testing::Disturbance;
using galatea::testing::Outcome;
using galatea::testing::read_file;

const std::string kSamples = build_folder() + "/samples";
const std::string kRecorded = std::string(GALATEA_SOURCE_DIR) + "/tests/readers/recorded";
constexpr const char* kForms[] = {"webdataset", "tfrecord", "recordio", "lmdb"};
/// Every sample a shard of its own, and as many states between which a run can be stopped.
const std::vector<std::string> kSmallShards = {"--shard-samples", "1"};

class DataCommand : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Outcome data(std::vector<std::string> arguments, const std::vector<std::string>& more = {},
               const Disturbance& disturbance = {}) {
    arguments.insert(arguments.begin(), "data");
    arguments.insert(arguments.end(), more.begin(), more.end());
    return galatea::testing::run_galatea(std::move(arguments), folder_, disturbance);
  }
  Outcome convert(const std::string& from, const std::string& form, const std::string& to,
                  const std::vector<std::string>& more = {}) {
    return data({"convert", from, "--to", form, "--out", to}, more);
  }
  void write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  /// All files below a folder but for what conversions keep there.
  static std::map<std::string, std::string> files_of(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file() && entry.path().filename() != "galatea-convert.json" &&
          entry.path().filename() != "labels.txt")
        files[entry.path().lexically_relative(folder).string()] = read_file(entry.path());
    return files;
  }

  const galatea::testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

/// A member of an archive as ustar has it, whatever its name.
std::string tar_member(const std::string& name, const std::string& bytes, char type = '0',
                       const std::string& link = "") {
  std::string header(512, '\0');
  auto put = [&](size_t at, const std::string& text) {
    std::ranges::copy(text, header.begin() + static_cast<std::ptrdiff_t>(at));
  };
  char size[12];
  std::snprintf(size, sizeof size, "%011zo", bytes.size());
  put(0, name);
  put(100, "0000644");
  put(124, size);
  put(136, "00000000000");
  put(148, "        ");
  header[156] = type;
  put(157, link);
  put(257, "ustar");
  header[263] = header[264] = '0';
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  char digits[8];
  std::snprintf(digits, sizeof digits, "%06o", sum);
  put(148, std::string(digits) + '\0');
  return header + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
}
const std::string kTarEnd(1024, '\0');

/// A class that holds nothing but what readers.file does not take is not lost without a word.
TEST_F(DataCommand, NamesFilesThatNoSampleIsMadeOf) {
  std::string picture;
  for (const auto& entry : fs::recursive_directory_iterator(kSamples))
    if (entry.path().extension() == ".jpg") picture = read_file(entry.path());
  ASSERT_FALSE(picture.empty());
  write("photos/a/1.jpg", picture);
  write("photos/b/1.gif", "GIF89a");
  write("photos/b/README", "words");
  const std::string said =
      "passed over, since no sample is made of it: files *.gif, files without an extension\n";
  const auto kinds = Json::array({"files *.gif", "files without an extension"});
  const Outcome converted = convert(path("photos"), "webdataset", path("tar"));
  EXPECT_EQ(converted.status, 0) << converted.err;
  EXPECT_TRUE(converted.out.ends_with("\n" + said)) << converted.out;
  EXPECT_FALSE(contains(converted.out, "left out")) << converted.out;
  EXPECT_EQ(parse_json(convert(path("photos"), "lmdb", path("lmdb"), {"--json"}).out)["passed_over"], kinds);
  EXPECT_TRUE(contains(data({"inspect", path("photos"), "--html", path("page.html")}).out, said));
  EXPECT_TRUE(contains(read_file(path("page.html")), "files *.gif, files without an extension"));
  EXPECT_EQ(parse_json(data({"inspect", path("photos"), "--json"}).out)["passed_over"], kinds);
  EXPECT_EQ(data({"verify", path("photos")}).out, said + "1 sample, 0 failed\n");
  EXPECT_EQ(parse_json(data({"verify", path("photos"), "--json"}).out)["passed_over"], kinds);
  write("photos/2.jpg", picture);
  write("photos/labels.txt", "a 0\n");
  EXPECT_TRUE(
      contains(data({"verify", path("photos")}).out, ": files *.gif, files beside the folders of classes, "));
  // Archives: behind the last sample, too.
  write("hidden.tar", tar_member("a.jpg", picture) + tar_member("d/.x", "x") + kTarEnd);
  EXPECT_EQ(data({"verify", path("hidden.tar")}).out,
            "passed over, since no sample is made of it: hidden files\n1 sample, 0 failed\n");
  EXPECT_EQ(parse_json(data({"verify", path("tar"), "--json"}).out)["passed_over"], Json::array());
}

TEST_F(DataCommand, HelpAndWrongUsage) {
  const Outcome help = data({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* name : {"index", "inspect", "convert", "verify"}) {
    EXPECT_TRUE(contains(help.out, name)) << help.out;
    EXPECT_EQ(data({name}).status, 2);
    EXPECT_TRUE(contains(data({name, "--help"}).out, "example: ")) << name;
  }
  EXPECT_EQ(data({}).status, 2);
  EXPECT_TRUE(contains(data({"inspekt", "x"}).err, "did you mean `inspect`?"));
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{
           {"convert", kSamples, "--to", "zip", "--out", "x"},
           {"convert", kSamples, "--to", "lmdb"},
           {"convert", kSamples, "--to", "lmdb", "--out", "x", "--shard-samples", "0"},
           {"convert", kSamples, "--to", "tfrecord", "--out", "x", "--prefix", "a/b"},
           {"verify", kSamples, "--threads", "0"}}) {
    const Outcome o = data(bad);
    EXPECT_EQ(o.status, 2) << o.err;
    EXPECT_TRUE(o.out.empty());
  }
  const Outcome far = data({"inspect", "https://user:word@h/a.tar?key=word"});
  EXPECT_EQ(far.status, 1);
  EXPECT_TRUE(contains(far.err, "https://h/a.tar is not on this machine")) << far.err;
  const Outcome nowhere = data({"verify", path("nowhere")});
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_TRUE(contains(nowhere.err, "nowhere")) << nowhere.err;
  EXPECT_EQ(data({"inspect", "/dev/null"}).status, 1);
  fs::create_directories(path("empty"));
  for (const std::string form : kForms) {
    const Outcome nothing = convert(path("empty"), form, path("of_nothing_" + form));
    EXPECT_EQ(nothing.status, 1) << form;
    EXPECT_TRUE(contains(nothing.err, "there is nothing to convert")) << nothing.err;
  }
}

TEST_F(DataCommand, ConvertsThereAndBackByteForByte) {
  const auto samples = files_of(kSamples);
  ASSERT_EQ(samples.size(), 18u);
  for (const std::string form : kForms) {
    ASSERT_EQ(convert(kSamples, form, path(form), {"--shard-samples", "7"}).status, 0) << form;
    const Outcome back = convert(path(form), "folder", path("back_" + form));
    ASSERT_EQ(back.status, 0) << back.err;
    EXPECT_EQ(files_of(path("back_" + form)), samples) << form;
    // The labels are those of the folders.
    std::ifstream labels(path("back_" + form) + "/labels.txt");
    int lines = 0;
    for (std::string name, label; labels >> name >> label; ++lines)
      EXPECT_EQ(label, name.starts_with("buildings/") ? "0"
                       : name.starts_with("fields/")  ? "1"
                                                      : "2")
          << name;
    EXPECT_EQ(lines, 18);
  }
  // Any form becomes any other as if it came from the folder.
  for (const std::string from : {"tfrecord", "lmdb"})
    for (const std::string to : {"webdataset", "recordio"}) {
      ASSERT_EQ(convert(path(from), to, path(from + "_" + to), {"--shard-samples", "7"}).status, 0);
      EXPECT_EQ(files_of(path(from + "_" + to)), files_of(path(to))) << from << " to " << to;
    }
}

/// Files that other libraries wrote: names of every kind of header, labels of every kind, content that looks
/// like a record's head.
TEST_F(DataCommand, TakesWhatOthersWrote) {
  ASSERT_EQ(convert(kRecorded + "/all.rec", "recordio", path("rec")).status, 0);
  EXPECT_EQ(read_file(path("rec/data-000000.rec")), read_file(kRecorded + "/all.rec"));
  EXPECT_EQ(read_file(path("rec/data-000000.idx")), read_file(kRecorded + "/all.rec.idx"));
  for (const std::string name : {"gnu", "pax", "ustar"}) {
    ASSERT_EQ(convert(kRecorded + "/" + name + ".tar", "webdataset", path(name)).status, 0);
    const Outcome files = convert(path(name), "folder", path(name + "_files"));
    ASSERT_EQ(files.status, 0) << files.err;
    const auto found = files_of(path(name + "_files"));
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found.at("d/second.png"), "defg");
    EXPECT_EQ(found.at("d/third.jpg"), "h");
    const auto& [long_name, content] =
        *std::ranges::find_if(found, [](const auto& f) { return f.second == "abc"; });
    EXPECT_EQ(long_name.size(), name == "ustar" ? 137u : 186u) << content;
  }
  ASSERT_EQ(
      data({"index", kRecorded + "/a.tfrecord", kRecorded + "/b.tfrecord", "--out", folder_.string()}).status,
      0);
  EXPECT_EQ(read_file(path("a.idx")), read_file(kRecorded + "/a.idx"));
  EXPECT_EQ(read_file(path("b.idx")), read_file(kRecorded + "/b.idx"));
  // Several parts of a sample stay together where the form has room for them, and are told where it has none.
  const Outcome plain = convert(kRecorded + "/plain.tar", "lmdb", path("plain"));
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_TRUE(contains(plain.out, "left out, since lmdb has no place for it: the part \"seg.png\""))
      << plain.out;
  ASSERT_EQ(convert(kRecorded + "/plain.tar", "tfrecord", path("parts")).status, 0);
  ASSERT_EQ(convert(path("parts"), "webdataset", path("parts_tar")).status, 0);
  ASSERT_EQ(convert(kRecorded + "/plain.tar", "webdataset", path("plain_tar")).status, 0);
  EXPECT_EQ(files_of(path("parts_tar")), files_of(path("plain_tar")));
  // Features by other names.
  const Outcome named =
      convert(kRecorded + "/a.tfrecord", "webdataset", path("named"), {"--name-feature", "name"});
  ASSERT_EQ(named.status, 0) << named.err;
  EXPECT_TRUE(contains(named.out, "the feature \"boxes\"")) << named.out;
  const Outcome none = data({"verify", kRecorded + "/a.tfrecord", "--image-feature", "picture"});
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(contains(none.out, "has no text feature \"picture\"; it has boxes, image, label, name, wide"))
      << none.out;
}

/// A name with points is no key: two pictures of one name up to there must not become one sample.
TEST_F(DataCommand, KeepsNamesThatAreNoKeys) {
  for (const char* name : {"c/a.1.jpg", "c/a.2.jpg", "c/a.jpg", "c/a.png", "c/white space.jpg"})
    write(std::string("in/") + name, name);
  const Outcome made = convert(path("in"), "webdataset", path("tar"));
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_TRUE(contains(made.out, "5 samples")) << made.out;
  ASSERT_EQ(convert(path("tar"), "folder", path("out")).status, 0);
  EXPECT_EQ(files_of(path("out")), files_of(path("in")));
}

/// Killed wherever it is, again and again: in the end there is what an undisturbed run makes. The kernel kills the
/// first ones, in the middle of a file that becomes larger than it may be, further and further on; where a clock kills
/// the next ones, nobody knows, and one of them has time enough to end.
TEST_F(DataCommand, GoesOnAfterKills) {
  using Clock = std::chrono::steady_clock;
  for (const std::string form : {"webdataset", "tfrecord", "recordio", "lmdb", "folder"}) {
    SCOPED_TRACE(form);
    ASSERT_EQ(convert(kSamples, form, path("whole_" + form), kSmallShards).status, 0);
    const std::vector<std::string> command = {"convert", kSamples, "--to", form, "--out", path(form)};
    rlim_t largest = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path("whole_" + form)))
      if (entry.is_regular_file()) largest = std::max<rlim_t>(largest, entry.file_size());
    for (const rlim_t part : {16, 4, 2}) {
      const Outcome o = data(command, kSmallShards, {.file_bytes = largest / part});
      // The kernel writes as much as there is room for; LMDB takes that for an error before it tries the rest.
      ASSERT_EQ(o.status, form == "lmdb" ? 3 : 1000 + SIGXFSZ) << part << "\n" << o.err;
    }
    int status = -1;
    for (int wait = 1; status != 0; wait = wait * 3 / 2 + 1) {
      const Clock::time_point end = Clock::now() + std::chrono::milliseconds(wait);
      const Outcome o =
          data(command, kSmallShards, {.when = [&] { return Clock::now() >= end; }, .signal = SIGKILL});
      status = o.status;
      ASSERT_TRUE(status == 0 || status == 1000 + SIGKILL) << o.err;
    }
    auto found = files_of(path(form)), whole = files_of(path("whole_" + form));
    std::erase_if(found, [](const auto& file) { return file.first.ends_with(".partial"); });
    if (form == "lmdb") {  // which pages hold what depends on the transactions
      ASSERT_EQ(convert(path("lmdb"), "folder", path("lmdb_files")).status, 0);
      found = files_of(path("lmdb_files"));
      whole = files_of(kSamples);
    }
    EXPECT_EQ(found, whole);
  }
}

/// Stopped in the middle by a sample that cannot be read; what a kill between two steps leaves lies there, too.
TEST_F(DataCommand, GoesOnBehindTheLastShard) {
  for (const char* name : {"0.jpg", "1.jpg", "3.jpg"}) write(std::string("in/c/") + name, name);
  fs::create_symlink(path("elsewhere.jpg"), path("in/c/2.jpg"));
  Outcome o = convert(path("in"), "tfrecord", path("out"), kSmallShards);
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(contains(o.err, "2.jpg")) << o.err;
  EXPECT_TRUE(contains(o.err, "2 samples are done")) << o.err;
  write("out/data-000002.tfrecord", "half a shard");
  write("out/data-000003.tfrecord.partial", "half a shard");
  write("elsewhere.jpg", "here it is");
  o = convert(path("in"), "tfrecord", path("out"), {"--shard-samples", "1", "--json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json summary = parse_json(o.out);
  EXPECT_EQ(summary["samples"], 4);
  EXPECT_EQ(summary["resumed_at"], 2);
  EXPECT_EQ(summary["shards"], 4);
  ASSERT_EQ(convert(path("out"), "folder", path("back")).status, 0);
  EXPECT_EQ(read_file(path("back/c/2.jpg")), "here it is");
  // Done is done.
  o = convert(path("in"), "tfrecord", path("out"), kSmallShards);
  EXPECT_EQ(o.status, 0);
  EXPECT_TRUE(contains(o.err, "4 samples are there already")) << o.err;
  // Another source, other options: not the same conversion.
  EXPECT_TRUE(contains(convert(path("in"), "tfrecord", path("out")).err, "another conversion began there"));
  write("in/c/4.jpg", "one more");
  o = convert(path("in"), "tfrecord", path("out"), kSmallShards);
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(contains(o.err, "the source has changed")) << o.err;
  fs::remove(path("in/c/0.jpg"));
  fs::remove(path("in/c/1.jpg"));
  o = convert(path("in"), "tfrecord", path("out"), {"--shard-samples", "1", "--overwrite"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_FALSE(fs::exists(path("out/data-000003.tfrecord"))) << "of the conversion before";
  EXPECT_TRUE(fs::exists(path("out/data-000002.tfrecord")));
}

TEST_F(DataCommand, OverwritesNothingThatItWasNotTold) {
  write("out/mine.txt", "mine");
  Outcome o = convert(kSamples, "webdataset", path("out"));
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(contains(o.err, "it is not empty")) << o.err;
  EXPECT_EQ(files_of(path("out")).size(), 1u);
  EXPECT_EQ(convert(kSamples, "webdataset", path("out"), {"--overwrite"}).status, 0);
  EXPECT_EQ(read_file(path("out/mine.txt")), "mine");
  o = convert(path("out"), "tfrecord", path("out"), {"--overwrite"});
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(contains(o.err, "is read from there")) << o.err;
  // Indices: what is there stays, what is too old is said.
  write("i/a.tar", tar_member("a.jpg", "a") + kTarEnd);
  write("i/a.idx", "mine");
  fs::last_write_time(path("i/a.idx"), fs::last_write_time(path("i/a.tar")) + std::chrono::seconds(1));
  EXPECT_EQ(data({"index", path("i")}).status, 0);
  EXPECT_EQ(read_file(path("i/a.idx")), "mine");
  fs::last_write_time(path("i/a.idx"), fs::last_write_time(path("i/a.tar")) - std::chrono::seconds(1));
  EXPECT_EQ(data({"index", path("i")}).status, 1);
  EXPECT_EQ(read_file(path("i/a.idx")), "mine");
  EXPECT_EQ(data({"index", path("i"), "--force"}).status, 0);
  EXPECT_EQ(read_file(path("i/a.idx")), "v1.2 1\njpg 512 1 a.jpg\n");
  write("b.tar", tar_member("a b.jpg", "a") + tar_member("c.jpg", "c") + kTarEnd);
  EXPECT_EQ(data({"index", path("b.tar")}).status, 0);
  EXPECT_EQ(read_file(path("b.idx")), "v1.1 2\njpg 512 1\njpg 1536 1\n") << "names with white space";
}

/// Names that would lead out of the folder are errors; links in archives are passed over, and those that lie in
/// the folder already are not followed.
TEST_F(DataCommand, WritesNothingOutsideOfItsFolder) {
  for (const char* name : {"../evil.jpg", "/evil.jpg", "a/../../evil.jpg", "a//evil.jpg", "./evil.jpg"}) {
    write("evil.tar", tar_member(name, "evil") + tar_member("good.jpg", "good") + kTarEnd);
    for (const std::string form : {"folder", "webdataset", "lmdb"}) {
      const Outcome o = convert(path("evil.tar"), form, path("in/here"), {"--overwrite"});
      EXPECT_EQ(o.status, 1) << name << " " << o.out;
      EXPECT_TRUE(contains(o.err, "would lead out of the folder")) << o.err;
    }
    const Outcome o =
        convert(path("evil.tar"), "folder", path("in/here"), {"--overwrite", "--on-error", "skip"});
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(read_file(path("in/here/good.jpg")), "good");
    EXPECT_FALSE(fs::exists(path("in/evil.jpg")));
    fs::remove_all(path("in"));
  }
  fs::create_directories(path("outside"));
  write("link.tar", tar_member("cat", "", '2', path("outside")) + tar_member("cat/a.jpg", "a") + kTarEnd);
  ASSERT_EQ(convert(path("link.tar"), "folder", path("real")).status, 0);
  EXPECT_FALSE(fs::is_symlink(path("real/cat")));
  EXPECT_EQ(read_file(path("real/cat/a.jpg")), "a");
  fs::create_directories(path("trap"));
  fs::create_directory_symlink(path("outside"), path("trap/cat"));
  const Outcome o = convert(path("link.tar"), "folder", path("trap"), {"--overwrite"});
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(contains(o.err, "cannot write")) << o.err;
  EXPECT_TRUE(fs::is_empty(path("outside")));
  // What the folder keeps for itself is no sample's.
  write("state.tar", tar_member("galatea-convert.json", "{}") + kTarEnd);
  EXPECT_EQ(convert(path("state.tar"), "folder", path("state")).status, 1);
}

TEST_F(DataCommand, VerifyNamesFileAndPlace) {
  Outcome o = data({"verify", kSamples, "--threads", "2"});
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_EQ(o.out, "18 samples, 0 failed\n");
  const std::string jpg = read_file(kSamples + "/objects/00_usual.jpg");
  write("in/c/cut.jpg", jpg.substr(0, jpg.size() / 2));
  write("in/c/empty.jpg", "");
  write("in/c/fine.jpg", jpg);
  write("in/c/text.png", "no picture");
  o = data({"verify", path("in")});
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(contains(o.out, "in/c/cut.jpg: ")) << o.out;
  EXPECT_TRUE(contains(o.out, "in/c/empty.jpg: ")) << o.out;
  EXPECT_TRUE(contains(o.out, "in/c/text.png: ")) << o.out;
  EXPECT_TRUE(contains(o.out, "4 samples, 3 failed")) << o.out;
  // In containers with the place: a byte of a picture, found by the checksum; then the end of the file.
  ASSERT_EQ(convert(kSamples, "tfrecord", path("tf")).status, 0);
  std::string records = read_file(path("tf/data-000000.tfrecord"));
  std::ifstream index(path("tf/data-000000.idx"));
  std::vector<size_t> offsets;
  for (size_t offset = 0, size = 0; index >> offset >> size;) offsets.push_back(offset);
  records[offsets[3] + 500] ^= 1;
  write("bad.tfrecord", records.substr(0, records.size() - 1));
  o = data({"verify", path("bad.tfrecord"), "--json"});
  EXPECT_EQ(o.status, 1);
  std::istringstream lines(o.out);
  std::string line;
  std::getline(lines, line);
  const Json first = parse_json(line);
  EXPECT_EQ(first["file"], path("bad.tfrecord"));
  EXPECT_EQ(first["offset"], offsets[3]);
  EXPECT_EQ(first["code"], "G0802");
  std::getline(lines, line);
  EXPECT_TRUE(contains(line, "at byte " + std::to_string(offsets[17]))) << line;
  std::getline(lines, line);
  EXPECT_EQ(parse_json(line), (Json{{"samples", 17},
                                    {"failed", 2},
                                    {"unread_parts", 0},
                                    {"passed_over", Json::array()},
                                    {"complete", true}}));
  // A container that is damaged does not keep the next from being looked at.
  write("tars/a.tar", tar_member("a.jpg", jpg) + "nonsense" + std::string(1016, 'x'));
  write("tars/b.tar", tar_member("b.jpg", jpg) + kTarEnd);
  o = data({"verify", path("tars")});
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(contains(o.out, "a.tar is damaged at byte ")) << o.out;
  EXPECT_TRUE(contains(o.out, "2 samples, 1 failed")) << o.out;
  // Nothing to verify is no success, in no form.
  fs::create_directories(path("nothing/c"));
  for (const char* form : {"--json", "--threads=1"})
    EXPECT_EQ(data({"verify", path("nothing"), form}).status, 1) << form;
  // Names that are no text; links that lead nowhere; files without a byte.
  write("names/c/new\nline.jpg", jpg);
  write("names/c/\xFF\xC3\xA9.jpg", "cut");
  fs::create_symlink("gone", path("names/c/link.jpg"));
  o = data({"verify", path("names")});
  EXPECT_TRUE(contains(o.out, "names/c/\\xff\xC3\xA9.jpg: ")) << o.out;
  EXPECT_TRUE(contains(o.out, "names/c/link.jpg: it is a link to gone, which is not there")) << o.out;
  o = convert(path("names"), "webdataset", path("named"), {"--on-error", "skip"});
  EXPECT_TRUE(contains(o.err, "c/new\\x0aline.jpg: the name of a sample")) << o.err;
  EXPECT_FALSE(contains(o.err, "--on-error")) << o.err;
  write("empty.tar", "");
  EXPECT_TRUE(contains(data({"verify", path("empty.tar")}).err, "empty.tar is empty"));
  // A terminal's cursor stays where it is.
  write("escape.tar", tar_member("\x1b[2J.jpg", "x") + kTarEnd);
  o = data({"verify", path("escape.tar")});
  EXPECT_FALSE(contains(o.out, "\x1b")) << o.out;
  EXPECT_TRUE(contains(o.out, "\\x1b[2J")) << o.out;
}

TEST_F(DataCommand, InspectsAndDrawsAPage) {
  const Outcome o = data({"inspect", kSamples, "--json", "--html", path("page.html"), "--thumbnails", "5"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json found = parse_json(o.out);
  EXPECT_EQ(found["samples"], 18);
  EXPECT_EQ(found["pictures"], (Json{{"JPEG", 15}, {"PNG", 1}, {"WebP", 1}, {"BMP", 1}}));
  EXPECT_EQ(found["labels"][1], (Json{{"label", 1.0}, {"name", "fields"}, {"samples", 6}}));
  EXPECT_EQ(found["broken_count"], 0);
  int64_t bytes = 0, parts = 0;
  for (const auto& [name, content] : files_of(kSamples))
    if (name.ends_with(".jpg")) bytes += static_cast<int64_t>(content.size()), ++parts;
  EXPECT_EQ(found["parts"]["jpg"]["count"], parts);
  EXPECT_DOUBLE_EQ(found["parts"]["jpg"]["mean"], static_cast<double>(bytes) / static_cast<double>(parts));
  const std::string page = read_file(path("page.html"));
  size_t pictures = 0;
  for (size_t at = 0; (at = page.find("<img src=\"data:image/jpeg;base64,/9j/", at)) != std::string::npos;
       ++at)
    ++pictures;
  EXPECT_EQ(pictures, 5u);
  for (const char* outside : {"http:", "https:", "<script", "<link", "url("})
    EXPECT_FALSE(contains(page, outside)) << outside;
  // Names are text.
  const std::string jpg = read_file(kSamples + "/objects/00_usual.jpg");
  write("in/<script>alert(1)<&\"'/x.jpg", jpg);
  write("in/<script>alert(1)<&\"'/<img src=x onerror=y>.jpg", "broken");
  ASSERT_EQ(data({"inspect", path("in"), "--html", path("names.html")}).status, 0);
  const std::string names = read_file(path("names.html"));
  EXPECT_FALSE(contains(names, "<script")) << names;
  EXPECT_FALSE(contains(names, "<img src=x")) << names;
  EXPECT_TRUE(contains(names, "&lt;script&gt;alert(1)&lt;&amp;&quot;&#39;")) << names;
}

}  // namespace
