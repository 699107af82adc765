/* Reads all slots of a file once and gives them back: read_slots FILE SLOTS SLOT_BYTES [DOORBELLS]
 *
 * cc -std=c11 -O2 -I include examples/read_slots.c -o read_slots
 */
#include "forebay_slots.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

static void *map(const char *path, size_t bytes, int write)
{
    struct stat there;
    int file = open(path, write ? O_RDWR : O_RDONLY);
    if (file >= 0 && fstat(file, &there) == 0 && S_ISREG(there.st_mode) && (size_t)there.st_size < bytes) {
        /* reading behind a file's end would end this process */
        fprintf(stderr, "read_slots: %s has %lld bytes, %zu are needed\n", path, (long long)there.st_size, bytes);
        exit(1);
    }
    void *memory = file < 0 ? MAP_FAILED : mmap(NULL, bytes, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    return memory;
}

int main(int count, char **arguments)
{
    if (count < 4) {
        fprintf(stderr, "usage: read_slots FILE SLOTS SLOT_BYTES [DOORBELLS]\n");
        return 2;
    }
    unsigned slots = (unsigned)strtoul(arguments[2], NULL, 10);
    size_t slot_bytes = strtoul(arguments[3], NULL, 10);
    if (slots == 0 || slots > 65536 || slot_bytes < 128 || slot_bytes % 64 != 0) {
        fprintf(stderr, "read_slots: 1 to 65536 slots of a multiple of 64 bytes, at least 128\n");
        return 2;
    }
    const volatile void *memory = map(arguments[1], slots * slot_bytes, 0);
    volatile uint32_t *doorbells = count > 4 ? map(arguments[4], 4096, 1) : NULL;
    struct forebay_slot_seen *seen = calloc(slots, sizeof *seen);
    uint32_t *ids = malloc(slot_bytes);
    if (!seen || !ids)
        return 1;
    for (unsigned n = 0; n < slots; n++) {
        struct forebay_slot slot;
        int result = forebay_slot_poll(memory, slot_bytes, (uint16_t)n, &seen[n], &slot);
        if (result == FOREBAY_SLOT_NEW)
            result = forebay_slot_ids(memory, slot_bytes, &slot, ids);
        if (result < 0)
            printf("slot %u: error %d\n", n, result);
        if (result != FOREBAY_SLOT_NEW)
            continue;
        printf("slot %u generation %u request %llu model %u max_tokens %u flags %u:", n, slot.generation,
               (unsigned long long)slot.id, slot.model, slot.max_tokens, slot.flags);
        for (uint32_t id = 0; id < slot.tokens; id++)
            printf(" %u", ids[id]);
        printf("\n");
        if (doorbells)
            forebay_slot_release(doorbells, &slot, FOREBAY_SLOT_DONE, 1);
    }
    free(ids);
    free(seen);
    return 0;
}
