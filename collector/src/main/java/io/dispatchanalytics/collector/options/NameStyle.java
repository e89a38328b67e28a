package io.dispatchanalytics.collector.options;

/** How names appear in the log. */
public enum NameStyle { PLAIN, HASH, OMIT }
