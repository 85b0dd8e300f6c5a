"""The proof that one file of events gives the same facts by whichever way, whatever happens on it."""
