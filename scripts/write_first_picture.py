"""Write `data/first_picture.packed.gz`, the front page's figure that a new server shows at once.

.venv/bin/python -m scripts.write_first_picture
"""

from pages.parts.explore import scene
from pages.shared.server import first_picture

if __name__ == "__main__":
    first_picture.store(scene.first_figure())
