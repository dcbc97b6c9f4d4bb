// The live figure. Curves of all budgets arrive once; whatever the visitor does then happens here:
// the slider, one release after another, a child's curve that is pulled, and the attacker's game.
// It has views: curves (with the attacker's game), methods and theory; numbers and slider stay.
// Text from the server goes through textContent only, so that a label can never become markup.

const REST = 60;                          // ms without movement before the server is told

export default function figure({data: sent, parentElement: root, setStateValue, setTriggerValue}) {
  const data = {...sent.curves, ...sent.now};
  const S = root.__figure ||= {root, host: root.host, q: s => root.querySelector(s)};
  S.send = value => setStateValue('picked', value);
  S.askNoise = () => setTriggerValue('new_noise', true);
  S.choose = method => setTriggerValue('method', method);
  S.askTheory = choice => setTriggerValue('theory', choice);
  if (!S.stop) wire(S);
  const isNew = S.tag !== data.tag || S.rev !== data.rev;
  if (S.tag !== data.tag) take(S, data);
  if (S.rev !== data.rev) move(S, data);
  ask(S, sent.asked);
  Object.assign(S, {methods: methodsOf(S, sent.methods), theory: sent.theory});
  if (isNew) S.game = S.picked.view === 'attack' ? newGame(S, data.game) : null;
  S.saved ??= data.save;                  // asked for before the figure was mounted: done already
  ticksOfSlider(S, data.anchors || []);
  dress(S);                               // also called when the theme changes
  Object.assign(S.data, {with_truth: data.with_truth, new_noise: data.new_noise});
  S.q('#figure').classList.toggle('on-page', Boolean(data.on_page));
  S.q('#views').hidden = !data.on_page;
  paint(S);
  if (S.saved !== data.save) save(S, S.saved = data.save);   // of the view on screen
  if (window.__first?.tag === S.tag && S.host.isConnected) window.__first.give((...left) => goOn(S, ...left));
  return () => { if (!S.host.isConnected && S.stop) { S.stop(); S.stop = null; } };
}

function take(S, data) {
  S.tag = data.tag;
  S.data = data;
  S.curves = decode(data);
  Object.assign(S, {fogLimits: fogLimits(S), view: inView(S)});
  Object.assign(S, {from: 0, to: 0, mix: 0, reading: null, pull: null, ghost: null, game: null, spans: new Map(), visible: new Map()});
  S.q('#e').max = data.epsilons.length - 1;
  for (const node of S.root.querySelectorAll('[data-word]')) node.textContent = data.words[node.dataset.word] || '';
  S.q('#views').setAttribute('aria-label', data.words.views);
  S.q('#noise').title = data.words.new_noise_help;
  S.q('#stage').setAttribute('aria-label', data.words.stage);
  S.q('#attack').classList.toggle('gone', S.curves.people.length < 2);
  S.q('#figure').classList.toggle('one-budget', data.epsilons.length < 2);
  S.q('#figure').classList.toggle('alone', Boolean(data.alone));
}

function move(S, data) {                  // the server moved the figure: first mount, link, Back
  S.rev = data.rev;
  const known = window.__budgetRev === data.rev + location.pathname && window.__budget !== undefined;
  S.picked = {budget: Math.min(known ? window.__budget : data.start, data.epsilons.length - 1), view: known && window.__view || data.view};
  S.reported = JSON.stringify(S.picked);
  clearTimeout(S.timer);
  window.__budgetRev = data.rev + location.pathname;
  Object.assign(window, {__budget: S.picked.budget, __view: S.picked.view});
  dispatchEvent(new CustomEvent('pc:budget', {detail: S.picked.budget}));
}

// The picture that stood before the page did is gone; what was done in it holds here.
function goOn(S, {picked, from, to, mix, paused, pull, game}, focused, wishes) {
  Object.assign(S, {picked, from, to, mix, paused, pull, game});
  window.__view = picked.view;
  if (picked.budget !== S.data.start || picked.view !== S.data.view) S.reported = '';
  paint(S);
  if (focused) S.q(`#${focused}`)?.focus();
  report(S);
  if (wishes.new_noise) S.askNoise();
}

