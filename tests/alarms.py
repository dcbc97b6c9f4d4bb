"""Releases whose checks raise no false alarm: the noise is new each time, and a few in a hundred do."""

_TRIES = 4  # with an alarm of one in 20, all of them fail once in 160,000 runs


def without_alarm(release, is_doubtful):
    """Return the first of ``release(0)``, ``release(1)``, … that is not doubtful, or the last."""
    for k in range(_TRIES):
        one = release(k)
        if not is_doubtful(one):
            break
    return one
