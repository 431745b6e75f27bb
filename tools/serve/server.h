// The routes of `galatea serve` (docs/serve.md lists them).
//
// Comes in: requests, from any thread. Goes out: the page, JSON, pictures. No part of a request names a file.
#pragma once

#include <string>

#include "tools/serve/follow.h"
#include "tools/serve/policy_panel.h"
#include "tools/serve/previews.h"
#include "tools/serve/security.h"

namespace galatea::tools::serve {

class Server {
 public:
  /// `policy`: the document that the pipeline was made for; empty: the pipeline is the user's.
  Server(const PipelineHost& host, std::string file, PipelineOptions options, Door door,
         std::string policy = {});

  Response answer(const Request& request);
  /// Looks whether the files are others; to be called a few times in a second.
  void follow();
  /// Whoever waits is answered.
  void end() { previews_.end(); }

 private:
  Response route(const Request& request);
  Response pipeline(const Request& request);
  Response frame(const Request& request);
  Response node(const Request& request);
  Response times(const Request& request);
  Response trace(const Request& request);
  Response events(const Request& request) const;

  /// What to follow.
  std::vector<std::string> files_behind(const Preview& preview) const;

  std::string text() const;

  const std::string file_, policy_;
  const PipelineOptions options_;
  const Door door_;
  Previews previews_;
  FollowedFiles files_;
  PolicyPanel policies_;
};

/// What the page asks for: set=NAME=VALUE (any number of times), seed, first, samples, draw. Nothing: a part of it is
/// no number, out of range, or too long.
std::optional<Choice> choice_of(const Request& request);

}  // namespace galatea::tools::serve
