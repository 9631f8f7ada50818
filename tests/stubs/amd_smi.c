/*
 * What of libamd_smi.so two GPUs need to tell what they do. STUB_GPU says which machine this is:
 *   mi300    table 1.6: current power, accumulators of activity, eight gfx clocks, XGMI
 *   mi200    table 1.3: average power, accumulators, one gfx clock, no XGMI; widened fields keep their old "none"
 *   mi100    table 1.1: accumulators, but no firmware clock
 *   cpx      mi300 in CPX: two handles for each GPU
 *   partial  mi300 whose memory in use is not supported
 *   falls    mi300 whose second GPU does not answer at two looks, the third and fourth or from STUB_FALLS_AT on
 *   tableless mi300 whose table is not told any more from the third look on, while its memory is
 *   na       a table in which nothing is told
 *   mismatch a table of a version that the library does not know; power alone is told
 *   denied   every call is refused for want of permission
 *   silent, none, noperm: nothing is supported; no driver; initialising is refused
 * At look n of a GPU g (1 or 2) its counters stand where a known answer can be had: see table().
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OK 0
#define NOT_SUPPORTED 2
#define NO_PERM 10
#define IO 12
#define DRIVER_NOT_LOADED 34

typedef void *handle;

struct power {
    uint64_t socket_power;
    uint32_t current, average;
    uint64_t gfx_voltage, soc_voltage, mem_voltage;
    uint32_t limit, padding;
    uint64_t reserved[18];
};

struct partition_metrics {
    uint32_t gfx_busy_inst[8];
    uint16_t jpeg_busy[40], vcn_busy[4];
    uint64_t busy_acc[8], below_acc[8], ppt_acc[8], thm_acc[8], low_acc[8], total_acc[8];
};

struct metrics {
    uint16_t structure_size;
    uint8_t format_revision, content_revision;
    uint16_t temperature_edge, temperature_hotspot, temperature_mem, vrgfx, vrsoc, vrmem;
    uint16_t average_gfx_activity, average_umc_activity, average_mm_activity, average_socket_power;
    uint64_t energy_accumulator, system_clock_counter;
    uint16_t average_clocks[7], current_gfxclk, current_socclk, current_uclk, current_media_clocks[4];
    uint32_t throttle_status;
    uint16_t fan_speed, pcie_link_width, pcie_link_speed;
    uint32_t gfx_activity_acc, mem_activity_acc;
    uint16_t temperature_hbm[4];
    uint64_t firmware_timestamp;
    uint16_t voltages[3];
    uint64_t indep_throttle_status;
    uint16_t current_socket_power, vcn_activity[4];
    uint32_t gfxclk_lock_status;
    uint16_t xgmi_link_width, xgmi_link_speed;
    uint64_t pcie_bandwidth_acc, pcie_bandwidth_inst, pcie_counts[3];
    uint64_t xgmi_read[8], xgmi_written[8];
    uint16_t current_gfxclks[8], current_socclks[4], current_vclk0s[4], current_dclk0s[4], jpeg_activity[32];
    uint32_t pcie_naks[2];
    uint64_t accumulation_counter, residencies[5];
    uint16_t num_partition;
    struct partition_metrics partitions[8];
    uint32_t other_end_recovery;
    uint64_t vram_max_bandwidth;
    uint16_t xgmi_link_status[8];
};

struct asic {
    char market_name[256];
    uint32_t vendor_id;
    char vendor_name[256];
    uint32_t subvendor_id;
    uint64_t device_id;
    uint32_t rev_id;
    char serial[256];
    uint32_t oam_id, compute_units;
    uint64_t graphics_version;
    uint32_t subsystem_id, reserved[21];
};

struct driver { char version[256], date[256], name[256]; };
struct enumeration { uint32_t drm_render, drm_card, hsa_id, hip_id; char hip_uuid[256]; };

static uint64_t looks[5];

/* for a test that holds this layout to the package's */
uint32_t stub_size_of_metrics(void) { return sizeof(struct metrics); }

