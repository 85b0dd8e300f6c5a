CREATE TABLE IF NOT EXISTS shoes_versions${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    status LowCardinality(String) COMMENT '`loaded`, `in_play` after its first round, or `closed`.',
    complete Bool COMMENT 'Everything that happened in the shoe was seen.',
    decks UInt64 COMMENT 'Decks of 52 cards.',
    shuffling LowCardinality(String) COMMENT '`shoe` or `continuous`, a shuffler that takes the cards back.',
    loaded_at DateTime64(6, 'UTC') COMMENT 'When the cards went in, UTC.',
    closed_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was taken out of play, UTC; null while it is not.',
    close_reason LowCardinality(String) COMMENT 'Why it was taken out of play.',
    cut_by LowCardinality(String) COMMENT 'Who cut: `patron` or `dealer`; empty if nobody did.',
    cards_behind_cut Nullable(UInt64) COMMENT 'Cards behind the white card; null before the cut.',
    burned UInt64 COMMENT 'Cards burned at the opening (art. 2(1)).',
    cards_out UInt64 COMMENT 'Cards that left the shoe, those burned unseen too.',
    seen Map(LowCardinality(String), UInt64) COMMENT 'Card → copies that left the shoe face up.',
    rounds UInt64 COMMENT 'Live rounds.',
    demonstrations UInt64 COMMENT 'Demonstration rounds (art. 2(2)).',
    banker_wins UInt64 COMMENT 'Live rounds the banker hand won.',
    player_wins UInt64 COMMENT 'Live rounds the player hand won.',
    ties UInt64 COMMENT 'Live rounds that tied.',
    voids UInt64 COMMENT 'Live rounds cancelled.',
    cut_card_round Nullable(UInt64) COMMENT 'The round in which, or before which, the white card came; null before it did.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    retracted Bool COMMENT 'The fact no longer holds: readers leave it out.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.',
    utc_day Date MATERIALIZED toDate(loaded_at) COMMENT 'UTC day of loaded_at, for the storage alone: a revision may move it.'
)
ENGINE = ${replicated}ReplacingMergeTree(revision, retracted)
PARTITION BY toYYYYMM(utc_day)
ORDER BY (table_id, shoe)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
COMMENT 'Shoes in every revision received. Readers use the view shoes.';

CREATE VIEW IF NOT EXISTS shoes${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    status LowCardinality(String) COMMENT '`loaded`, `in_play` after its first round, or `closed`.',
    complete Bool COMMENT 'Everything that happened in the shoe was seen.',
    decks UInt64 COMMENT 'Decks of 52 cards.',
    shuffling LowCardinality(String) COMMENT '`shoe` or `continuous`, a shuffler that takes the cards back.',
    loaded_at DateTime64(6, 'UTC') COMMENT 'When the cards went in, UTC.',
    closed_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was taken out of play, UTC; null while it is not.',
    close_reason LowCardinality(String) COMMENT 'Why it was taken out of play.',
    cut_by LowCardinality(String) COMMENT 'Who cut: `patron` or `dealer`; empty if nobody did.',
    cards_behind_cut Nullable(UInt64) COMMENT 'Cards behind the white card; null before the cut.',
    burned UInt64 COMMENT 'Cards burned at the opening (art. 2(1)).',
    cards_out UInt64 COMMENT 'Cards that left the shoe, those burned unseen too.',
    seen Map(LowCardinality(String), UInt64) COMMENT 'Card → copies that left the shoe face up.',
    rounds UInt64 COMMENT 'Live rounds.',
    demonstrations UInt64 COMMENT 'Demonstration rounds (art. 2(2)).',
    banker_wins UInt64 COMMENT 'Live rounds the banker hand won.',
    player_wins UInt64 COMMENT 'Live rounds the player hand won.',
    ties UInt64 COMMENT 'Live rounds that tied.',
    voids UInt64 COMMENT 'Live rounds cancelled.',
    cut_card_round Nullable(UInt64) COMMENT 'The round in which, or before which, the white card came; null before it did.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.'
)
AS SELECT * EXCEPT (retracted)
FROM shoes_versions FINAL
COMMENT 'A shoe so far.';
