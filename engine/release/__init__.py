"""Publishing real data once: the request, the certified noise, the ledger and the files."""