static int is(const char *gpu) { return strcmp(getenv("STUB_GPU"), gpu) == 0; }
static int like_mi300(void) { return is("mi300") || is("cpx") || is("partial") || is("falls") || is("tableless"); }
static uint64_t number_of(handle gpu) { return is("cpx") ? ((uintptr_t)gpu + 1) / 2 : (uintptr_t)gpu; }
static uint64_t look_of(handle gpu) { return looks[(uintptr_t)gpu]; }

static uint32_t refused(handle gpu) {
    if (is("denied")) return NO_PERM;
    if (is("silent")) return NOT_SUPPORTED;
    const char *said = getenv("STUB_FALLS_AT");
    uint64_t first = said ? strtoull(said, 0, 10) : 3;
    if (is("falls") && number_of(gpu) == 2 && (look_of(gpu) == first || look_of(gpu) == first + 1)) return IO;
    return OK;
}

uint32_t amdsmi_init(uint64_t flags) { return is("none") ? DRIVER_NOT_LOADED : is("noperm") ? NO_PERM : OK; }
uint32_t amdsmi_shut_down(void) { return OK; }

uint32_t amdsmi_get_socket_handles(uint32_t *count, handle *sockets) {
    if (sockets) sockets[0] = (handle)1;
    *count = 1;
    return OK;
}

uint32_t amdsmi_get_processor_handles(handle socket, uint32_t *count, handle *gpus) {
    uint32_t n = is("cpx") ? 4 : 2;
    for (uint32_t i = 0; gpus && i < n; i++) gpus[i] = (handle)(uintptr_t)(i + 1);
    *count = n;
    return OK;
}

/* function 3 bits, device 5, bus 8, domain 48: buses 0x05 and 0x0a; in CPX the function is the partition's */
uint32_t amdsmi_get_gpu_device_bdf(handle gpu, uint64_t *bdf) {
    *bdf = (number_of(gpu) * 5) << 8 | (is("cpx") ? ((uintptr_t)gpu - 1) % 2 : 0);
    return OK;
}

uint32_t amdsmi_get_gpu_asic_info(handle gpu, struct asic *asic) {
    if (refused(gpu)) return refused(gpu);
    memset(asic, 0, sizeof *asic);
    strcpy(asic->market_name, is("mi200") ? "AMD Instinct MI250X" : "AMD Instinct MI300X");
    strcpy(asic->serial, "0x1234");
    asic->vendor_id = 0x1002;
    asic->device_id = is("mi200") ? 0x7408 : 0x74a1;
    asic->graphics_version = is("mi200") ? 0x90a : 0x942;
    asic->compute_units = is("mi200") ? 110 : 304;
    return OK;
}

uint32_t amdsmi_get_gpu_driver_info(handle gpu, struct driver *driver) {
    if (refused(gpu)) return refused(gpu);
    memset(driver, 0, sizeof *driver);
    strcpy(driver->version, "6.14.14");
    return OK;
}

/* HIP counts the other way round here, so that nobody takes the order of the handles for it */
uint32_t amdsmi_get_gpu_enumeration_info(handle gpu, struct enumeration *told) {
    uint32_t n = is("cpx") ? 4 : 2;
    if (!like_mi300()) return NOT_SUPPORTED;
    memset(told, 0, sizeof *told);
    told->hip_id = n - (uint32_t)(uintptr_t)gpu;
    strcpy(told->hip_uuid, "GPU-0000000000000a0");
    told->hip_uuid[18] = (char)('0' + (uintptr_t)gpu);
    return OK;
}

static uint32_t text(handle gpu, char *out, uint32_t length, const char *said) {
    if (!like_mi300()) return NOT_SUPPORTED;
    strncpy(out, said, length);
    return OK;
}

uint32_t amdsmi_get_gpu_compute_partition(handle gpu, char *out, uint32_t length) {
    return text(gpu, out, length, is("cpx") ? "CPX" : "SPX");
}

uint32_t amdsmi_get_gpu_memory_partition(handle gpu, char *out, uint32_t length) {
    return text(gpu, out, length, "NPS1");
}

