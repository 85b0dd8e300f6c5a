CREATE TABLE IF NOT EXISTS alerts_versions${on_cluster}
(
    alert_id String COMMENT 'Names table, shoe, round, code and, where needed, what it is about.',
    table_id LowCardinality(String) COMMENT 'The table.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    code LowCardinality(String) COMMENT 'The deviation, a name of the alert catalogue.',
    severity LowCardinality(String) COMMENT '`info`, `warning`, `serious` or `critical`.',
    article LowCardinality(String) COMMENT 'The article or rule broken.',
    status LowCardinality(String) COMMENT '`raised`, or `corrected` once the table itself put the error right.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    round UInt64 COMMENT 'Number of the round in its shoe, from 1; 0 where none is meant.',
    seat Nullable(UInt64) COMMENT 'The seat it is about; null if none.',
    dealer_id LowCardinality(String) COMMENT 'The dealer at the table; empty if unknown.',
    patron_id String COMMENT 'The patron; empty if unknown.',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount here.',
    text_zh String COMMENT 'What was wrong, in Chinese.',
    text_en String COMMENT 'What was wrong, in English.',
    evidence Tuple(
        event_ids Array(String),
        bet_id String,
        bet LowCardinality(String),
        card LowCardinality(String),
        expected String,
        actual String,
        due Nullable(Int64),
        paid Nullable(Int64),
        player_cards Array(String),
        banker_cards Array(String)
    ) COMMENT 'What it rests on.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    retracted Bool COMMENT 'The fact no longer holds: readers leave it out.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.',
    utc_day Date MATERIALIZED toDate(occurred_at) COMMENT 'UTC day of occurred_at, for the storage alone: a revision may move it.',
    INDEX by_day utc_day TYPE minmax GRANULARITY 1
)
ENGINE = ${replicated}ReplacingMergeTree(revision, retracted)
PARTITION BY toYYYYMM(utc_day)
ORDER BY alert_id
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
COMMENT 'Alerts in every revision received; amounts in minor units. Readers use the view alerts.';

CREATE VIEW IF NOT EXISTS alerts${on_cluster}
(
    alert_id String COMMENT 'Names table, shoe, round, code and, where needed, what it is about.',
    table_id LowCardinality(String) COMMENT 'The table.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    code LowCardinality(String) COMMENT 'The deviation, a name of the alert catalogue.',
    severity LowCardinality(String) COMMENT '`info`, `warning`, `serious` or `critical`.',
    article LowCardinality(String) COMMENT 'The article or rule broken.',
    status LowCardinality(String) COMMENT '`raised`, or `corrected` once the table itself put the error right.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    round UInt64 COMMENT 'Number of the round in its shoe, from 1; 0 where none is meant.',
    seat Nullable(UInt64) COMMENT 'The seat it is about; null if none.',
    dealer_id LowCardinality(String) COMMENT 'The dealer at the table; empty if unknown.',
    patron_id String COMMENT 'The patron; empty if unknown.',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount here.',
    text_zh String COMMENT 'What was wrong, in Chinese.',
    text_en String COMMENT 'What was wrong, in English.',
    event_ids Array(String) COMMENT 'The events that show it.',
    bet_id String COMMENT 'The bet it is about; empty if none.',
    bet LowCardinality(String) COMMENT 'What that bet is on, a name of the catalogue.',
    card LowCardinality(String) COMMENT 'The card it is about; empty if none.',
    expected String COMMENT 'What the rule asks for, as the text says it.',
    actual String COMMENT 'What was done instead, as the text says it.',
    due Nullable(Decimal(18, 2)) COMMENT 'What was owed; null if nothing was.',
    paid Nullable(Decimal(18, 2)) COMMENT 'What was paid, collected or charged instead; null if nothing was.',
    player_cards Array(String) COMMENT 'Cards of the player hand, in dealing order.',
    banker_cards Array(String) COMMENT 'Cards of the banker hand, in dealing order.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.'
)
AS SELECT
    * EXCEPT (retracted, evidence),
    evidence.event_ids AS event_ids,
    evidence.bet_id AS bet_id,
    evidence.bet AS bet,
    evidence.card AS card,
    evidence.expected AS expected,
    evidence.actual AS actual,
    CAST(CAST(evidence.due AS Nullable(Decimal(38, 2))) / 100 AS Nullable(Decimal(18, 2))) AS due,
    CAST(CAST(evidence.paid AS Nullable(Decimal(38, 2))) / 100 AS Nullable(Decimal(18, 2))) AS paid,
    evidence.player_cards AS player_cards,
    evidence.banker_cards AS banker_cards
FROM alerts_versions FINAL
COMMENT 'A deviation from the rules; one that later evidence explains away is gone. Windows of time are much quicker through alerts_between.';

CREATE VIEW IF NOT EXISTS alerts_between${on_cluster}
AS SELECT
    * EXCEPT (retracted, evidence),
    evidence.event_ids AS event_ids,
    evidence.bet_id AS bet_id,
    evidence.bet AS bet,
    evidence.card AS card,
    evidence.expected AS expected,
    evidence.actual AS actual,
    CAST(CAST(evidence.due AS Nullable(Decimal(38, 2))) / 100 AS Nullable(Decimal(18, 2))) AS due,
    CAST(CAST(evidence.paid AS Nullable(Decimal(38, 2))) / 100 AS Nullable(Decimal(18, 2))) AS paid,
    evidence.player_cards AS player_cards,
    evidence.banker_cards AS banker_cards
FROM alerts_versions FINAL
WHERE occurred_at >= {since:DateTime64(6, 'UTC')} AND occurred_at < {until:DateTime64(6, 'UTC')}
    AND utc_day BETWEEN toDate({since:DateTime64(6, 'UTC')}) - 1 AND toDate({until:DateTime64(6, 'UTC')}) + 1
COMMENT 'The rows of alerts with occurred_at from since on and before until: alerts_between(since = ..., until = ...). Exact unless a revision moved a row by more than a day.';
