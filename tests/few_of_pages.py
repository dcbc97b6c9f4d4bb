"""A process that has imported this draws as few data sets as the tests of pages do."""

from tests.few import VERY_FEW_DATA_SETS, set_for_this_process

set_for_this_process(VERY_FEW_DATA_SETS)
