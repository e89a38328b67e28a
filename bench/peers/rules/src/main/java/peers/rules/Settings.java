package peers.rules;

/** What a lane must know. No record: Kryo, by which both engines keep a state, cannot restore one. */
public final class Settings {
    /** The values of conf/settings.toml. */
    public static final Settings DEFAULT = new Settings(60_000_000, 1_000_000, 10_000_000_000L);

    final long windowUs;
    final long clockStepUs;
    final long latenessNs;

    public Settings(long windowUs, long clockStepUs, long latenessNs) {
        this.windowUs = windowUs;
        this.clockStepUs = clockStepUs;
        this.latenessNs = latenessNs;
    }
}
