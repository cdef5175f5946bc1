// SPDX-License-Identifier: Apache-2.0
// The second process, and the socket to it.
#include "cases/partner.h"

#include <sys/socket.h>

#include <cstdlib>
#include <cstring>

namespace probe {
namespace {

// A message of one byte with room for one descriptor.
struct Parcel {
  char byte = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{&byte, 1};
  msghdr header{};

  Parcel() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
};

constexpr unsigned time_limit_s = 20;

}  // namespace

void Partner::send(const void* what, std::size_t size) const {
  [[maybe_unused]] const ssize_t sent = write(socket_, what, size);
}

void Partner::receive(void* what, std::size_t size) const {
  for (std::size_t have = 0; have < size;) {
    const ssize_t n = read(socket_, static_cast<char*>(what) + have, size - have);
    if (n <= 0) return;
    have += static_cast<std::size_t>(n);
  }
}

void Partner::give_descriptor(int descriptor) const {
  Parcel parcel;
  cmsghdr* note = CMSG_FIRSTHDR(&parcel.header);
  note->cmsg_level = SOL_SOCKET;
  note->cmsg_type = SCM_RIGHTS;
  note->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(note), &descriptor, sizeof descriptor);
  [[maybe_unused]] const ssize_t sent = sendmsg(socket_, &parcel.header, 0);
}

int Partner::take_descriptor() const {
  Parcel parcel;
  if (recvmsg(socket_, &parcel.header, 0) <= 0 || CMSG_FIRSTHDR(&parcel.header) == nullptr) return -1;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&parcel.header)), sizeof descriptor);
  return descriptor;
}

Partner fork_partner(const std::function<void(const Partner&)>& other_side) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
  if (fork() == 0) {
    close(ends[0]);
    alarm(time_limit_s);
    other_side(Partner{ends[1]});
    _exit(0);
  }
  close(ends[1]);
  return Partner{ends[0]};
}

}  // namespace probe
