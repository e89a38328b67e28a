package peers.flink;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import peers.rules.Event;

/** Events between tasks: the type's number and its own fields. Events never change, so none is copied. */
public final class EventSerializer extends TypeSerializerSingleton<Event> {
    private static final long serialVersionUID = 1;
    static final EventSerializer INSTANCE = new EventSerializer();
    private static final int VARIABLE_LENGTH = -1;

    @Override
    public boolean isImmutableType() {
        return true;
    }

    @Override
    public Event createInstance() {
        return null;
    }

    @Override
    public Event copy(Event from) {
        return from;
    }

    @Override
    public Event copy(Event from, Event reuse) {
        return from;
    }

    @Override
    public int getLength() {
        return VARIABLE_LENGTH;
    }

    @Override
    public void serialize(Event event, DataOutputView target) throws IOException {
        event.write(target);
    }

    @Override
    public Event deserialize(DataInputView source) throws IOException {
        return Event.read(source);
    }

    @Override
    public Event deserialize(Event reuse, DataInputView source) throws IOException {
        return Event.read(source);
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        Event.read(source).write(target);
    }

    @Override
    public TypeSerializerSnapshot<Event> snapshotConfiguration() {
        return new Snapshot();
    }

    /** Written into checkpoints. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Event> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}
