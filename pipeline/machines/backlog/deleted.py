"""A cursor's individually deleted entries: a bit each, in words of 62 entries of one ledger, ascending.

Law: every bit lies behind the cursor's mark-delete position, and C_DELETED is how many there are.
"""

from pipeline.machines.array import Array
from pipeline.machines.backlog.layout import BITS, C_DELETED, C_WORDS, C_WORDS_USED, W_BITS, W_LEDGER, W_WORD
from pipeline.machines.compiled import compiled_part
from pipeline.machines.segments import clear, drop_first, first_row, insert_row


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
def word_position(cursor: Array, words: Array, ledger: int, word: int) -> int:
    """How many of the cursor's words lie before (`ledger`, `word`); the last one is looked at first."""
    used, first = cursor[C_WORDS_USED], first_row(cursor, C_WORDS)
    if used == 0 or _before(words, first + used - 1, ledger, word):
        return used
    low, high = 0, used
    while low < high:
        middle = (low + high) // 2
        if _before(words, first + middle, ledger, word):
            low = middle + 1
        else:
            high = middle
    return low


@compiled_part
def _before(words: Array, row: int, ledger: int, word: int) -> bool:
    return words[row, W_LEDGER] < ledger or (words[row, W_LEDGER] == ledger and words[row, W_WORD] < word)


@compiled_part
def _is_at(cursor: Array, words: Array, position: int, ledger: int, word: int) -> bool:
    row = first_row(cursor, C_WORDS) + position
    return position < cursor[C_WORDS_USED] and words[row, W_LEDGER] == ledger and words[row, W_WORD] == word


@compiled_part
def is_deleted(cursor: Array, words: Array, ledger: int, entry: int) -> bool:
    """Whether the entry is in the set."""
    if cursor[C_WORDS_USED] == 0:
        return False
    position = word_position(cursor, words, ledger, entry // BITS)
    if not _is_at(cursor, words, position, ledger, entry // BITS):
        return False
    return (words[first_row(cursor, C_WORDS) + position, W_BITS] >> (entry % BITS)) & 1 == 1


@compiled_part
def delete_entry(cursor: Array, words: Array, ends: Array, ledger: int, entry: int) -> bool:
    """Put the entry into the set; False if it is there already."""
    word, bit = entry // BITS, 1 << (entry % BITS)
    position = word_position(cursor, words, ledger, word)
    if _is_at(cursor, words, position, ledger, word):
        row = first_row(cursor, C_WORDS) + position
    else:
        row = insert_row(cursor, C_WORDS, words, ends, position)
        words[row, W_LEDGER], words[row, W_WORD] = ledger, word
    if words[row, W_BITS] & bit:
        return False
    words[row, W_BITS] |= bit
    cursor[C_DELETED] += 1
    return True


@compiled_part
def pass_deleted(cursor: Array, words: Array, ledger: int, entry: int) -> int:
    """Take all entries up to and including (`ledger`, `entry`) out of the set; returns how many they were."""
    if cursor[C_WORDS_USED] == 0:
        return 0
    count = count_deleted(cursor, words, ledger, entry)
    word = (entry + 1) // BITS
    position = word_position(cursor, words, ledger, word)
    drop_first(cursor, C_WORDS, position)
    if _is_at(cursor, words, 0, ledger, word):
        row = first_row(cursor, C_WORDS)
        words[row, W_BITS] &= ~((1 << ((entry + 1) % BITS)) - 1)
    cursor[C_DELETED] -= count
    return count


@compiled_part
def count_deleted(cursor: Array, words: Array, ledger: int, entry: int) -> int:
    """How many entries of the set lie at or before (`ledger`, `entry`)."""
    word = (entry + 1) // BITS
    position = word_position(cursor, words, ledger, word)
    first = first_row(cursor, C_WORDS)
    count = 0
    for row in range(first, first + position):
        count += count_bits(words[row, W_BITS])
    if _is_at(cursor, words, position, ledger, word):
        count += count_bits(words[first + position, W_BITS] & ((1 << ((entry + 1) % BITS)) - 1))
    return count


@compiled_part
def deleted_run(cursor: Array, words: Array, ledger: int, entry: int, entries: int) -> int:
    """The last entry of the run of deleted entries that begins right behind `entry` in a ledger of `entries`; `entry` if there is none."""
    while entry + 1 < entries and is_deleted(cursor, words, ledger, entry + 1):
        entry += 1
    return entry


@compiled_part
def forget_deleted(cursor: Array) -> None:
    """Empty the set: a seek."""
    clear(cursor, C_WORDS)
    cursor[C_DELETED] = 0