function report(S) {                      // now, and only when something is new
  clearTimeout(S.timer);
  const state = S.data.replays && S.game ? {...S.picked, game: S.game.number} : S.picked, picked = JSON.stringify(state);
  if (picked === S.reported || !S.host.isConnected) return;
  Object.assign(S, {reported: picked, reportedAt: performance.now(), reportedFrom: location.href});
  S.send({...state, rev: S.rev});
}

function slide(S, budget) {
  S.picked.budget = budget;
  window.__budget = budget;
  playOn(S);
  show(S);
  dispatchEvent(new CustomEvent('pc:budget', {detail: budget}));
}

function wire(S) {
  const e = S.q('#e'), stage = S.q('#stage');
  e.oninput = () => slide(S, +e.value);
  e.onchange = () => { clearTimeout(S.timer); S.timer = setTimeout(() => report(S), REST); };
  S.q('#play').onclick = () => toggle(S);
  S.q('#along').onchange = event => S.askTheory(event.target.value);
  S.q('#equal').onclick = () => { S.isEqual = !S.isEqual; show(S); };
  S.q('#noise').onclick = () => S.askNoise();
  S.q('#attack').onclick = () => openGame(S, !S.game);
  S.q('#views').onclick = event => { const {view} = event.target.dataset; if (view) see(S, view); };
  S.q('#views').onkeydown = event => turnView(S, event);
  S.q('#leave').onclick = () => openGame(S, false);
  S.q('#restart').onclick = () => { S.game = newGame(S); paint(S); report(S); S.q('#a').focus(); };
  for (const kind of ['png', 'svg']) S.q(`#card_${kind}`).onclick = () => saveCard(S, kind);
  S.q('#card_share').onclick = () => shareCard(S);
  S.q('#a').onclick = () => guess(S, 0);
  S.q('#b').onclick = () => guess(S, 1);
  S.q('#next').onclick = () => { S.game = round(S, S.game); show(S); S.q('#a').focus(); };
  stage.onpointerdown = event => grip(S, event);
  stage.onpointermove = event => S.held ? drag(S, event) : read(S, event);
  stage.onpointerup = stage.onpointercancel = event => drop(S, event);
  stage.addEventListener('touchmove', event => {            // a finger that holds a curve does not scroll
    if (S.held && S.held.person !== null) event.preventDefault();
  }, {passive: false});
  stage.onpointerleave = () => { if (!S.held) unread(S); };
  stage.onkeydown = event => key(S, event);
  stage.onblur = () => unread(S);
  const others = event => {               // another piece of the page moved the budget
    if (event.detail === S.picked?.budget || !S.data?.epsilons[event.detail]) return;
    S.picked.budget = event.detail;
    playOn(S);
    if (S.width) show(S);
  };
  const flush = event => {                // whoever copies the link wants that of what is on screen
    report(S);
    event.detail.waiting ||= S.reportedFrom === location.href && performance.now() - S.reportedAt < event.detail.patience;
  };
  addEventListener('pc:budget', others);
  addEventListener('pc:flush', flush);
  STILL.addEventListener('change', S.motion = () => { S.paused = STILL.matches; show(S); });
  S.paused = STILL.matches;
  const size = new ResizeObserver(() => {
    const width = Math.round(S.q('#figure').clientWidth);
    const isSame = width === S.width && (!isCurves(S) || S.q('#main').clientHeight === S.main?.height);
    if (width && !isSame) paint(S);       // no width: not on screen
  });
  size.observe(S.q('#figure'));
  const touched = () => unhaunt(S);
  for (const kind of ['pointerdown', 'keydown', 'input']) S.q('#figure').addEventListener(kind, touched, true);
  S.haunting = setTimeout(() => haunt(S), WAIT);
  document.fonts.ready.then(() => S.width && paint(S));     // widths of words are measured
  S.stop = () => {
    size.disconnect();
    clearTimeout(S.timer);
    clearTimeout(S.haunting);
    cancelAnimationFrame(S.frame);
    S.frame = 0;
    removeEventListener('pc:budget', others);
    removeEventListener('pc:flush', flush);
    STILL.removeEventListener('change', S.motion);
  };
}

