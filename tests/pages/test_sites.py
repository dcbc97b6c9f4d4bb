"""Sites through the framework's own tester: it draws, reacts to edits, refuses kindly and links."""
from tests.pages.test_plan_and_rates import visit


def test_opens():
    at = visit("sites")
    print([m.value for m in at.markdown], [e.value for e in at.error], at.title[0].value)
    print(at.data_editor[0].value.to_string())
    assert 0
