"""A cursor's individually deleted entries: a bit each, in words of 62 entries of one ledger, ascending.

Law: every bit lies behind the cursor's mark-delete position, and C_DELETED is how many there are.
"""

from pipeline.machines.array import Array
from pipeline.machines.backlog.layout import BITS, C_DELETED, C_WORDS, C_WORDS_USED, W_BITS, W_LEDGER, W_WORD
from pipeline.machines.blocks import Blocks, clear, drop_before, following, last_at_or_before, put_behind
from pipeline.machines.compiled import compiled_part

NONE = -1


@compiled_part
def count_bits(bits: int) -> int:
    """How many of the lower 62 bits are set."""
    bits = bits - ((bits >> 1) & 0x1555555555555555)
    bits = (bits & 0x3333333333333333) + ((bits >> 2) & 0x3333333333333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0F
    bits = bits + (bits >> 8)
    bits = bits + (bits >> 16)
    return (bits + (bits >> 32)) & 0x7F


@compiled_part
def _is_word(words: Blocks, row: int, ledger: int, word: int) -> bool:
    return row >= 0 and words.rows[row, W_LEDGER] == ledger and words.rows[row, W_WORD] == word


@compiled_part
def is_deleted(cursor: Array, words: Blocks, ledger: int, entry: int) -> bool:
    """Whether the entry is in the set."""
    if cursor[C_WORDS_USED] == 0:
        return False
    _, row = last_at_or_before(cursor, C_WORDS, words, ledger, entry // BITS)
    return _is_word(words, row, ledger, entry // BITS) and (words.rows[row, W_BITS] >> (entry % BITS)) & 1 == 1


@compiled_part
def delete_entry(cursor: Array, words: Blocks, ledger: int, entry: int) -> bool:
    """Put the entry into the set; False if it is there already."""
    word, bit = entry // BITS, 1 << (entry % BITS)
    block, row = last_at_or_before(cursor, C_WORDS, words, ledger, word)
    if not _is_word(words, row, ledger, word):
        row = put_behind(cursor, C_WORDS, words, block, row)
        words.rows[row, W_LEDGER], words.rows[row, W_WORD] = ledger, word
    if words.rows[row, W_BITS] & bit:
        return False
    words.rows[row, W_BITS] |= bit
    cursor[C_DELETED] += 1
    return True


@compiled_part
def pass_deleted(cursor: Array, words: Blocks, ledger: int, entry: int) -> int:
    """Take all entries up to and including (`ledger`, `entry`) out of the set; returns how many they were."""
    if cursor[C_WORDS_USED] == 0:
        return 0
    count = count_deleted(cursor, words, ledger, entry)
    word = (entry + 1) // BITS
    block, row = last_at_or_before(cursor, C_WORDS, words, ledger, word)
    if _is_word(words, row, ledger, word):
        words.rows[row, W_BITS] &= ~((1 << ((entry + 1) % BITS)) - 1)
        drop_before(cursor, C_WORDS, words, block, row)
    elif row >= 0:
        block, row = following(cursor, C_WORDS, words, block, row)
        drop_before(cursor, C_WORDS, words, block, row)
    cursor[C_DELETED] -= count
    return count


@compiled_part
def count_deleted(cursor: Array, words: Blocks, ledger: int, entry: int) -> int:
    """How many entries of the set lie at or before (`ledger`, `entry`)."""
    word, count = (entry + 1) // BITS, 0
    block, row = following(cursor, C_WORDS, words, NONE, NONE)
    while row >= 0 and (words.rows[row, W_LEDGER] < ledger or (words.rows[row, W_LEDGER] == ledger and words.rows[row, W_WORD] < word)):
        count += count_bits(words.rows[row, W_BITS])
        block, row = following(cursor, C_WORDS, words, block, row)
    if _is_word(words, row, ledger, word):
        count += count_bits(words.rows[row, W_BITS] & ((1 << ((entry + 1) % BITS)) - 1))
    return count


@compiled_part
def deleted_run(cursor: Array, words: Blocks, ledger: int, entry: int, entries: int) -> int:
    """The last entry of the run of deleted entries that begins right behind `entry` in a ledger of `entries`; `entry` if there is none."""
    if cursor[C_WORDS_USED] == 0:
        return entry
    limit = max(entry, entries - 1)
    block, row = last_at_or_before(cursor, C_WORDS, words, ledger, (entry + 1) // BITS)
    while entry + 1 < entries and _is_word(words, row, ledger, (entry + 1) // BITS):
        bits = words.rows[row, W_BITS] >> ((entry + 1) % BITS)
        ones = count_bits((~bits & (bits + 1)) - 1)  # below its lowest zero
        reaches_next_word = (entry + 1) % BITS + ones == BITS
        entry += ones
        if not reaches_next_word:
            break
        block, row = following(cursor, C_WORDS, words, block, row)
    return min(entry, limit)


@compiled_part
def forget_deleted(cursor: Array, words: Blocks) -> None:
    """Empty the set: a seek."""
    clear(cursor, C_WORDS, words)
    cursor[C_DELETED] = 0
