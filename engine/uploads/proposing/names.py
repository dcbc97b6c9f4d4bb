"""Usual names of columns, and what they say: a proposal that a person confirms.

Names are compared without case, punctuation and units in brackets.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

from engine.core.lists import shortened


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


PEOPLE = _words(  # the likeliest first; each speaks of somebody, and of nothing else
    "patient_id person_id subject_id participant_id child_id patient person subject participant "
    "child individual runner athlete usubjid subjid patientid personid subjectid participantid "
    "patient_no patient_number patient_code person_no person_number subject_no subject_number "
    "participant_no participant_number user user_id member_id customer customer_id client "
    "client_id student student_id pupil pupil_id respondent respondent_id household household_id "
    "hhid lclid ptid pid mrn uid subj subj_id pat_id pat_no pt_id patient_nr patienten_nr "
    "patientennummer patientnr pat_nr patnr patienten_id patientin kind_nr kind_id person_nr "
    "proband probanden_nr probanden_id probandennummer teilnehmer teilnehmer_nr teilnehmer_id "
    "teilnehmernummer versuchsperson schuler kunde kunden_nr kundennummer kunden_id haushalt "
    "haushalt_id haushalts_id versichertennummer n_patient num_patient numero_patient id_patient "
    "enfant id_enfant personne sujet n_sujet menage ipp paciente id_paciente n_paciente "
    "no_paciente numero_paciente nino sujeto participante persona individuo cliente hogar nhc "
    "paziente id_paziente n_paziente soggetto bambino patientnummer deelnemer deelnemernummer "
    "persoon proefpersoon clientnummer"
)
IDS = (
    "id",
    "record_id",
    "curve_id",
    "curve",
    "unit_id",
    "unit",
    "scan",
    "name",
    "identifier",
    "identifiant",
    "identificador",
    "kennung",
)
"""Names of ids of anything: of people where they come again, and of lines where they do not."""
NO_PEOPLE = frozenset(
    _words(
        "index row row_id row_number rownum no nr number n obs observation visit visit_id "
        "visit_number visitnum visit_no exam examination session date day time timestamp class "
        "label group arm g unnamed_0 x besuch visite visita"
    )
) | {"", "wave"}
PERIODS = frozenset(
    _words(
        "wave period phase round season term survey assessment pre_post prepost before_after "
        "welle periode durchgang vague onda ronda fase ronde"
    )
)
"""Names of columns with two periods of the same people, if they have two texts."""
DEVICES = frozenset(_words("device device_id sensor sensor_id meter meter_id"))
_OF_NO_PERSON = frozenset(
    _words(  # before an id: a person has several of these
        "visit stay hadm icustay encounter admission episode case order sample specimen tube batch "
        "well plate session exam scan image series row line study trial test item event group class "
        "fall probe"
    )
) | {"wave"}
_KEYS = frozenset(_words("id no nr num number nummer numero code key uuid barcode"))
_METERS = frozenset(_words("mpan mprn nmi prm cups pod ean zahlpunkt zahler"))
START = _words(
    "start start_date start_time begin diagnosis_date date_of_diagnosis randomisation_date "
    "randomization_date entry entry_date tstart time1 admission_date admit_date admit_dt beginn "
    "startdatum diagnosedatum aufnahmedatum debut date_debut date_de_debut inicio fecha_inicio "
    "inizio data_inizio"
)
ENTRY = (
    "entry",
    "entry_date",
    "entry_time",
    "delayed_entry",
    "late_entry",
    "age_at_entry",
    "entry_age",
)
STATUS = _words(
    "status event end_status death died dead cause death_event censored vital_status endpoint "
    "verstorben gestorben tod ereignis statut deces decede estado muerte fallecido stato decesso "
    "overleden exitus fstatus outcome label class result disease end state"
)
ENDS = _words(
    "end end_date exit date_of_end tstop stop stop_time time2 survival_time survival duration "
    "follow_up follow_up_time followup futime ftime discharge_date disch_date disch_dt "
    "last_contact_date date_of_last_contact ende enddatum entlassungsdatum dauer fin date_fin "
    "date_de_fin fecha_fin fine data_fine einde einddatum time days months years weeks"
)
"""Names of the ends of times to an event: an end and no start is a duration."""
EVENTS = frozenset(
    _words(
        "1 yes y true dead death died deceased event ja tot gestorben verstorben "
        "oui decede si muerto fallecido deceduto"
    )
)
NO_EVENTS = frozenset(
    _words("0 no n false alive living censored nein lebend non vivant vivo lost withdrawn")
)
"""Words of a status."""
SCORES = ("score", "risk", "prediction", "predicted", "probability", "marker")
SINGLE_VALUES = ("value", "concentration", "measurement", "result", "level", "y", "x")
RESPONSES = ("y", "response", "outcome", "result", "target")
CLOCKS = (
    "time",
    "clock",
    "clock_time",
    "hour",
    "time_of_day",
    "timestamp",
    "zeit",
    "uhrzeit",
    "heure",
    "hora",
    "ora",
    "tijd",
    "tijdstip",
)
_VALUES = (
    *_words(  # each says that a value was measured, and not which
        "value values y measurement response result outcome level aval dv valuenum "
        "vsstresn vsorres lbstresn lborres wert messwert ergebnis valeur resultat valor resultado "
        "valore risultato waarde"
    ),
    "reading",
    "readings",
)
_MEASURES = _words(
    "height weight glucose gl demand bpm hr heart_rate kwh conc consumption usage steps grosse "
    "groesse gewicht verbrauch taille poids consommation talla altura estatura peso consumo "
    "altezza lengte verbruik"
)
VISITS = _words(
    "visit visitnum visit_num visit_number avisitn visit_no besuch visite visita bezoek"
)
_SYNONYMS = {  # the likeliest first
    "id": (*PEOPLE, *IDS),
    "time": (
        *_words(
            "time t age day days hour hours minute minutes week weeks month months year years "
            "position date timestamp datetime elapsed tstp ts epoch night ady zeit zeitpunkt "
            "zeitstempel datum uhrzeit alter tag tage woche wochen monat monate jahr jahre stunde "
            "stunden temps jour jours semaine mois annee heure horodate horodatage edad fecha dia "
            "dias semana mes meses ano hora tiempo eta data giorno settimana mese anno ora tempo "
            "leeftijd dag maand jaar tijd weekday wochentag x"
        ),
        *VISITS,
    ),
    "value": (*_VALUES, *_MEASURES),
    "server": (
        "server",
        "site",
        "site_id",
        "hospital",
        "centre",
        "center",
        "clinic",
        "school",
        "institution",
        "location",
        "country",
        "region",
        "practice",
        "ward",
        "district",
        "department",
        "facility",
        "lab",
        "laboratory",
    ),
}
_NAMES_A_SITE = {"id", "name", "code", "no", "nr", "number", "key"}  # behind it, as in clinic_code
_UNITS = {
    "years",
    "year",
    "yrs",
    "yr",
    "y",
    "months",
    "weeks",
    "days",
    "day",
    "hours",
    "hour",
    "h",
    "minutes",
    "seconds",
    "s",
    "cm",
    "mm",
    "m",
    "kg",
    "g",
    "mg",
    "dl",
    "l",
    "ml",
    "jahre",
    "ans",
    "anos",
    "jaar",
    "mmol",
    "kwh",
    "hh",
    "kw",
    "w",
    "mmhg",
    "bpm",
}  # as in height_cm
_OF_TIME = {
    "time",
    "t",
    "day",
    "days",
    "hour",
    "hours",
    "hrs",
    "minute",
    "minutes",
    "week",
    "weeks",
    "wk",
    "month",
    "months",
    "year",
    "years",
    "date",
    "datetime",
    "timestamp",
    "datum",
    "zeit",
    "uhrzeit",
    "fecha",
}
_NO_TIMES = {
    "birth",
    "born",
    "death",
    "diagnosis",
    "baseline",
    "entry",
    "start",
    "end",
    "onset",
    "enrolment",
    "enrollment",
    "first",
    "last",
    "school",
    "geburt",
    "naissance",
    "deces",
    "debut",
    "fin",
    "nacimiento",
    "inicio",
    "muerte",
}  # one for each person
_SINCE = {"since", "from", "after"}  # as in days_since_surgery
_MAX_COMPARED = 200  # names, of a file that is wider
_OF_DURATIONS = {"elapsed", "duration", "stopwatch", "split", "lap", "since", "after", "runtime"}
_SAYS_SO = {"1", "1.0", "yes", "y", "true", "t", "x", "censored", "ja", "oui", "si"}
_AT_VISITS = {
    "visit",
    "exam",
    "examination",
    "measurement",
    "observation",
    "test",
    "visite",
    "visita",
    "besuch",
    "prelevement",
    "extraccion",
    "abnahme",
    "collection",
    "draw",
}


class NamedColumns(Protocol):
    """Columns by their names, with what names and marks in them mean."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Their names, in the order of the file."""

    @property
    def decimal(self) -> str:
        """The decimal mark."""

    def find(self, name: str) -> str:
        """Return the column of this name, whatever its case."""

    def holds(self, column: str, text: str) -> bool:
        """Return True if a text stands in a column."""


