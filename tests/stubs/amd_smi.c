/* What of libamd_smi.so two GPUs need to tell their energy and power. STUB_GPU: mi300, mi200, silent or none. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OK 0
#define NOT_SUPPORTED 2
#define DRIVER_NOT_LOADED 34

typedef void *handle;

struct power {
    uint64_t socket_power;
    uint32_t current, average;
    uint64_t gfx_voltage, soc_voltage, mem_voltage;
    uint32_t limit, padding;
    uint64_t reserved[18];
};

static int is(const char *gpu) { return strcmp(getenv("STUB_GPU"), gpu) == 0; }

uint32_t amdsmi_init(uint64_t flags) { return is("none") ? DRIVER_NOT_LOADED : OK; }
uint32_t amdsmi_shut_down(void) { return OK; }

uint32_t amdsmi_get_socket_handles(uint32_t *count, handle *sockets) {
    if (sockets) sockets[0] = (handle)1;
    *count = 1;
    return OK;
}

uint32_t amdsmi_get_processor_handles(handle socket, uint32_t *count, handle *gpus) {
    if (gpus) { gpus[0] = (handle)1; gpus[1] = (handle)2; }
    *count = 2;
    return OK;
}

/* function 3 bits, device 5, bus 8, domain 48: buses 0x05 and 0x0a */
uint32_t amdsmi_get_gpu_device_bdf(handle gpu, uint64_t *bdf) {
    *bdf = ((uint64_t)(uintptr_t)gpu * 5) << 8;
    return OK;
}

uint32_t amdsmi_get_power_info(handle gpu, struct power *power) {
    if (is("silent")) return NOT_SUPPORTED;
    memset(power, 0xff, sizeof *power);
    power->current = is("mi300") ? 100 * (uint32_t)(uintptr_t)gpu : 0xFFFF;
    power->average = is("mi200") ? 30 * (uint32_t)(uintptr_t)gpu : 0xFFFF;
    return OK;
}

/* a million ticks of 15.259 uJ more at each call */
uint32_t amdsmi_get_energy_count(handle gpu, uint64_t *ticks, float *resolution, uint64_t *when) {
    static uint64_t calls[3];
    if (!is("mi300")) return NOT_SUPPORTED;
    *ticks = 7000000 + 1000000 * ++calls[(uintptr_t)gpu];
    *resolution = 15.259f;
    *when = 0;
    return OK;
}
