"""Learn: eight short lessons as a path, each as slides and for a class, and the guide."""

from pages.parts.learn import lesson, path, pupil
from pages.shared.state import session

now = session.current()
if now.class_code:
    pupil.show(now.class_code)
elif now.learn_part == "guide":
    path.show_guide()
elif now.lesson or now.presenter == "on":
    lesson.show()
else:
    path.show()
