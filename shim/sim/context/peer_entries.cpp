// SPDX-License-Identifier: Apache-2.0
// Entry points: access between contexts of different devices (recorded: context_peer).
#include <set>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"

using namespace cufault::sim;

CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext handle, unsigned int flags) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto& context = call.current();
    require(flags == 0);
    const auto peer = call.use<Context>(handle, CUDA_ERROR_INVALID_CONTEXT);
    require(&peer->device != &context->device, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    require(context->peers.insert(peer->id).second, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  });
}

CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext handle) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto& context = call.current();
    const auto peer = call.use<Context>(handle, CUDA_ERROR_INVALID_CONTEXT);
    require(context->peers.erase(peer->id) != 0, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  });
}

CUresult CUDAAPI cuDeviceGetP2PAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations, unsigned int count,
                                                  CUdevice source, CUdevice target) {
  return api(__func__, kPlain, [&](Call& call) {
    require(capabilities != nullptr && operations != nullptr && count != 0);
    (void)call.driver.device(source);
    (void)call.driver.device(target);
    require(source != target, CUDA_ERROR_INVALID_DEVICE);
    call.unmodelled("atomic operations between devices");
  });
}