def plain_name(column: str) -> str:
    """Return a name without case, accents, a unit in brackets and punctuation.

    >>> plain_name("Größe (cm)"), plain_name("N° patient"), plain_name("PatientID")
    ('grosse', 'n_patient', 'patient_id')
    """
    name = re.sub(r"[(\[][^)\]]{0,50}[)\]]", "", column[:200])
    name = re.sub(r"(?<=[a-z]{2})(?=[A-Z])", "_", name)
    letters = unicodedata.normalize("NFKD", name).casefold()
    return re.sub(r"[\W_]+", "_", re.sub("[\u0300-\u036f]", "", letters)).strip("_")


def column_key(name: str) -> str:
    """Return what names of columns are compared by: without case and without outer blanks."""
    return unicodedata.normalize("NFC", name).strip().casefold()


def nearest(name: str, columns: Iterable[str]) -> str:
    """Return “The nearest name is “age”. ”, or nothing if no column is near."""
    by_key = {column_key(column)[:100]: column for column in islice(columns, _MAX_COMPARED)}
    near = difflib.get_close_matches(column_key(name)[:100], by_key, n=1, cutoff=0.6)
    return f"The nearest name is “{shortened(by_key[near[0]])}”. " if near else ""


def says_censored(column: str, text: str) -> bool:
    """True if a column is called by who is censored, and a text is its yes."""
    return "censor" in plain_name(column) and text.casefold() in _SAYS_SO


