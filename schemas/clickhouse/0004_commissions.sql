CREATE TABLE IF NOT EXISTS commissions_versions${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    entry_id String COMMENT 'The entry: the id of the event that made it.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    round UInt64 COMMENT 'Number of the round in its shoe, from 1; 0 where none is meant.',
    seat UInt64 COMMENT 'The seat whose betting place it is.',
    patron_id String COMMENT 'The patron; empty if unknown.',
    bet_id String COMMENT 'The bet the commission was taken of; empty when a debt is settled.',
    entry LowCardinality(String) COMMENT '`marked` as a debt, a debt `settled`, or `deducted` from the payout.',
    amount Int64 COMMENT 'Minor units: positive as marked or deducted, negative as settled.',
    balance Int64 COMMENT 'What the position owes afterwards, minor units.',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount here.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    retracted Bool COMMENT 'The fact no longer holds: readers leave it out.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.',
    utc_day Date MATERIALIZED toDate(occurred_at) COMMENT 'UTC day of occurred_at, for the storage alone: a revision may move it.'
)
ENGINE = ${replicated}ReplacingMergeTree(revision, retracted)
PARTITION BY toYYYYMM(utc_day)
ORDER BY (table_id, entry_id)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
COMMENT 'Entries of the commission ledgers in every revision received; amounts in minor units. Readers use the view commissions.';

CREATE VIEW IF NOT EXISTS commissions${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    entry_id String COMMENT 'The entry: the id of the event that made it.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    round UInt64 COMMENT 'Number of the round in its shoe, from 1; 0 where none is meant.',
    seat UInt64 COMMENT 'The seat whose betting place it is.',
    patron_id String COMMENT 'The patron; empty if unknown.',
    bet_id String COMMENT 'The bet the commission was taken of; empty when a debt is settled.',
    entry LowCardinality(String) COMMENT '`marked` as a debt, a debt `settled`, or `deducted` from the payout.',
    amount Decimal(18, 2) COMMENT 'Positive as marked or deducted, negative as settled.',
    balance Decimal(18, 2) COMMENT 'What the position owes afterwards.',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount here.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.'
)
AS SELECT * EXCEPT (retracted) REPLACE (
    reinterpret(amount, 'Decimal(18, 2)') AS amount,
    reinterpret(balance, 'Decimal(18, 2)') AS balance
)
FROM commissions_versions FINAL
COMMENT 'One entry in a position\'s commission ledger.';
