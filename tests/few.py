"""How few data sets are behind every error, for tests that ask which number is said, not how precise.

How precise errors are, is tested with the engine. To import `tests.few_of_pages` sets those of pages
for a whole process.
"""

from importlib import import_module

FEW_DATA_SETS = {
    "engine.simulation.studies.MAX_DATA_SETS": 8,
    "engine.simulation.studies._FEWEST_DATA_SETS": 2,
    "engine.simulation.studies._READINGS": 100_000,
    "engine.simulation.studies._ENOUGH_RELEASES": 20,
}
# for a test of how precise a number is beside tests that have few
ENOUGH_DATA_SETS = {
    "engine.simulation.studies.MAX_DATA_SETS": 100,
    "engine.simulation.studies._FEWEST_DATA_SETS": 4,
    "engine.simulation.studies._READINGS": 1_000_000,
    "engine.simulation.studies._FEWEST_RELEASES": 20,
    "engine.simulation.studies._ENOUGH_RELEASES": 100,
    "engine.simulation.studies._MAX_DRAWS": 100,
}
# for pages, which say each number as the engine has it, whatever it is
VERY_FEW_DATA_SETS = FEW_DATA_SETS | {
    "engine.simulation.studies.MAX_DATA_SETS": 4,
    "engine.simulation.studies._READINGS": 50_000,
    "engine.simulation.studies._FEWEST_RELEASES": 4,
    "engine.simulation.studies._ENOUGH_RELEASES": 4,
    "engine.simulation.studies._MAX_DRAWS": 20,
}


def set_for_this_process(sizes: dict[str, int]) -> None:
    """From now on, and for all that is computed here; a name that is not there is an error."""
    for name, value in sizes.items():
        path, _, attribute = name.rpartition(".")
        module = import_module(path)
        if not hasattr(module, attribute):
            raise AttributeError(f"{name} is not there, so that nothing would become fewer")
        setattr(module, attribute, value)
