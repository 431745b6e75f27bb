// `galatea serve` as a process of its own, and a client of it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include <httplib.h>

namespace galatea::testing {

class ServeProcess {
 public:
  /// Starts it and reads the address that it prints; without one, address() is empty.
  explicit ServeProcess(std::vector<std::string> arguments);
  /// Ends it if interrupt() has not.
  ~ServeProcess();
  ServeProcess(const ServeProcess&) = delete;
  ServeProcess& operator=(const ServeProcess&) = delete;

  const std::string& address() const { return address_; }
  int port() const { return port_; }
  const std::string& token() const { return token_; }
  httplib::Client client() const;
  /// Ctrl-C; gives the exit status, and all of stdout behind the address.
  int interrupt(std::string* rest_of_stdout = nullptr);

 private:
  pid_t child_ = -1;
  int output_ = -1;
  std::string address_, token_;
  int port_ = 0;
};

}  // namespace galatea::testing
