// Repairs of the framework’s own markup, where a keyboard or a screen reader would not get through:
// frames that scroll can be reached with Tab, Escape in a field does not close the dialog around it, and
// motion can be declined; Enter goes on from a question whose answer was just chosen.

const LOOK = 200;                         // ms between two looks at the theme

export default function ({parentElement: root, setTriggerValue}) {
  if (root.__frame) return;
  // Back on the same page; that of another page is a change of pages, of which the server knows.
  const tell = () => {
    const isHere = location.pathname === window.__path;
    window.__path = location.pathname;
    if (isHere) setTriggerValue('went_back', Date.now());
  };
  addEventListener('popstate', tell);
  document.addEventListener('click', remember, true);
  document.addEventListener('keydown', leaveField, true);
  addEventListener('keydown', closeDrawer);
  document.addEventListener('keydown', goOn, true);   // radio buttons keep it to themselves
  let frame = null;                       // the next one that is drawn: none shows what has yet to be repaired
  const soon = () => { frame ??= requestAnimationFrame(() => { frame = null; repair(); }); };
  const changes = new MutationObserver(soon);
  const themes = setInterval(surface, LOOK);   // a change of theme is no change of the document
  changes.observe(document.body, {childList: true, subtree: true, characterData: true});
  addEventListener('resize', soon);
  root.__frame = true;
  window.__calm ||= calm();
  window.__steps ||= steps();
  repair();
  return () => {
    if (root.isConnected) return;
    cancelAnimationFrame(frame);
    changes.disconnect();
    clearInterval(themes);
    removeEventListener('resize', soon);
    removeEventListener('popstate', tell);
    document.removeEventListener('click', remember, true);
    document.removeEventListener('keydown', leaveField, true);
    removeEventListener('keydown', closeDrawer);
    document.removeEventListener('keydown', goOn, true);
    root.__frame = false;
  };
}

// Folds grow by a script, which no style sheet stops: it is over at once for who asked for less motion.
function calm() {
  const {animate} = Element.prototype, less = matchMedia('(prefers-reduced-motion: reduce)');
  Element.prototype.animate = function (frames, how) {
    const options = typeof how === 'number' ? {duration: how} : how;
    return animate.call(this, frames, less.matches ? {...options, duration: 0, delay: 0} : options);
  };
  return true;
}

// A page opened from the menu has a bare address until its settings are written there. That is no step
// for Back, which would lead to the settings of a bare address, and not to the page before.
function steps() {
  const {pushState} = history;
  window.__path = location.pathname;
  let isNew = false;                      // opened at a bare address, and untouched since
  for (const touch of ['pointerdown', 'keydown']) addEventListener(touch, () => { isNew = false; }, true);
  history.pushState = function (state, title, url) {
    const to = new URL(url ?? location.href, location.href), isHere = to.pathname === location.pathname;
    const isWritten = isHere && isNew && !location.search;
    isNew = !isHere && !to.search;
    window.__path = to.pathname;
    return (isWritten ? history.replaceState : pushState).call(this, state, title, url);
  };
  return true;
}

// Escape in a field of a dialog leaves the field, so that a form does not go with a list that closed by
// itself; from outside of fields it closes the dialog.
function leaveField(event) {
  const field = event.target, dialog = field.closest?.('[data-testid=stDialog] [role=dialog]');
  if (event.key !== 'Escape' || !dialog || !field.matches('input, textarea')) return;
  if (field.getAttribute('aria-expanded') === 'true') return;   // its list closes alone
  event.stopPropagation();
  dialog.focus();
}

// A shortcut is ignored in every field, so also where an answer was chosen, which takes no text.
function goOn(event) {
  if (event.key !== 'Enter' || event.repeat || !event.target.matches?.('[data-testid=stMain] :is([type=radio], [type=checkbox])')) return;
  document.querySelector('.st-key-question_next button:enabled')?.click();
}

// Escape closes the drawer as it closes a dialog; what has the focus keeps it where it means something there.
function closeDrawer(event) {
  const inside = event.composedPath()[0], isTaken = event.defaultPrevented || document.querySelector('[role=dialog], [role=listbox]');
  if (event.key !== 'Escape' || isTaken || inside.matches?.('#stage, input, textarea')) return;
  document.querySelector('.st-key-drawer_close button')?.click();
}

