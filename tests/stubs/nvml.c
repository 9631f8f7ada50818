/*
 * What of libnvidia-ml.so.1 two GPUs need to tell what they do. STUB_GPU: hopper, volta (no NVLink, no memory
 * temperature), pascal (no energy either), falls (hopper whose second GPU is lost at its third and fourth look) or none.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SUCCESS 0
#define NOT_SUPPORTED 3
#define DRIVER_NOT_LOADED 9
#define GPU_IS_LOST 15
#define ALL_LINKS 0xFFFFFFFFu

struct pci {
    char legacy[16];
    unsigned int domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};
struct memory { unsigned long long total, free, used; };
struct utilization { unsigned int gpu, memory; };
struct field {
    uint32_t id, scope;
    int64_t timestamp, latency;
    uint32_t type, result;
    union { double d; unsigned int ui; unsigned long long ull; } value;
};

static unsigned long long looks[3];

static int is(const char *gpu) { return strcmp(getenv("STUB_GPU"), gpu) == 0; }
static int hopper(void) { return is("hopper") || is("falls"); }
static unsigned int of(void *device) { return (unsigned int)(uintptr_t)device; }
static int lost(void *device) { return is("falls") && of(device) == 2 && (looks[2] == 3 || looks[2] == 4); }
static int told(void *device) { return lost(device) ? GPU_IS_LOST : SUCCESS; }

int nvmlInitWithFlags(unsigned int flags) { return is("none") ? DRIVER_NOT_LOADED : SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }
const char *nvmlErrorString(int result) { return result == NOT_SUPPORTED ? "Not Supported" : "driver not loaded"; }

int nvmlDeviceGetCount_v2(unsigned int *count) {
    *count = 2;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device) {
    *device = (void *)(uintptr_t)(index + 1);
    return SUCCESS;
}

int nvmlSystemGetDriverVersion(char *out, unsigned int length) { strncpy(out, "580.65", length); return SUCCESS; }
int nvmlSystemGetNVMLVersion(char *out, unsigned int length) { strncpy(out, "13.580.65", length); return SUCCESS; }

int nvmlDeviceGetName(void *device, char *out, unsigned int length) {
    strncpy(out, "NVIDIA H200", length);
    return SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *out, unsigned int length) {
    strncpy(out, of(device) == 1 ? "GPU-aaaa" : "GPU-bbbb", length);
    return SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci) {
    memset(pci, 0, sizeof *pci);
    strcpy(pci->bus_id, of(device) == 1 ? "00000000:1B:00.0" : "00000000:43:00.0");
    pci->device_id = 0x233510DE;
    return SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) {
    *major = 9;
    *minor = 0;
    return SUCCESS;
}

/* mJ, since the driver was loaded: 2.5 J more at each look, of which this is the first call */
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *energy) {
    unsigned long long n = ++looks[of(device)];
    if (is("pascal")) return NOT_SUPPORTED;
    *energy = 9000000 + 2500 * n;
    return told(device);
}

/* mW */
int nvmlDeviceGetPowerUsage(void *device, unsigned int *power) {
    *power = 70500 * of(device);
    return told(device);
}

int nvmlDeviceGetUtilizationRates(void *device, struct utilization *rates) {
    rates->gpu = 40 * of(device);
    rates->memory = 20 * of(device);
    return told(device);
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory) {
    memory->total = 150754820096ull;
    memory->used = 1000000000ull * of(device);
    memory->free = memory->total - memory->used;
    return told(device);
}

int nvmlDeviceGetTemperature(void *device, unsigned int sensor, unsigned int *celsius) {
    *celsius = 60 + of(device);
    return told(device);
}

int nvmlDeviceGetClockInfo(void *device, unsigned int clock, unsigned int *mhz) {
    *mhz = clock == 1 ? 1980 : 3201;
    return told(device);
}

/* KB/s */
int nvmlDeviceGetPcieThroughput(void *device, unsigned int way, unsigned int *rate) {
    *rate = way == 0 ? 1000 : 500;
    return told(device);
}

/* NVLink in KiB: 10 more read and 20 more written at each look */
int nvmlDeviceGetFieldValues(void *device, int count, struct field *fields) {
    for (int i = 0; i < count; i++) {
        fields[i].result = hopper() ? SUCCESS : NOT_SUPPORTED;
        if (fields[i].id == 82) fields[i].value.ui = 50 + of(device);
        else if (fields[i].scope != ALL_LINKS) fields[i].result = NOT_SUPPORTED;
        else fields[i].value.ull = 7000 + looks[of(device)] * (fields[i].id == 139 ? 10 : 20);
    }
    return told(device);
}
