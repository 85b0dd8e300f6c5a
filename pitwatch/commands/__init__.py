"""The commands of `pitwatch`, one module each: they parse, call and print."""