// A page with another title begins at its top, wherever the last one had been scrolled to; so does a step of
// a page whose headings are counted or ask a question, where the keyboard goes on from its heading.
let title = null, step = null;
function begin() {
  const main = document.querySelector('[data-testid=stMain]'), now = main?.querySelector('h1')?.textContent;
  const heading = headingOfStep(), name = heading?.textContent.replace(/\s/g, ' ');   // as written, or with quantities kept
  const isOther = now && title && now !== title, isNext = name && step && name !== step;
  if (isOther || isNext) main.scrollTo(0, 0);
  if (isNext && !isOther) goOnFrom(heading);
  title = now || title;
  step = name ?? (isOther ? null : step);
}

function headingOfStep() {
  return [...document.querySelectorAll('[data-testid=stMain] h2')].find(
    each => /^[1-9]\s/.test(each.textContent) || each.closest('[class*=st-key-question_]'));
}
function goOnFrom(heading) {
  heading.tabIndex = -1;
  heading.focus({preventScroll: true});
}

// What opens over the page by a key takes the focus, and gives it back when it closes. A button that goes with
// its click, as "Use an example" does, leaves it to the heading of its step.
let opener = '', pressed = '', isOpen = false;   // pressed: last, until something else is clicked
function remember({target}) {
  const key = target.closest?.('button') && target.closest('[class*=st-key-]')?.className.match(/st-key-\S+/)?.[0];
  pressed = key || '';
  if (key && !target.closest('[class*=st-key-drawer]')) opener = key;
}
function handOver() {
  const popover = document.querySelector('[data-testid=stPopoverBody]'), button = document.activeElement;
  if (popover && button?.matches('[aria-expanded=true]:focus-visible')) {
    popover.tabIndex = -1;
    popover.focus();
  }
  const wasOpen = isOpen;
  isOpen = Boolean(document.querySelector('.st-key-drawer_close'));
  const isGone = pressed && button === document.body && !document.querySelector(`.${CSS.escape(pressed)}`);
  if (isGone && headingOfStep()) goOnFrom(headingOfStep());   // again where the heading is drawn anew
  if (wasOpen && !isOpen && opener && button === document.body) document.querySelector(`.${CSS.escape(opener)} button`)?.focus();
}

// No line ends inside a quantity, as `unbroken` in engine/language/numbers.py says it: "95 %", "2 cm", "ε = 1".
const QUANTITY = /(?<=\d) (?=%|\p{L}{1,7}(?!\p{L}))|(?<=[=±≤≥>]) (?=[\d−])|(?<=(?<!\p{L})[εδnm]) (?==)/gu;
function keepQuantities() {
  for (const box of document.querySelectorAll('[data-testid=stMarkdownContainer], [data-testid=stAlertContainer]')) {
    const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT, node =>
      node.parentElement.closest('pre, code, .katex') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const kept = node.data.replace(QUANTITY, '\u00a0');
      if (kept !== node.data) node.data = kept;
    }
  }
}

function nameTables() {                   // drawn on a canvas, without a name: that of the heading or fold above
  let heading = '';
  for (const node of document.querySelectorAll('[data-testid=stMain] :is(h1, h2, h3, summary p), [data-testid=stMain] [data-testid=stDataFrame]')) {
    if (node.matches('h1, h2, h3, p')) heading = node.textContent.trim();
    else for (const [role, element] of [['group', node], ['grid', node.querySelector('table')]]) {
      element?.setAttribute('role', role);
      element?.setAttribute('aria-label', heading);
    }
  }
}

function surface() {                      // the colour of the page, which is no variable, and the logo for it
  const app = document.querySelector('[data-testid=stApp]');
  if (!app) return;
  const page = getComputedStyle(app).backgroundColor, [r, g, b] = page.match(/[\d.]+/g).map(Number);
  document.documentElement.style.setProperty('--pc-page', page);
  document.documentElement.dataset.pcTheme = 0.2126 * r + 0.7152 * g + 0.0722 * b < 128 ? 'dark' : 'light';
}

function repair() {
  surface();
  begin();
  handOver();
  for (const frame of document.querySelectorAll('main pre, main .katex-display')) {
    if (frame.scrollWidth > frame.clientWidth || frame.scrollHeight > frame.clientHeight) frame.tabIndex = 0;
    else frame.removeAttribute('tabindex');
  }
  document.querySelectorAll('img[data-testid=stHeaderLogo], img[data-testid=stSidebarLogo], img[data-testid=stLogo]').forEach(logo => {
    logo.alt = 'Privacy Curves, home';
  });
  nameTables();
  keepQuantities();
}
