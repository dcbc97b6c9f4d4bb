"""The frame around every page: title, logo, navigation.

Worker processes import the main script again, so its drawing code is under the guard, which alone
imports streamlit.
"""

from __future__ import annotations

if __name__ == "__main__":
    from functools import partial
    from pathlib import Path

    import streamlit as st

    from pages.shared import components, places
    from pages.shared.frame import glossary_fold, layout
    from pages.shared.server import visitors
    from pages.shared.state import session
    from pages.shared.uploads import draft, panel

    HERE = Path(__file__).parent
    FOLDER = HERE.parent
    ASSETS = HERE / "assets"

    def navigation() -> dict[str, list]:
        """Return the pages of each section of the menu; the first page is the home page."""
        (section, script, title), *others = places.PAGES
        home = st.Page(FOLDER / script, title=title, url_path="home", default=True)
        # The default page answers only at "/", so its name is a second, hidden entry.
        alias = st.Page(FOLDER / script, title=title, visibility="hidden")
        menu = {section: [home, alias]}
        for section, script, title in others:
            menu.setdefault(section, []).append(st.Page(FOLDER / script, title=title))
        menu[""] += [
            st.Page(partial(move, earlier), title=earlier, url_path=earlier, visibility="hidden")
            for earlier in places.EARLIER
        ]
        return menu

    def move(earlier: str) -> None:
        """Go where a page of an earlier edition went, with the settings of its address."""
        page, token = places.present(earlier, st.query_params.get("s", ""))
        st.switch_page(FOLDER / f"{page}.py", query_params={"s": token} if token else None)

    def bar(menu: dict[str, list]) -> None:
        """Name the places in a line, which a phone shows above the page."""
        with st.container(key="places", horizontal=True, gap=None):
            for place in menu[""]:
                if place.visibility != "hidden":
                    st.page_link(place, label=place.title)

    menu = navigation()
    page = st.navigation(menu, position="top")
    if page.url_path in places.EARLIER:
        page.run()
    st.set_page_config(
        page_title=f"{page.title} · Privacy Curves",
        page_icon=str(ASSETS / "favicon.svg"),
        layout="wide",
    )
    st.logo(components.LOGO, size="large")
    visitors.admit()
    components.frame()
    bar(menu)
    session.load(page.url_path)
    draft.restore_stated()
    with layout.user_errors():  # last resort for unexpected errors of a page
        page.run()
        glossary_fold.show()
        panel.dialog(session.task_on_screen(), page.url_path)
    draft.keep_stated()
    session.save()
