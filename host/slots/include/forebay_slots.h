/* Token-id slots, read from mapped memory. C11, nothing to link. The rules are those of spec/slots.md, version 1.
 *
 * A reader keeps one `forebay_slot_seen` a slot, all zero at first. It polls headers; a new one is followed by
 * forebay_slot_ids, which copies the ids out, and, when the engine has done its part, by forebay_slot_release.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef FOREBAY_SLOTS_H
#define FOREBAY_SLOTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FOREBAY_SLOT_VERSION 1
#define FOREBAY_SLOT_HEADER_BYTES 64
#define FOREBAY_SLOT_FLAG_BYTES 1u /* ids are the prompt's bytes */
#define FOREBAY_SLOT_DAMAGED_LOOKS 1000

/* What was told about a slot. */
enum forebay_slot_release_kind {
    FOREBAY_SLOT_DONE = 0,        /* the engine has finished */
    FOREBAY_SLOT_CANCEL = 1,      /* the client has left */
    FOREBAY_SLOT_INVALID = 2,     /* the body turned out to be invalid */
    FOREBAY_SLOT_FIRST_TOKEN = 3, /* the first output token has come */
};

enum forebay_slot_result {
    FOREBAY_SLOT_NOTHING = 0, /* nothing new */
    FOREBAY_SLOT_NEW = 1,     /* a new header, or its ids */
    FOREBAY_SLOT_DAMAGED = -1,    /* the checksum stays wrong */
    FOREBAY_SLOT_LAYOUT = -2,     /* another version, unknown bits, another slot's header, more ids than room */
    FOREBAY_SLOT_TAKEN_BACK = -3, /* written again while it was read: the ids are void */
};

struct forebay_slot {
    uint64_t id;         /* number of the request */
    uint32_t tokens;     /* ids that follow */
    uint32_t flags;      /* FOREBAY_SLOT_FLAG_BYTES */
    uint32_t max_tokens; /* the most output tokens */
    uint16_t slot;
    uint8_t generation;
    uint8_t model; /* index in the policy */
};

struct forebay_slot_seen {
    uint32_t damaged;
    uint8_t any;
    uint8_t generation;
};

static inline uint32_t forebay_slot_crc32(const uint8_t *bytes, size_t count)
{
    uint32_t crc = 0xffffffffu;
    for (size_t n = 0; n < count; n++) {
        crc ^= bytes[n];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static inline uint32_t forebay_slot_number(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void forebay_slot_copy(const volatile void *from, void *to, size_t words)
{
    const volatile uint32_t *word = from;
    for (size_t n = 0; n < words; n++) {
        uint32_t now = word[n];
        memcpy((uint8_t *)to + 4 * n, &now, 4);
    }
}

/* Looks at one slot: `memory` is where the area of slots begins, at a multiple of 64. FOREBAY_SLOT_NEW fills `out`. */
static inline int forebay_slot_poll(const volatile void *memory, size_t slot_bytes, uint16_t slot,
                                    struct forebay_slot_seen *seen, struct forebay_slot *out)
{
    uint8_t header[FOREBAY_SLOT_HEADER_BYTES];
    forebay_slot_copy((const volatile uint8_t *)memory + slot * slot_bytes, header, sizeof header / 4);
    atomic_thread_fence(memory_order_acquire);
    if (memcmp(header, "FBTK", 4) != 0) {
        seen->damaged = 0;
        return FOREBAY_SLOT_NOTHING;
    }
    if (forebay_slot_number(header + 60) != forebay_slot_crc32(header, 60)) {
        if (++seen->damaged < FOREBAY_SLOT_DAMAGED_LOOKS)
            return FOREBAY_SLOT_NOTHING;
        seen->damaged = 0;
        return FOREBAY_SLOT_DAMAGED;
    }
    seen->damaged = 0;
    uint32_t version = forebay_slot_number(header + 4);
    uint8_t other = header[18] | header[19];
    for (int n = 32; n < 60; n++)
        other |= header[n];
    out->slot = (uint16_t)(version >> 16);
    out->id = (uint64_t)forebay_slot_number(header + 12) << 32 | forebay_slot_number(header + 8);
    out->generation = header[16];
    out->model = header[17];
    out->tokens = forebay_slot_number(header + 20);
    out->flags = forebay_slot_number(header + 24);
    out->max_tokens = forebay_slot_number(header + 28);
    if ((version & 0xffff) != FOREBAY_SLOT_VERSION || other || out->flags & ~FOREBAY_SLOT_FLAG_BYTES || out->slot != slot ||
        out->tokens > (slot_bytes - FOREBAY_SLOT_HEADER_BYTES) / 4)
        return FOREBAY_SLOT_LAYOUT;
    if (seen->any && seen->generation == out->generation)
        return FOREBAY_SLOT_NOTHING;
    seen->any = 1;
    seen->generation = out->generation;
    return FOREBAY_SLOT_NEW;
}

/* Copies the ids of a slot that forebay_slot_poll has just found; `ids` has room for `slot->tokens`. */
static inline int forebay_slot_ids(const volatile void *memory, size_t slot_bytes, const struct forebay_slot *slot,
                                   uint32_t *ids)
{
    const volatile uint8_t *begin = (const volatile uint8_t *)memory + slot->slot * slot_bytes;
    uint8_t id[4];
    for (uint32_t n = 0; n < slot->tokens; n++) {
        forebay_slot_copy(begin + FOREBAY_SLOT_HEADER_BYTES + 4 * (size_t)n, id, 1);
        ids[n] = forebay_slot_number(id);
    }
    atomic_thread_fence(memory_order_acquire);
    struct forebay_slot_seen none = {0};
    struct forebay_slot now;
    if (forebay_slot_poll(memory, slot_bytes, slot->slot, &none, &now) != FOREBAY_SLOT_NEW || now.id != slot->id ||
        now.generation != slot->generation || now.tokens != slot->tokens)
        return FOREBAY_SLOT_TAKEN_BACK;
    return FOREBAY_SLOT_NEW;
}

/* Tells what became of a slot: `doorbells` is this reader's page. One whose generation is not the slot's changes nothing. */
static inline void forebay_slot_release(volatile uint32_t *doorbells, const struct forebay_slot *slot,
                                        enum forebay_slot_release_kind kind, uint16_t output_tokens)
{
    doorbells[0] = output_tokens;
    atomic_thread_fence(memory_order_release);
    doorbells[1] = slot->slot | (uint32_t)slot->generation << 16 | (uint32_t)kind << 24;
}

#endif
