#include "tools/serve/policy_alone.h"

#include <filesystem>

#include "policy/operation.h"
#include "policy/reader.h"
#include "tools/messages.h"
#include "tools/policy/over_pictures.h"

namespace galatea::tools::serve {
namespace {

namespace fs = std::filesystem;

constexpr int kDrawn = 8;  // pictures
constexpr const char* kDraws = "        *[augment(image, shape=[160, 160]) for draw in range(4)],";

/// What the policy works on; of a document that is wrong for now, pictures.
policy::DataKind kind_of(const std::string& file) {
  constexpr size_t kLargest = size_t{1} << 20;
  std::string ignored;
  const auto document = read_document({file, policy::read_text_file(file, kLargest).value_or("")}, ignored);
  return document ? policy::data_of(*document) : policy::DataKind::kPictures;
}

}  // namespace

std::optional<PolicyAlone> PolicyAlone::make(const std::string& policy, const std::string& data,
                                             Reporter& reporter) {
  PolicyAlone alone;
  Pictures pictures{data};
  const policy::DataKind kind = kind_of(policy);
  if (data.empty() && kind == policy::DataKind::kSound) {
    reporter.report(tool_error(Message::kNoDataForPolicy, policy).error());
    return std::nullopt;
  }
  if (data.empty()) {
    alone.drawn_ = std::make_unique<PictureFolder>();
    if (!alone.drawn_->draw(kDrawn, reporter)) return std::nullopt;
    pictures.data = alone.drawn_->path();
  } else {
    pictures.data = fs::absolute(data).string();
  }
  const fs::path document = policy;
  alone.file_ = (document.parent_path() / "pictures.dali-dsl").string();
  alone.text_ = text_over_pictures(document.filename().string(), kind, pictures, kDraws);
  return alone;
}

}  // namespace galatea::tools::serve
