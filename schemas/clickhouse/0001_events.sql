CREATE TABLE IF NOT EXISTS events_versions${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    epoch UInt64 COMMENT 'Boot count of the table controller; 0 for what Pitwatch itself wrote.',
    seq UInt64 COMMENT 'Number of the event in its epoch.',
    event_id String COMMENT 'table_id:epoch:seq.',
    type LowCardinality(String) COMMENT 'Type of the event.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When it happened by the clock of the table, UTC.',
    appended_at DateTime64(6, 'UTC') COMMENT 'When the log took it in, UTC.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    round UInt64 COMMENT 'Number of the round in its shoe, from 1; 0 where none is meant.',
    raw String COMMENT 'The whole event as it was sent, JSON; amounts in minor units.' CODEC(ZSTD(1)),
    src_topic LowCardinality(String) COMMENT 'Topic the event is in.',
    src_partition UInt64 COMMENT 'Partition of the event.',
    src_offset UInt64 COMMENT 'Offset of the event.',
    precedence UInt64 MATERIALIZED 18446744073709551615 - src_offset COMMENT 'Highest for the copy that came first: that one holds.',
    utc_day Date MATERIALIZED toDate(occurred_at) COMMENT 'UTC day of occurred_at, for the storage alone.',
    INDEX by_day utc_day TYPE minmax GRANULARITY 1
)
ENGINE = ${replicated}ReplacingMergeTree(precedence)
PARTITION BY toYYYYMM(utc_day)
ORDER BY (table_id, epoch, seq)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
COMMENT 'Events of the tables in every copy received. Readers use the view events.';

CREATE VIEW IF NOT EXISTS events${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    epoch UInt64 COMMENT 'Boot count of the table controller; 0 for what Pitwatch itself wrote.',
    seq UInt64 COMMENT 'Number of the event in its epoch.',
    event_id String COMMENT 'table_id:epoch:seq.',
    type LowCardinality(String) COMMENT 'Type of the event.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When it happened by the clock of the table, UTC.',
    appended_at DateTime64(6, 'UTC') COMMENT 'When the log took it in, UTC.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    round UInt64 COMMENT 'Number of the round in its shoe, from 1; 0 where none is meant.',
    raw String COMMENT 'The whole event as it was sent, JSON; amounts in minor units.',
    src_topic LowCardinality(String) COMMENT 'Topic the event is in.',
    src_partition UInt64 COMMENT 'Partition of the event.',
    src_offset UInt64 COMMENT 'Offset of the event.'
)
AS SELECT * FROM events_versions FINAL
COMMENT 'Events of the tables as they were sent, the first of several copies. Windows of time are much quicker through events_between.';

CREATE VIEW IF NOT EXISTS events_between${on_cluster}
AS SELECT * FROM events_versions FINAL
WHERE occurred_at >= {since:DateTime64(6, 'UTC')} AND occurred_at < {until:DateTime64(6, 'UTC')}
    AND utc_day BETWEEN toDate({since:DateTime64(6, 'UTC')}) - 1 AND toDate({until:DateTime64(6, 'UTC')}) + 1
COMMENT 'The rows of events with occurred_at from since on and before until: events_between(since = ..., until = ...).';
