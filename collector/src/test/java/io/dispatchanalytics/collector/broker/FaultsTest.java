package io.dispatchanalytics.collector.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class FaultsTest {
    @Test
    void theFailureIsNamedAndNotItsWrapping() {
        Throwable fault = new CompletionException(new ExecutionException(new TimeoutException("2 s")));
        assertEquals("TimeoutException", Faults.name(fault));
        assertEquals("TimeoutException", Faults.name(new TimeoutException()));
    }

    @Test
    void aWrappingOfNothingIsItself() {
        assertEquals("CompletionException", Faults.name(new CompletionException("no cause", null)));
    }
}