uint32_t amdsmi_get_power_info(handle gpu, struct power *power) {
    if (refused(gpu)) return refused(gpu);
    if (is("na")) return NOT_SUPPORTED;
    memset(power, 0xff, sizeof *power);
    power->current = like_mi300() ? 100 * (uint32_t)number_of(gpu) : 0xFFFF;
    power->average = like_mi300() ? 0xFFFF : 30 * (uint32_t)number_of(gpu);
    return OK;
}

/* what both generations tell, at look n of GPU g: each look a second of the firmware's clock after the one before */
static void common(struct metrics *table, uint64_t g, uint64_t n) {
    table->format_revision = 1;
    table->temperature_hotspot = (uint16_t)(50 + g);
    table->temperature_mem = (uint16_t)(40 + g);
    table->average_gfx_activity = n % 2 ? 100 : 0;
    table->current_uclk = 1300;
    /* 25 and 50 % of each second; the first GPU's counter overflows between looks 1 and 2 */
    table->gfx_activity_acc = (uint32_t)(4294967295u - 30000u + 25000u * g * n);
    table->mem_activity_acc = (uint32_t)(10000 * g * n);
    table->firmware_timestamp = 500000000 + 100000000 * n;
}

static void table_mi300(struct metrics *table, uint64_t g, uint64_t n) {
    table->content_revision = 6;
    table->current_socket_power = (uint16_t)(100 * g);
    table->energy_accumulator = 7000000 + 1000000 * n;
    table->pcie_bandwidth_inst = 8000 * g;
    for (int i = 0; i < 8; i++) table->current_gfxclks[i] = (uint16_t)(2000 + 10 * i);
    for (int i = 0; i < 7; i++) {
        table->xgmi_read[i] = 1000 + n * 100 * (i + 1);
        table->xgmi_written[i] = n * 50 * g;
    }
}

static void table_mi200(struct metrics *table, uint64_t g) {
    table->content_revision = 3;
    table->average_socket_power = (uint16_t)(30 * g);
    table->current_gfxclk = 1700;
    table->pcie_bandwidth_inst = 0xFFFF;
    for (int i = 0; i < 4; i++) table->temperature_hbm[i] = (uint16_t)(60 + i);
    for (int i = 0; i < 8; i++) table->xgmi_read[i] = 0xFFFFFFFF;
}

uint32_t amdsmi_get_gpu_metrics_info(handle gpu, struct metrics *table) {
    uint64_t n = ++looks[(uintptr_t)gpu], g = number_of(gpu);
    if (refused(gpu)) return refused(gpu);
    if (is("mismatch") || (is("tableless") && n > 2)) return NOT_SUPPORTED;
    memset(table, 0xff, sizeof *table);
    if (is("na")) return OK;
    common(table, g, n);
    if (like_mi300()) table_mi300(table, g, n);
    else table_mi200(table, g);
    if (is("mi100")) { table->content_revision = 1; table->firmware_timestamp = 0xFFFFFFFFFFFFFFFF; }
    return OK;
}

uint32_t amdsmi_get_gpu_memory_total(handle gpu, uint32_t kind, uint64_t *bytes) {
    if (refused(gpu) || is("na")) return refused(gpu) ? refused(gpu) : NOT_SUPPORTED;
    *bytes = 206141652992;
    return kind == 0 ? OK : NOT_SUPPORTED;
}

uint32_t amdsmi_get_gpu_memory_usage(handle gpu, uint32_t kind, uint64_t *bytes) {
    if (refused(gpu)) return refused(gpu);
    if (is("partial") || is("mismatch") || is("na")) return NOT_SUPPORTED;
    *bytes = 1000000000 * number_of(gpu) + look_of(gpu);
    return kind == 0 ? OK : NOT_SUPPORTED;
}

uint32_t amdsmi_get_energy_count(handle gpu, uint64_t *ticks, float *resolution, uint64_t *when) {
    if (refused(gpu)) return refused(gpu);
    if (!like_mi300()) return NOT_SUPPORTED;
    *ticks = 7000000;
    *resolution = 15.259f;
    *when = 0;
    return OK;
}
