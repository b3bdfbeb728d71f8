// Leaves one allocation behind: what leak_check.py has to find.
#include <level_zero/ze_api.h>

#include <cstdio>

int main() {
  uint32_t count = 1;
  ze_driver_handle_t driver = nullptr;
  ze_context_handle_t context = nullptr;
  void* memory = nullptr;
  const ze_context_desc_t context_desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  const ze_host_mem_alloc_desc_t memory_desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  const bool leaked =
      zeInit(0) == ZE_RESULT_SUCCESS && zeDriverGet(&count, &driver) == ZE_RESULT_SUCCESS &&
      zeContextCreate(driver, &context_desc, &context) == ZE_RESULT_SUCCESS &&
      zeMemAllocHost(context, &memory_desc, 4096, 4096, &memory) == ZE_RESULT_SUCCESS &&
      zeContextDestroy(context) == ZE_RESULT_SUCCESS;
  if (!leaked) {
    std::fprintf(stderr, "leaks: a call failed, so that nothing can be shown\n");
  }
  return leaked ? 0 : 2;
}
