package peers.spark;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapGroupsWithStateFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.GroupState;
import peers.rules.BronzeColumn;
import peers.rules.BrokerLog;
import peers.rules.Event;
import peers.rules.Outcomes;
import peers.rules.Settings;
import peers.rules.Tables;

/** One broker's rows of a micro-batch: sorted, applied to its state, and the rows of windows that closed. */
final class BrokerFunction implements FlatMapGroupsWithStateFunction<Long, Row, BrokerLog, Row> {
    private static final long serialVersionUID = 1;
    /** {@code type_code} of the control row that ends a broker's log. */
    static final int DRAIN = 101;

    private static final Comparator<Event> IN_ORDER = Comparator.<Event>comparingLong(event -> event.epoch).thenComparingLong(event -> event.seq);

    @Override
    public Iterator<Row> call(Long brokerId, Iterator<Row> rows, GroupState<BrokerLog> state) {
        BrokerLog log = state.exists() ? state.get() : new BrokerLog(brokerId, Settings.DEFAULT);
        SparkBronzeRow bronze = new SparkBronzeRow();
        List<Event> events = new ArrayList<>();
        boolean drains = false;
        while (rows.hasNext()) {
            Row row = rows.next();
            if (row.getInt(BronzeColumn.TYPE_CODE.ordinal()) == DRAIN) {
                drains = true;
            } else {
                events.add(bronze.of(row).event());
            }
        }
        events.sort(IN_ORDER);
        List<Row> outcomes = new ArrayList<>();
        Outcomes out = (table, values) -> {
            Row row = RowFactory.create(values);
            outcomes.add(table == Tables.SUBSCRIPTION_THROTTLE ? RowFactory.create(row, null) : RowFactory.create(null, row));
        };
        for (Event event : events) {
            log.offer(event, out);
        }
        if (drains) {
            log.drain(out);
        }
        state.update(log);
        return outcomes.iterator();
    }
}
