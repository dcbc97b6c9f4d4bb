"""Services beside pages: headers, connections, visitors, and work in other processes."""
