"""Running a coroutine to its end, whatever runs in this thread already."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def finished(coroutine):
    """What it returns. A thread of its own: the browser's driver keeps a loop in the main one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
