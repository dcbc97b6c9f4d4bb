// Start-up of one file. It unpacks what the file carries, draws it, and keeps its state in the address.
// `mount`, which draws, stands above in a function of its own. Nothing is requested from anywhere.

const VIEWS = ['look', 'attack'], THEMES = ['light', 'dark'], STATED = /^\d{1,10}$/;
const at = id => document.getElementById(id), page = document.documentElement;

function addressed() {                    // what the address states; all else in it is ignored
  const stated = new URLSearchParams(location.hash.slice(1)), one = (name, known) => known.find(word => word === stated.get(name));
  return {epsilon: stated.get('epsilon'), view: one('view', VIEWS), theme: one('theme', THEMES), curve: stated.get('curve'),
    game: STATED.test(stated.get('game') || '') ? Number(stated.get('game')) : undefined};
}

function address(state) {
  const words = Object.entries({curve: addressed().curve ?? undefined, ...state, theme: addressed().theme}).filter(([, value]) => value !== undefined);
  const hash = `#${words.map(pair => pair.map(encodeURIComponent).join('=')).join('&')}`;
  try { history.replaceState(null, '', hash); } catch (_) { location.hash = hash; }
}

function host({html, css}) {
  const root = at('host').attachShadow({mode: 'open'}), sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [sheet];
  root.innerHTML = html;                  // a file of the program: whatever is filled in later is text
  return root;
}

function themed(paint) {                  // the reader's theme, until the button or the address says another
  const dark = matchMedia('(prefers-color-scheme: dark)');
  if (addressed().theme) page.dataset.theme = addressed().theme;
  dark.onchange = paint;
  at('theme').onclick = () => {
    page.dataset.theme = (page.dataset.theme || (dark.matches ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
    paint();
  };
}

function drawFigure({sent, html, css}) {
  const root = host({html, css}), {curves: {epsilons}} = sent, now = {...sent.now}, all = [sent.curves, ...(sent.more || [])];
  let curves = sent.curves;               // of several published curves the one that is chosen
  const follow = () => {
    const {epsilon, view, game} = addressed(), known = epsilons.indexOf(epsilon);
    curves = all[addressed().curve] || sent.curves;
    Object.assign(now, {rev: now.rev + 1, start: known < 0 ? sent.now.start : known, view: view || sent.now.view, game});
  };
  const keep = (_, {budget, view, game}) => address({epsilon: epsilons[budget],
    ...(view === 'look' ? {} : {view, game})});
  const paint = () => mount({data: {...sent, curves, now: {...now}}, parentElement: root, setStateValue: keep, setTriggerValue: () => {}});
  let saved = 0;
  for (const kind of ['svg', 'png']) at(kind).onclick = () => { now.save = `${++saved}-${kind}`; paint(); };
  addEventListener('hashchange', () => { follow(); paint(); });
  follow();
  if (all.length > 1) {
    at('choosing').hidden = false;
    at('choice').value = all.indexOf(curves);
    at('choice').onchange = event => { address({curve: event.target.value}); follow(); paint(); };
  }
  themed(paint);
  paint();
}

function drawLesson({sent, html, css}) {
  const root = host({html, css});
  const tell = (_, {step}) => { at('shown').hidden = !step; };
  const paint = () => mount({data: sent, parentElement: root, setStateValue: tell, setTriggerValue: () => {}});
  for (const button of document.querySelectorAll('.options button')) button.onclick = () => {
    at(button.getAttribute('aria-controls')).hidden = false;
    button.setAttribute('aria-expanded', 'true');
    button.classList.toggle('right', 'right' in button.dataset);
  };
  themed(paint);
  paint();
}

function offer({files}) {                 // what this file carries besides, such as a guarantee card
  for (const button of document.querySelectorAll('[data-carried]')) button.onclick = () => {
    const url = URL.createObjectURL(new Blob([files[button.dataset.carried]]));
    Object.assign(document.createElement('a'), {href: url, download: button.dataset.carried}).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };
}

async function start() {
  page.classList.toggle('embedded', self !== top);
  at('plain').hidden = true;
  try {
    const carried = await unpacked(at('sent').textContent);
    offer(carried);
    (carried.sent.curves ? drawFigure : drawLesson)(carried);
    at('controls').hidden = false;
    page.dataset.drawn = '';
  } catch (problem) {                     // an old browser: the table of numbers takes the picture's place
    at('plain').hidden = false;
    at('host').hidden = true;
    console.error(problem);
  }
}
start();