def is_elapsed(name: str) -> bool:
    """True if a name says how long something took, and no time of day."""
    return not _OF_DURATIONS.isdisjoint(plain_name(name).split("_"))


def by_plain_name(columns: Sequence[str]) -> dict[str, str]:
    """Return the columns by their plain names; of two that are alike the first."""
    return {plain_name(column): column for column in reversed(columns)}


def first_of(names: Iterable[str], columns: Mapping[str, str]) -> str | None:
    """Return the column of the likeliest of these names; `columns` are by their plain names.

    If no column is called so, take the only one whose name ends so, as os_months does.
    """
    names = tuple(names)
    exact = next((columns[name] for name in names if name in columns), None)
    ends = tuple(f"_{name}" for name in names if len(name) > 2)
    behind = [column for name, column in columns.items() if name.endswith(ends)]
    return exact or (behind[0] if len(behind) == 1 else None)


def names_people(name: str, repeats: bool) -> bool:
    """True if a column with this name may be proposed as the people.

    A name of ids of anything may be one of lines, visits or devices: it is proposed only where its
    ids come again.
    """
    plain = plain_name(name)
    if plain in PEOPLE:
        return True
    return (
        repeats
        and not is_of_no_person(name)
        and (plain in IDS or (plain.endswith("_id") and not _is_of_sites(plain)))
    )


def is_of_no_person(name: str) -> bool:
    """True if a name is one of lines, visits, samples or devices, of which a person has several."""
    plain = plain_name(name)
    return plain in NO_PEOPLE | DEVICES or plain.split("_")[0] in _OF_NO_PERSON


