// SPDX-License-Identifier: Apache-2.0
// A second process for cases about sharing: forked before the driver is initialised, it and the case take turns.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <functional>

namespace probe {

// One end of the socket between the two. What cannot be sent or received shows in the rows that depend on it.
class Partner {
 public:
  explicit Partner(int socket) : socket_(socket) {}

  template <class T>
  void give(const T& what) const {
    send(&what, sizeof what);
  }
  template <class T>
  [[nodiscard]] T take() const {
    T what{};
    receive(&what, sizeof what);
    return what;
  }
  void give_descriptor(int descriptor) const;
  [[nodiscard]] int take_descriptor() const;

  void give_turn() const { give(1); }
  void await_turn() const { static_cast<void>(take<int>()); }

 private:
  void send(const void* what, std::size_t size) const;
  void receive(void* what, std::size_t size) const;

  int socket_;
};

// Runs the other side in a process of its own; answers this side's end.
[[nodiscard]] Partner fork_partner(const std::function<void(const Partner&)>& other_side);

}  // namespace probe
