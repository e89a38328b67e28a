package peers.flink;

import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.table.data.RowData;
import peers.rules.BronzeColumn;
import peers.rules.Event;

/** A row of bronze as (broker id, event). */
final class ToEvent extends RichMapFunction<RowData, Tuple2<Long, Event>> {
    private static final long serialVersionUID = 1;
    private transient FlinkBronzeRow bronze;

    @Override
    public void open(OpenContext context) {
        bronze = new FlinkBronzeRow();
    }

    @Override
    public Tuple2<Long, Event> map(RowData row) {
        return Tuple2.of(row.getLong(BronzeColumn.BROKER_ID.ordinal()), bronze.of(row).event());
    }
}
