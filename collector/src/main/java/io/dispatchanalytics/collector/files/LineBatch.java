package io.dispatchanalytics.collector.files;

import io.dispatchanalytics.collector.log.Bytes;
import io.dispatchanalytics.collector.log.EventQueue;
import io.dispatchanalytics.collector.log.Json;
import java.nio.charset.StandardCharsets;

/** Lines that go into the next member: each event between its envelope. */
final class LineBatch implements EventQueue.Reader {
    /** Large enough to compress well; small enough to lie around while the disk is full. */
    private static final int FULL_BYTES = 1 << 19;
    private static final byte[] TS = ",\"ts\":".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NS = ",\"ns\":".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] TYPE = ",\"type\":".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] END = "}\n".getBytes(StandardCharsets.US_ASCII);

    private final byte[] beforeSeq;
    private final Bytes lines = new Bytes(FULL_BYTES + (FULL_BYTES >> 3));
    private long firstSeq;
    private long count;

    LineBatch(String broker, long epoch) {
        byte[] names = Json.joined("{\"v\":1,\"broker\":".getBytes(StandardCharsets.US_ASCII), Json.quoted(broker));
        beforeSeq = Json.joined(names, (",\"epoch\":" + epoch + ",\"seq\":").getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public boolean take(long seq, long tsUs, long ns, byte[] payload, int from, int length) {
        if (count == 0) {
            firstSeq = seq;
        }
        lines.append(beforeSeq).append(seq).append(TS).append(tsUs).append(NS).append(ns).append(TYPE);
        lines.append(payload, from, length).append(END);
        count++;
        return !isFull();
    }

    boolean isFull() {
        return lines.length() >= FULL_BYTES;
    }

    boolean isEmpty() {
        return count == 0;
    }

    long firstSeq() {
        return firstSeq;
    }

    long count() {
        return count;
    }

    Bytes lines() {
        return lines;
    }

    void clear() {
        lines.cutTo(0);
        count = 0;
    }
}
