"""Measurements that notes and tables rest on, beside the engine: what runs here, no page needs."""
