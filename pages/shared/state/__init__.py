"""The state on screen as data: settings, their address, the session, and the cache of answers."""
