"""What is true of a floor right now, worked out purely: windows of play, silent tables, streams that stand still."""
