"""A cursor's individually deleted entries: a bit each, in words of 62 entries of one ledger, ascending.

Law: every bit lies behind the cursor's mark-delete position, and `deleted` is how many there are.
"""

from pipeline.machines.array import Array
from pipeline.machines.broker.layout import BITS
from pipeline.machines.compiled import compiled_part
from pipeline.machines.records import Record, Records
from pipeline.machines.segments import USED, clear, drop_first, first_row, insert_row


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
def word_position(cursor: Record, words: Records, ledger: int, word: int) -> int:
    """How many of the cursor's words lie before (`ledger`, `word`); the last one is looked at first."""
    used, first = cursor.words[USED], first_row(cursor.words)
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
def _before(words: Records, row: int, ledger: int, word: int) -> bool:
    return words[row].ledger < ledger or (words[row].ledger == ledger and words[row].word < word)


@compiled_part
def _is_at(cursor: Record, words: Records, position: int, ledger: int, word: int) -> bool:
    row = first_row(cursor.words) + position
    return position < cursor.words[USED] and words[row].ledger == ledger and words[row].word == word


@compiled_part
def is_deleted(cursor: Record, words: Records, ledger: int, entry: int) -> bool:
    """Whether the entry is in the set."""
    if cursor.words[USED] == 0:
        return False
    position = word_position(cursor, words, ledger, entry // BITS)
    if not _is_at(cursor, words, position, ledger, entry // BITS):
        return False
    return (words[first_row(cursor.words) + position].bits >> (entry % BITS)) & 1 == 1


@compiled_part
def delete_entry(cursor: Record, words: Records, ends: Array, ledger: int, entry: int) -> bool:
    """Put the entry into the set; False if it is there already."""
    word, bit = entry // BITS, 1 << (entry % BITS)
    position = word_position(cursor, words, ledger, word)
    if _is_at(cursor, words, position, ledger, word):
        row = first_row(cursor.words) + position
    else:
        row = insert_row(cursor.words, words, ends, position)
        words[row].ledger, words[row].word, words[row].bits = ledger, word, 0
    if words[row].bits & bit:
        return False
    words[row].bits |= bit
    cursor.deleted += 1
    return True


@compiled_part
def pass_deleted(cursor: Record, words: Records, ledger: int, entry: int) -> int:
    """Take all entries up to and including (`ledger`, `entry`) out of the set; returns how many they were."""
    if cursor.words[USED] == 0:
        return 0
    count = count_deleted(cursor, words, ledger, entry)
    word = (entry + 1) // BITS
    position = word_position(cursor, words, ledger, word)
    drop_first(cursor.words, position)
    if _is_at(cursor, words, 0, ledger, word):
        row = first_row(cursor.words)
        words[row].bits &= ~((1 << ((entry + 1) % BITS)) - 1)
    cursor.deleted -= count
    return count


@compiled_part
def count_deleted(cursor: Record, words: Records, ledger: int, entry: int) -> int:
    """How many entries of the set lie at or before (`ledger`, `entry`)."""
    word = (entry + 1) // BITS
    position = word_position(cursor, words, ledger, word)
    first = first_row(cursor.words)
    count = 0
    for row in range(first, first + position):
        count += count_bits(words[row].bits)
    if _is_at(cursor, words, position, ledger, word):
        count += count_bits(words[first + position].bits & ((1 << ((entry + 1) % BITS)) - 1))
    return count


@compiled_part
def deleted_run(cursor: Record, words: Records, ledger: int, entry: int, entries: int) -> int:
    """The last entry of the run of deleted entries that begins right behind `entry` in a ledger of `entries`; `entry` if there is none."""
    while entry + 1 < entries and is_deleted(cursor, words, ledger, entry + 1):
        entry += 1
    return entry


@compiled_part
def forget_deleted(cursor: Record) -> None:
    """Empty the set: a seek."""
    clear(cursor.words)
    cursor.deleted = 0
