"""Write what a new server shows of the front page at once: its figure, and its further views.

.venv/bin/python -m scripts.write_first_picture
"""

from pages.parts.explore import scene, views
from pages.shared.server import first_picture

if __name__ == "__main__":
    first_picture.store(scene.first_figure())
    first_picture.store_views(views.first_views())
