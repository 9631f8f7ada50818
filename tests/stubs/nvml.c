/* What of libnvidia-ml.so.1 two GPUs need to tell their energy and power. STUB_GPU: volta, pascal or none. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SUCCESS 0
#define NOT_SUPPORTED 3
#define DRIVER_NOT_LOADED 9

static int is(const char *gpu) { return strcmp(getenv("STUB_GPU"), gpu) == 0; }

int nvmlInitWithFlags(unsigned int flags) { return is("none") ? DRIVER_NOT_LOADED : SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }
const char *nvmlErrorString(int result) { return "driver not loaded"; }

int nvmlDeviceGetCount_v2(unsigned int *count) {
    *count = 2;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device) {
    *device = (void *)(uintptr_t)(index + 1);
    return SUCCESS;
}

/* mW */
int nvmlDeviceGetPowerUsage(void *device, unsigned int *power) {
    *power = 70500 * (unsigned int)(uintptr_t)device;
    return SUCCESS;
}

/* mJ, since the driver was loaded: 2.5 J more at each call */
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *energy) {
    static unsigned long long calls[3];
    if (!is("volta")) return NOT_SUPPORTED;
    *energy = 9000000 + 2500 * ++calls[(uintptr_t)device];
    return SUCCESS;
}
