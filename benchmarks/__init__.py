"""Measurements, side by side in one run: figures mean something only beside others from the same minute and machine."""
