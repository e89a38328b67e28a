package peers.rules;

import java.math.BigInteger;

/** 64-bit arithmetic that does not wrap: sums end at ±(2^63 − 1), products are exact. */
final class Saturating {
    static final long LEAST = -Long.MAX_VALUE;
    private static final BigInteger MOST = BigInteger.valueOf(Long.MAX_VALUE);

    private Saturating() {}

    static long add(long a, long b) {
        long sum = a + b;
        if (((a ^ sum) & (b ^ sum)) < 0) {
            return b >= 0 ? Long.MAX_VALUE : LEAST;
        }
        return Math.max(sum, LEAST);
    }

    static long subtract(long a, long b) {
        long difference = a - b;
        if (((a ^ b) & (a ^ difference)) < 0) {
            return b >= 0 ? LEAST : Long.MAX_VALUE;
        }
        return Math.max(difference, LEAST);
    }

    /** ⌊a·b/c⌋ for a, b ≥ 0 and c > 0. */
    static long multiplyDivide(long a, long b, long c) {
        long product = a * b;
        if (Math.multiplyHigh(a, b) == 0 && product >= 0) {
            return product / c;
        }
        return exactQuotient(a, b, c).min(MOST).longValue();
    }

    /** ⌈a·b/c⌉ for a, b ≥ 0 and c > 0. */
    static long multiplyDivideUp(long a, long b, long c) {
        BigInteger[] parts = BigInteger.valueOf(a).multiply(BigInteger.valueOf(b)).divideAndRemainder(BigInteger.valueOf(c));
        return add(parts[0].min(MOST).longValue(), parts[1].signum());
    }

    private static BigInteger exactQuotient(long a, long b, long c) {
        return BigInteger.valueOf(a).multiply(BigInteger.valueOf(b)).divide(BigInteger.valueOf(c));
    }
}
