package peers.flink;

import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import peers.rules.BronzeColumn;
import peers.rules.BronzeRow;

/** A row of bronze as Flink hands it over; one object shows one row after the other. */
final class FlinkBronzeRow extends BronzeRow {
    private RowData row;

    FlinkBronzeRow of(RowData next) {
        row = next;
        return this;
    }

    @Override
    protected boolean isNull(BronzeColumn column) {
        return row.isNullAt(column.ordinal());
    }

    @Override
    protected long number(BronzeColumn column) {
        return row.getLong(column.ordinal());
    }

    @Override
    protected int smallNumber(BronzeColumn column) {
        return row.getInt(column.ordinal());
    }

    @Override
    protected boolean flag(BronzeColumn column) {
        return row.getBoolean(column.ordinal());
    }

    @Override
    protected String text(BronzeColumn column) {
        return row.getString(column.ordinal()).toString();
    }

    @Override
    protected String setting(String key) {
        MapData settings = row.getMap(BronzeColumn.SETTINGS.ordinal());
        ArrayData keys = settings.keyArray();
        StringData wanted = StringData.fromString(key);
        for (int k = 0; k < settings.size(); k++) {
            if (wanted.equals(keys.getString(k))) {
                return settings.valueArray().isNullAt(k) ? null : settings.valueArray().getString(k).toString();
            }
        }
        return null;
    }
}