def is_id(name: str) -> bool:
    """True if a name is one of ids: of people, lines, visits or devices, but not of sites."""
    plain = plain_name(name)
    return (
        plain in (*PEOPLE, *IDS)
        or plain in NO_PEOPLE | DEVICES | _METERS
        or plain.endswith("nummer")
        or ("_" in plain and plain.split("_")[-1] in _KEYS and not _is_of_sites(plain))
    )


def rank_of_people(name: str) -> int:
    """Return the rank of a name among the usual names of people."""
    usual, plain = _SYNONYMS["id"], plain_name(name)
    return usual.index(plain) if plain in usual else len(usual)


def roles_by_name(table: NamedColumns, choices: Mapping[str, Any]) -> dict[str, str]:
    """Return role → column, for the roles whose usual names occur.

    Roles that a person chose, in `choices`, are not looked for, nor are their columns.
    """
    used = names_in(choices)
    free = {plain_name(column): column for column in reversed(table.columns) if column not in used}
    columns: dict[str, str] = {}
    for role in ("server", "time", "value", "id"):  # site_id is a site before it is an id
        names = [name for name in _SYNONYMS[role] if name in free]
        if role == "id" and not names:
            names = [name for name in free if name.endswith("_id") and not is_of_no_person(name)]
        elif role == "value":
            names = _of_one_measure(names, free)
        if role != "id" and not names:
            names = _qualified(role, free)
        if role not in choices and names:
            columns[role] = free.pop(names[0])
    return columns


def usual_names(role: str) -> tuple[str, ...]:
    """Return the usual names of “id”, “time”, “value” or “server”, the likeliest first."""
    return _SYNONYMS[role]


def found(table: NamedColumns, roles: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that a person chose, in the spelling of the table."""
    return {
        role: named
        if named is None
        else table.find(named)
        if isinstance(named, str)
        else tuple(table.find(name) for name in named)
        for role, named in roles.items()
    }


def names_in(choices: Mapping[str, Any]) -> set[str]:
    """Return all columns that were chosen."""
    names: set[str] = set()
    for named in choices.values():
        names.update((named,) if isinstance(named, str) else named or ())
    return names


def _of_one_measure(names: list[str], free: Iterable[str]) -> list[str]:
    """Keep a name that says a value; of names of what was measured the only one.

    Which of several measures is meant, and which of x, y and z, is not for a program to say.
    """
    names = [name for name in names if not (name == "y" and "z" in free)]
    values = [name for name in names if name in _VALUES]
    return values or (names if len(names) == 1 else [])


def _is_of_sites(name: str) -> bool:
    """True if a name says a site and nothing of one: hospital_name, but not school_year."""
    *before, last = name.split("_")
    if last in _NAMES_A_SITE and before:
        *before, last = before
    return last in _SYNONYMS["server"] and not {*before} & _OF_TIME


def _qualified(role: str, free: Iterable[str]) -> list[str]:
    """Return the one name that says its unit as well, such as height_cm, or whose date it is.

    Return none if there are several: which of them it is, is not for a program to say.
    """
    if role == "server":
        names = [name for name in free if _is_of_sites(name)]
        return names if len(names) == 1 else []
    names = [
        name
        for name in free
        if name.split("_")[0] in _SYNONYMS[role]
        and name.split("_")[1:]
        and {*name.split("_")[1:]} <= _UNITS
    ]
    if role == "time":
        names += [name for name in free if name not in names and is_of_time(name)]
    return names if len(names) == 1 else []


def is_of_time(name: str) -> bool:
    """True if a name says when somebody was seen: visit_week, days_since_surgery, age_at_visit."""
    first, *others = name.split("_")
    if not others:
        return False
    if first in _OF_TIME and others[0] in _SINCE:
        return True  # whatever it is counted from
    is_of_person = bool({first, *others} & _NO_TIMES)
    ends = (
        _OF_TIME
        | (_AT_VISITS if first in _OF_TIME | {"age"} else set())
        | ({"age"} if first in _AT_VISITS else set())
    )
    return not is_of_person and others[-1] in ends
