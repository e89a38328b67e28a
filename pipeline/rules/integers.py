"""64-bit arithmetic that cannot wrap: sums saturate, products are exact to 128 bits.

Invariants: every result is the mathematical one, or the nearest int64 bound. Only int64 is used inside, so that the compiled form and the
plain Python form are the same function.
"""

from pipeline.rules.compiled import compiled

INT64_MAX = 2**63 - 1
#: The lower bound of sums; −2^63 itself stands for null in outcome rows.
INT64_MIN = -(2**63 - 1)
INT32_MODULUS = 2**32
INT32_MAX = 2**31 - 1


@compiled
def add(a: int, b: int) -> int:
    """a + b, saturated to int64."""
    if b >= 0:
        return INT64_MAX if a > INT64_MAX - b else a + b
    return INT64_MIN if a < INT64_MIN - b else a + b


@compiled
def subtract(a: int, b: int) -> int:
    """a − b, saturated to int64."""
    if b >= 0:
        return INT64_MIN if a < INT64_MIN + b else a - b
    return INT64_MAX if a > INT64_MAX + b else a - b


@compiled
def multiply_divide(a: int, b: int, c: int) -> tuple[int, int]:
    """(⌊a·b/c⌋ saturated at INT64_MAX, a·b mod c) for a, b ≥ 0 and c > 0, exact although a·b may need 126 bits.

    Long multiplication by doubling: quotient and remainder are kept apart, so nothing inside exceeds int64.
    """
    if a == 0 or b <= INT64_MAX // a:
        product = a * b
        return product // c, product % c
    step_quotient = b // c
    step_remainder = b % c
    quotient = 0
    remainder = 0
    bit = 62
    while bit >= 0:
        carry = 0
        if remainder >= c - remainder:
            remainder -= c - remainder
            carry = 1
        else:
            remainder += remainder
        quotient = add(add(quotient, quotient), carry)
        if (a >> bit) & 1:
            carry = 0
            if remainder >= c - step_remainder:
                remainder -= c - step_remainder
                carry = 1
            else:
                remainder += step_remainder
            quotient = add(add(quotient, step_quotient), carry)
        bit -= 1
    return quotient, remainder


@compiled
def narrow_to_int32(value: int) -> int:
    """`(int) value` of Java: two's complement narrowing, as Pulsar's walk does with message permits (§1.2 step 4)."""
    low = value & (INT32_MODULUS - 1)
    return low - INT32_MODULUS if low > INT32_MAX else low


@compiled
def floor_log2(value: int) -> int:
    """⌊log2(value)⌋ of a value > 0; 0 of any other. By halves: six questions, where bit by bit it would be up to 62."""
    exponent = 0
    if value >= 1 << 32:
        exponent, value = 32, value >> 32
    if value >= 1 << 16:
        exponent, value = exponent + 16, value >> 16
    if value >= 1 << 8:
        exponent, value = exponent + 8, value >> 8
    if value >= 1 << 4:
        exponent, value = exponent + 4, value >> 4
    if value >= 1 << 2:
        exponent, value = exponent + 2, value >> 2
    return exponent + 1 if value >= 2 else exponent
