package io.dispatchanalytics.collector.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
    @Test
    void whatJsonForbidsIsEscaped() {
        assertEquals("\"a\\\"b\\\\c\\u000ad\\u0001\"", text(Json.quoted("a\"b\\c\nd\u0001")));
    }

    @Test
    void otherLettersAreUtf8AndPairsAreEscapes() {
        assertEquals("\"prü/日本\"", text(Json.quoted("prü/日本")));
        assertEquals("\"\\ud83d\\ude00\\ud800\"", text(Json.quoted("\ud83d\ude00\ud800")));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 7, 10, -1, 999, 1000, 1795261607050L, Long.MAX_VALUE, Long.MIN_VALUE, -10, 1000000000000000000L})
    void numbersAreDecimal(long number) {
        Bytes bytes = new Bytes(0);
        bytes.append(number);
        assertEquals(Long.toString(number), new String(bytes.array(), 0, bytes.length(), StandardCharsets.US_ASCII));
    }

    private static String text(byte[] json) {
        return new String(json, StandardCharsets.UTF_8);
    }
}
