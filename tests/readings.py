"""Readings of the files of tests: what is proposed for them with what a test states, confirmed."""

from engine.core.tasks import DataType
from engine.mechanisms import mechanisms
from engine.numerics.counts.cells import Counted
from engine.release.data_sections import LOOKING
from engine.uploads.curves import Upload
from engine.uploads.events import UploadEvents, counted_for
from engine.uploads.people import read
from engine.uploads.proposal import propose
from engine.uploads.records import curves_of, event_columns, events_of, rows_of
from engine.uploads.rows import UploadRows


def reading_of(content, data=DataType.CURVES, **stated):
    """The complete reading of a file: proposed, and confirmed as it is likely; “id” names people."""
    stated = {name: value for name, value in stated.items() if value is not None}
    likely = propose(content, data=data, stated=stated).likely
    columns = stated.get("columns", {})
    if likely.person.rows and "id" not in columns and "id" in likely.frame.header:
        stated["columns"] = {**columns, "id": "id"}
        likely = propose(content, data=data, stated=stated).likely
    return likely.complete()


def curves_in(content, columns=None, single=False, **stated):
    """The curves of a file, or the single observation of each person."""
    data = DataType.READINGS if single else DataType.CURVES
    return curves_of(
        read(content, reading_of(content, data, columns=columns or {}, **stated)), single
    )


def rows_in(content, columns=None, **stated):
    """The records of a file."""
    return rows_of(
        read(content, reading_of(content, DataType.RECORDS, columns=columns or {}, **stated))
    )


def events_in(content, counted=Counted.OUTCOMES, columns=None, **stated):
    """The times of a file, and how they ended."""
    return events_of(
        read(content, reading_of(content, counted, columns=columns or {}, **stated)), counted
    )


def upload_of(content, declared, columns=None, **stated):
    """Curves of a file with stated facts, which may be published."""
    reading = reading_of(content, columns=columns or {}, **stated)
    return Upload(curves=curves_of(read(content, reading)), declared=declared, reading=reading)


def rows_upload_of(content, declared, columns=None, **stated):
    """Records of a file with stated facts, which may be published."""
    reading = reading_of(content, DataType.RECORDS, columns=columns or {}, **stated)
    return UploadRows(rows=rows_of(read(content, reading)), declared=declared, reading=reading)


def events_upload_of(content, declared, counted=Counted.OUTCOMES, columns=None, **stated):
    """Times of a file with stated facts, which may be published; facts may follow from columns."""
    reading = reading_of(content, counted, columns=columns or {}, **stated)
    facts = declared(event_columns(reading, counted)) if callable(declared) else declared
    return UploadEvents(
        events=events_of(read(content, reading), counted), declared=facts, reading=reading
    )


def data_of(content, data, kind=DataType.CURVES):
    """The "data" of a request, with the reading that its keys for looking lead to."""
    stated = {name: data[name] for name in (*LOOKING, "features") if name in data}
    rest = {name: value for name, value in data.items() if name not in LOOKING}
    return rest | {"reading": reading_of(content, kind, **stated).to_plain()}


def request_with_reading(plain, content):
    """A request whose "data" say how a file is read, in place of its keys for looking."""
    mechanism = mechanisms.build(
        plain["mechanism"]["key"], plain["mechanism"].get("parameters", {})
    )
    task = mechanism.main_task
    kind = counted_for(task.key) if task.data is DataType.EVENTS else task.data
    return plain | {"data": data_of(content, plain["data"], kind)}
