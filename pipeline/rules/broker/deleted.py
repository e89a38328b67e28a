"""A cursor's individually deleted entries: a bit each, in words of 62 entries of one ledger, ascending.

Invariant: every bit lies behind the cursor's mark-delete position, and `deleted` is how many there are.
"""

from pipeline.rules.blocks import Blocks, clear, drop_before, following, last_at_or_before, put_behind
from pipeline.rules.broker.layout import BITS, NONE
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record
from pipeline.rules.segments import USED


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
def _word_of(entry: int) -> int:
    """The first entry of the word that has `entry`."""
    return entry - entry % BITS


@compiled_part
def _is_word(words: Blocks, row: int, ledger: int, first: int) -> bool:
    return row >= 0 and words.rows[row].ledger == ledger and words.rows[row].entry == first


@compiled_part
def is_deleted(cursor: Record, words: Blocks, ledger: int, entry: int) -> bool:
    """Whether the entry is in the set."""
    if cursor.words[USED] == 0:
        return False
    _, row = last_at_or_before(cursor.words, words, ledger, entry)
    return _is_word(words, row, ledger, _word_of(entry)) and (words.rows[row].bits >> (entry % BITS)) & 1 == 1


@compiled_part
def delete_entry(cursor: Record, words: Blocks, ledger: int, entry: int) -> bool:
    """Put the entry into the set; False if it is there already."""
    first, bit = _word_of(entry), 1 << (entry % BITS)
    block, row = last_at_or_before(cursor.words, words, ledger, first)
    if not _is_word(words, row, ledger, first):
        row = put_behind(cursor.words, words, block, row)
        words.rows[row].ledger, words.rows[row].entry, words.rows[row].bits = ledger, first, 0
    if words.rows[row].bits & bit:
        return False
    words.rows[row].bits |= bit
    cursor.deleted += 1
    return True


@compiled_part
def pass_deleted(cursor: Record, words: Blocks, ledger: int, entry: int) -> int:
    """Take all entries up to and including (`ledger`, `entry`) out of the set; returns how many they were."""
    if cursor.words[USED] == 0:
        return 0
    count = count_deleted(cursor, words, ledger, entry)
    if count == cursor.deleted:
        forget_deleted(cursor, words)
        return count
    first = _word_of(entry + 1)
    block, row = last_at_or_before(cursor.words, words, ledger, first)
    if _is_word(words, row, ledger, first):
        words.rows[row].bits &= ~((1 << ((entry + 1) % BITS)) - 1)
        drop_before(cursor.words, words, block, row)
    elif row >= 0:
        block, row = following(cursor.words, words, block, row)
        drop_before(cursor.words, words, block, row)
    cursor.deleted -= count
    return count


@compiled_part
def count_deleted(cursor: Record, words: Blocks, ledger: int, entry: int) -> int:
    """How many entries of the set lie at or before (`ledger`, `entry`)."""
    first, count = _word_of(entry + 1), 0
    block, row = following(cursor.words, words, NONE, NONE)
    while row >= 0 and (words.rows[row].ledger < ledger or (words.rows[row].ledger == ledger and words.rows[row].entry < first)):
        count += count_bits(words.rows[row].bits)
        block, row = following(cursor.words, words, block, row)
    if _is_word(words, row, ledger, first):
        count += count_bits(words.rows[row].bits & ((1 << ((entry + 1) % BITS)) - 1))
    return count


@compiled_part
def deleted_run(cursor: Record, words: Blocks, ledger: int, entry: int, entries: int) -> int:
    """The last entry of the run of deleted entries that begins right behind `entry` in a ledger of `entries`; `entry` if there is none."""
    if cursor.words[USED] == 0:
        return entry
    limit = max(entry, entries - 1)
    block, row = last_at_or_before(cursor.words, words, ledger, entry + 1)
    while entry + 1 < entries and _is_word(words, row, ledger, _word_of(entry + 1)):
        bits = words.rows[row].bits >> ((entry + 1) % BITS)
        ones = count_bits((~bits & (bits + 1)) - 1)  # below its lowest zero
        reaches_next_word = (entry + 1) % BITS + ones == BITS
        entry += ones
        if not reaches_next_word:
            break
        block, row = following(cursor.words, words, block, row)
    return min(entry, limit)


@compiled_part
def forget_deleted(cursor: Record, words: Blocks) -> None:
    """Empty the set: a seek."""
    clear(cursor.words, words)
    cursor.deleted = 0