function key(S, event) {                  // arrows read and pull, Escape puts back, space pauses
  if (event.target !== S.q('#stage')) return;
  const last = S.curves.times.length - 1, step = Math.max(1, Math.round(last / 40));
  const turn = {ArrowLeft: -step, ArrowRight: step}[event.key];
  const lift = {ArrowUp: 1, ArrowDown: -1}[event.key];
  if (turn) {
    S.reading = Math.min(Math.max((S.reading ?? Math.round(last / 2)) + turn, 0), last);
    if (S.pull) S.pull.time = S.curves.times[S.reading];
  } else if (lift && !S.game && S.curves.people.length) {
    const {value} = S.data, time = S.curves.times[S.reading ??= S.pull ? nearest(S, S.main.x(S.pull.time)) : Math.round(last / 2)];
    S.pull ||= {person: highest(S, time), time, by: 0};
    const height = value.high - value.low;
    S.pull.by = Math.min(Math.max(S.pull.by + lift * height / 40, -height), height);
  } else if (event.key === 'Escape') {
    S.pull = S.reading = null;
  } else if (event.key === ' ') {
    toggle(S);
  } else {
    return;
  }
  event.preventDefault();
  show(S);
}

// ---- views --------------------------------------------------------------------------------------

const isCurves = S => ['look', 'attack'].includes(S.picked.view);

function see(S, view) {                   // another view of the same numbers
  if (S.picked.view === view) return;
  S.picked.view = window.__view = view;
  Object.assign(S, {game: null, pull: null, reading: null});
  paint(S);
  report(S);
}

function turnView(S, event) {             // arrows go along the tabs
  const tabs = [...S.q('#views').children], turn = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (!turn) return;
  const next = tabs[(tabs.indexOf(event.target) + turn + tabs.length) % tabs.length];
  next.focus();
  see(S, next.dataset.view);
  event.preventDefault();
}

function paint(S) {                       // everything: new data, size, theme, view or game
  const {view} = S.picked;
  S.q('#stage').hidden = !isCurves(S);
  S.q('#tiles').hidden = view !== 'methods';
  S.q('#theory').hidden = view !== 'theory';
  for (const tab of S.q('#views').children) {
    const isOn = tab.dataset.view === (isCurves(S) ? 'look' : view);
    tab.setAttribute('aria-selected', String(isOn));
    tab.tabIndex = isOn ? 0 : -1;
  }
  for (const id of ['#play', '#noise']) S.q(id).hidden = true;   // until the curves are shown
  S.q('#attack').hidden = !isCurves(S);
  S.q('#equal').hidden = view !== 'methods';
  const width = Math.round(S.q('#figure').clientWidth);
  if (!width) return;
  S.width = width;
  Object.assign(S, {widths: new Map(), font: '', samples: null});
  ({methods: paintMethods, theory: paintTheory}[view] ?? paintCurves)(S);
  nameTicks(S);
  show(S);
}

function show(S) {                        // one budget: called on every movement
  const {budget, view} = S.picked, {epsilons, words, attacker, errors, weak} = S.data, e = S.q('#e');
  const [error, within, spoken] = errors[budget];
  if (+e.value !== budget) e.value = budget;
  e.style.setProperty('--filled', `calc(11px + ${budget / Math.max(1, epsilons.length - 1)} * (100% - 22px))`);
  e.setAttribute('aria-valuetext', `ε ${epsilons[budget]}, ${fill(words.spoken, {attacker: attacker[budget], error: spoken})}`);
  S.q('#value').textContent = `ε = ${epsilons[budget]}`;
  S.q('#attacker').textContent = `${weak[budget] ? '⚠ ' : ''}${attacker[budget]}`;
  S.q('#attacker').className = weak[budget] ? 'weak' : '';
  S.q('#error').textContent = error;
  S.q('#within').textContent = within;
  S.host.dataset.budget = budget;
  S.host.dataset.view = view;
  S.q('#figure').classList.toggle('drowned', isRefused(S));
  say(S, ({methods: showMethods, theory: showTheory}[view] ?? showCurves)(S));
  offerCard(S);
}

function say(S, {text, isWeak}) {
  if (S.q('#sentence').textContent !== text) S.q('#sentence').textContent = text;
  S.q('#sentence').classList.toggle('weak', isWeak);
}
