// SPDX-License-Identifier: Apache-2.0
// Entry points: initialisation, devices and their properties.
#include <algorithm>
#include <cstring>

#include "core/call.h"
#include "device/device.h"

using namespace cufault::sim;

namespace {

// The recorded driver copies at most `length - 1` characters and crashes for a length of 0.
void copy_text(char* out, int length, const char* text) {
  const std::size_t room = static_cast<unsigned>(length);
  const std::size_t count = std::min(room - 1, std::strlen(text));
  std::memcpy(out, text, count);
  out[count] = '\0';
}

}  // namespace

CUresult CUDAAPI cuInit(unsigned int flags) {
  return api(__func__, {.needs_init = false}, [&](Call& call) {
    require(flags == 0);
    call.driver.initialise();
  });
}

CUresult CUDAAPI cuDriverGetVersion(int* version) {
  return api(__func__, kAnywhere, [&](Call& call) {
    require(version != nullptr);
    *version = call.driver.configuration().driver_version;
  });
}

CUresult CUDAAPI cuDeviceGet(CUdevice* out, int ordinal) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = call.driver.device(ordinal).ordinal;
  });
}

CUresult CUDAAPI cuDeviceGetCount(int* count) {
  return api(__func__, kPlain, [&](Call& call) {
    require(count != nullptr);
    *count = static_cast<int>(call.driver.device_count());
  });
}

CUresult CUDAAPI cuDeviceGetName(char* name, int length, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(name != nullptr);
    const Device& device = call.driver.device(dev);
    if (length == 0) {
      call.misuse(CUFAULT_MISUSE_WOULD_CRASH, nullptr, "a length of 0");
      refuse(CUDA_ERROR_INVALID_VALUE);
    }
    copy_text(name, length, device.profile.name);
  });
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid* uuid, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(uuid != nullptr);
    *uuid = call.driver.device(dev).uuid;
  });
}

CUresult CUDAAPI cuDeviceGetLuid(char* luid, unsigned int* mask, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(luid != nullptr && mask != nullptr);
    (void)call.driver.device(dev);
    refuse(CUDA_ERROR_NOT_SUPPORTED);  // recorded: there are no LUIDs outside Windows
  });
}

CUresult CUDAAPI cuDeviceTotalMem(size_t* bytes, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(bytes != nullptr);
    *bytes = call.driver.device(dev).profile.total_memory;
  });
}

CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(value != nullptr);
    const Device& device = call.driver.device(dev);
    require(static_cast<unsigned>(attribute) < device.profile.attributes.size());
    const int recorded = device.attribute(attribute);
    require(recorded != DeviceProfile::kNoAttribute);
    *value = attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ? recorded + dev : recorded;
  });
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char* text, int length, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(text != nullptr && length > 0);
    copy_text(text, length, call.driver.device(dev).bus_id.c_str());
  });
}

CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice* out, const char* text) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && text != nullptr);
    for (std::size_t i = 0; i < call.driver.device_count(); ++i)
      if (call.driver.device(static_cast<CUdevice>(i)).bus_id == text) {
        *out = static_cast<CUdevice>(i);
        return;
      }
    refuse(CUDA_ERROR_INVALID_DEVICE);
  });
}

CUresult CUDAAPI cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(major != nullptr && minor != nullptr);
    const Device& device = call.driver.device(dev);
    *major = device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  });
}

CUresult CUDAAPI cuDeviceGetProperties(CUdevprop* properties, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(properties != nullptr);
    const Device& device = call.driver.device(dev);
    const auto get = [&](CUdevice_attribute which) { return device.attribute(which); };
    *properties = CUdevprop{};
    properties->maxThreadsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    properties->maxThreadsDim[0] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
    properties->maxThreadsDim[1] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
    properties->maxThreadsDim[2] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    properties->maxGridSize[0] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    properties->maxGridSize[1] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
    properties->maxGridSize[2] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    properties->sharedMemPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    properties->totalConstantMemory = get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    properties->SIMDWidth = get(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    properties->memPitch = get(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    properties->regsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    properties->clockRate = get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    properties->textureAlign = get(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  });
}

CUresult CUDAAPI cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType type, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(supported != nullptr);
    (void)call.driver.device(dev);
    (void)type;  // recorded: SUCCESS for an unknown type too
    *supported = 0;
  });
}

CUresult CUDAAPI cuDeviceGetTexture1DLinearMaxWidth(size_t* width, CUarray_format format, unsigned channels, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(width != nullptr);
    (void)call.driver.device(dev);
    unsigned size = 0;
    switch (format) {
      case CU_AD_FORMAT_UNSIGNED_INT8:
      case CU_AD_FORMAT_SIGNED_INT8: size = 1; break;
      case CU_AD_FORMAT_UNSIGNED_INT16:
      case CU_AD_FORMAT_SIGNED_INT16:
      case CU_AD_FORMAT_HALF: size = 2; break;
      case CU_AD_FORMAT_UNSIGNED_INT32:
      case CU_AD_FORMAT_SIGNED_INT32:
      case CU_AD_FORMAT_FLOAT: size = 4; break;
      default: refuse(CUDA_ERROR_INVALID_VALUE);
    }
    require(channels == 1 || channels == 2 || channels == 4);
    // Recorded: 2^32 bytes for one and for four floats, 2^30 elements at most.
    *width = std::min<std::size_t>(std::size_t{1} << 30, (std::size_t{1} << 32) / (size * channels));
  });
}

CUresult CUDAAPI cuDeviceCanAccessPeer(int* can, CUdevice dev, CUdevice peer) {
  return api(__func__, kPlain, [&](Call& call) {
    require(can != nullptr);
    (void)call.driver.device(dev);
    (void)call.driver.device(peer);
    *can = dev == peer ? 0 : 1;
  });
}

CUresult CUDAAPI cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice source, CUdevice target) {
  return api(__func__, kPlain, [&](Call& call) {
    require(value != nullptr);
    (void)call.driver.device(source);
    (void)call.driver.device(target);
    require(source != target, CUDA_ERROR_INVALID_DEVICE);
    switch (attribute) {
      case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: *value = 0; break;
      case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: *value = 1; break;
      default: refuse(CUDA_ERROR_INVALID_VALUE);
    }
  });
}

CUresult CUDAAPI cuDeviceGetHostAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                                   unsigned int count, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(capabilities != nullptr && operations != nullptr && count != 0);
    (void)call.driver.device(dev);
    for (unsigned i = 0; i < count; ++i)
      require(static_cast<unsigned>(operations[i]) <= CU_ATOMIC_OPERATION_FLOAT_MAX);
    for (unsigned i = 0; i < count; ++i) capabilities[i] = 0;  // recorded: the host link has no native atomics
  });
}

CUresult CUDAAPI cuDeviceGetNvSciSyncAttributes(void* list, CUdevice dev, int flags) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)call.driver.device(dev);
    (void)flags;
    require(list != nullptr, CUDA_ERROR_INVALID_HANDLE);
    call.unmodelled("NvSciSync");
  });
}

CUresult CUDAAPI cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target, CUflushGPUDirectRDMAWritesScope scope) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)call.current();
    require(target == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX);
    require(scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER || scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES);
  });
}
