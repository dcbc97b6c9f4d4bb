// The live figure. Curves of all budgets arrive once; whatever the visitor does then happens here:
// the slider, one release after another, a child's curve that is pulled, and the attacker's game.
// Text from the server goes through textContent only, so that a label can never become markup.

export default function figure({data: sent, parentElement: root, setStateValue, setTriggerValue}) {
  const data = {...sent.curves, ...sent.now};
  const S = root.__figure ||= {root, host: root.host, q: s => root.querySelector(s)};
  S.send = value => setStateValue('picked', value);
  S.askNoise = () => setTriggerValue('new_noise', true);
  if (!S.stop) wire(S);
  const isNew = S.tag !== data.tag || S.rev !== data.rev;
  if (S.tag !== data.tag) take(S, data);
  if (S.rev !== data.rev) move(S, data);
  ask(S, sent.asked);
  if (isNew) S.game = S.picked.view === 'attack' ? newGame(S, data.game) : null;
  S.saved ??= data.save;                  // asked for before the figure was mounted: done already
  ticksOfSlider(S, data.anchors || []);
  S.q('#noise').hidden = !data.new_noise;
  dress(S);                               // also called when the theme changes
  S.data.with_truth = data.with_truth;
  paint(S);
  if (S.saved !== data.save) save(S, S.saved = data.save);
  if (window.__first?.tag === S.tag && S.host.isConnected) window.__first.give((...left) => goOn(S, ...left));
  return () => { if (!S.host.isConnected && S.stop) { S.stop(); S.stop = null; } };
}

function take(S, data) {
  S.tag = data.tag;
  S.data = data;
  S.curves = decode(data);
  const {releases, low, high} = S.curves, all = b => low ? [...low[b], ...high[b]] : releases[b];
  Object.assign(S, {withBands: limits(S, all), alone: limits(S, b => releases[b]), view: inView(S)});
  Object.assign(S, {from: 0, to: 0, mix: 0, reading: null, pull: null, game: null, spans: new Map()});
  S.q('#e').max = data.epsilons.length - 1;
  for (const node of S.root.querySelectorAll('[data-word]')) node.textContent = data.words[node.dataset.word] || '';
  S.q('#noise').title = data.words.new_noise_help;
  S.q('#stage').setAttribute('aria-label', data.words.stage);
  S.q('#attack').hidden = S.curves.people.length < 2;
  S.q('#figure').classList.toggle('one-budget', data.epsilons.length < 2);
}

// Answers to a question: a curve with its band, and marks, for some releases of every budget. The
// picture then stands still, and the button shows the next of these releases.
function ask(S, sent) {
  if (S.asked?.tag === sent?.tag) return;
  const {points} = S.data, rows = (part, name) => part[name].map((text, b) => split(numbers(text, ...part.scales[b]), points));
  const three = part => part && ['middle', 'low', 'high'].map(name => rows(part, name));
  S.asked = sent ? {...sent, lines: three(sent.curves), others: three(sent.other), speeds: three(sent.speed), people: three(sent.people)} : null;
  Object.assign(S, {from: 0, to: 0, mix: 0});
  if (sent?.speed) {
    const all = b => S.asked.speeds.flatMap(part => part[b]);
    S.asked.limits = limits(S, all, sent.most);
    S.asked.floors = S.asked.limits.map((limit, b) => all(b).every(row => row.every(y => y > -.1 * limit)) ? -.1 * limit : -limit);
  }
}

function move(S, data) {                  // the server moved the figure: first mount, link, Back
  S.rev = data.rev;
  const known = window.__budgetRev === data.rev + location.pathname && window.__budget !== undefined;
  S.picked = {budget: Math.min(known ? window.__budget : data.start, data.epsilons.length - 1), view: data.view};
  S.reported = JSON.stringify(S.picked);
  clearTimeout(S.timer);
  window.__budgetRev = data.rev + location.pathname;
  window.__budget = S.picked.budget;
  dispatchEvent(new CustomEvent('pc:budget', {detail: S.picked.budget}));
}

// The picture that stood before the page did is gone; what was done in it holds here.
function goOn(S, {picked, from, to, mix, paused, pull, game}, focused, wishes) {
  Object.assign(S, {picked, from, to, mix, paused, pull, game});
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
  S.q('#noise').onclick = () => S.askNoise();
  S.q('#attack').onclick = () => openGame(S, !S.game);
  S.q('#leave').onclick = () => openGame(S, false);
  S.q('#restart').onclick = () => { S.game = newGame(S); paint(S); report(S); S.q('#a').focus(); };
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
    if (S.main) show(S);
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
    const isSame = Math.round(stage.clientWidth) === S.width && S.q('#main').clientHeight === S.main?.height;   // none yet: not painted
    if (S.width && !isSame) paint(S);
  });
  size.observe(stage);
  document.fonts.ready.then(() => S.width && paint(S));     // widths of words are measured
  S.stop = () => {
    size.disconnect();
    clearTimeout(S.timer);
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
