"""The contract: cards, money, identifiers, events, facts, configuration, topics and the store's DDL."""
