// SPDX-License-Identifier: Apache-2.0
// A callable passed by reference, so that the scoped-context helpers are ordinary functions and allocate nothing.
#ifndef CUFAULT_HANDLES_FUNCTION_REF_H
#define CUFAULT_HANDLES_FUNCTION_REF_H

#include <memory>
#include <type_traits>
#include <utility>

namespace cufault::handles {

template <class Signature>
class function_ref;

// Valid only while the callable lives: for parameters, never for members.
template <class Result, class... Args>
class function_ref<Result(Args...)> {
 public:
  template <class Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, function_ref> &&
           std::is_invocable_r_v<Result, Callable&, Args...>) function_ref(Callable&& callable)
  noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        invoke_([](void* object, Args... args) -> Result {
          return (*static_cast<std::add_pointer_t<std::remove_reference_t<Callable>>>(object))(
              std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return invoke_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  Result (*invoke_)(void*, Args...);
};

}  // namespace cufault::handles

#endif
