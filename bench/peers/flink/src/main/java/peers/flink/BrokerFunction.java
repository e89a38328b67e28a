package peers.flink;

import java.io.IOException;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;
import peers.rules.BrokerLog;
import peers.rules.Column;
import peers.rules.Event;
import peers.rules.Outcomes;
import peers.rules.Settings;
import peers.rules.Table;
import peers.rules.Tables;

/** One broker's events applied to its state; a timer at the end of time drains its log. */
final class BrokerFunction extends KeyedProcessFunction<Long, Tuple2<Long, Event>, RowData> {
    private static final long serialVersionUID = 1;
    private static final long END_OF_LOG = Long.MAX_VALUE;

    private final String namesFolder;
    private final OutputTag<RowData> limiterWindows;
    private transient Names names;
    private transient ValueState<BrokerLog> state;

    BrokerFunction(String namesFolder, OutputTag<RowData> limiterWindows) {
        this.namesFolder = namesFolder;
        this.limiterWindows = limiterWindows;
    }

    @Override
    public void open(OpenContext context) throws IOException {
        names = new Names(namesFolder);
        state = getRuntimeContext().getState(new ValueStateDescriptor<>("broker", BrokerLog.class));
    }

    @Override
    public void processElement(Tuple2<Long, Event> event, Context context, Collector<RowData> out) throws IOException {
        BrokerLog log = state.value();
        if (log == null) {
            log = new BrokerLog(event.f0, Settings.DEFAULT);
            context.timerService().registerEventTimeTimer(END_OF_LOG);
        }
        log.offer(event.f1, outcomes(context, out));
        state.update(log);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<RowData> out) throws IOException {
        BrokerLog log = state.value();
        log.drain(outcomes(context, out));
        state.update(log);
    }

    private Outcomes outcomes(Context context, Collector<RowData> out) {
        return (table, values) -> {
            if (table == Tables.SUBSCRIPTION_THROTTLE) {
                out.collect(row(table, values));
            } else {
                context.output(limiterWindows, row(table, values));
            }
        };
    }

    private RowData row(Table table, Object[] values) {
        GenericRowData row = new GenericRowData(values.length);
        int topic = -1;
        for (int k = 0; k < values.length; k++) {
            Column column = table.columns().get(k);
            if (column.name().equals("topic")) {
                topic = k;
            }
            row.setField(k, values[k] == null ? null : value(column, values, k, topic));
        }
        return row;
    }

    /** {@code subscription} follows {@code topic} in both tables; a subscription's name knows its topic's. */
    private Object value(Column column, Object[] values, int k, int topic) {
        return switch (column.type()) {
            case ID ->
                switch (column.name()) {
                    case "broker" -> names.broker((Long) values[k]);
                    case "topic" -> names.topic((Long) values[k], (Long) values[k + 1]);
                    default -> names.subscription((Long) values[topic + 1]);
                };
            case STRING -> StringData.fromString((String) values[k]);
            case TIMESTAMP -> timestamp((Long) values[k]);
            default -> values[k];
        };
    }

    private static TimestampData timestamp(long us) {
        return TimestampData.fromEpochMillis(Math.floorDiv(us, 1000L), (int) Math.floorMod(us, 1000L) * 1000);
    }
}
