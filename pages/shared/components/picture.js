// The live picture. Curves of all budgets arrive once; moving the slider only redraws paths.
// Text from the server goes through textContent only, so that a label can never become markup.

const SVG = 'http://www.w3.org/2000/svg';
const PHONE = 520;                        // narrower than this: short legend, lower plots
const REST = 60;                          // ms without movement before the server is told
const GAP = 24;                           // between two entries of the legend
const TURN = 400;                         // ms for which one release is shown while they play
const STILL = matchMedia('(prefers-reduced-motion: reduce)');
const MARGIN = {right: 14, bottom: 46, row: 20};

export default function ({data: sent, parentElement: root, setStateValue, setTriggerValue}) {
  const data = {...sent.curves, ...sent.now};
  const S = root.__picture ||= {root, host: root.host, q: s => root.querySelector(s)};
  S.send = value => setStateValue('picked', value);
  S.askNoise = () => setTriggerValue('new_noise', true);
  if (!S.stop) wire(S);
  if (S.tag !== data.tag) take(S, data);
  if (S.rev !== data.rev) move(S, data);
  anchors(S, data.anchors || []);
  S.q('#noise').dataset.offered = data.new_noise ? 'yes' : '';
  S.q('#seed').textContent = `Seed ${data.seed}`;
  dress(S);                               // also called when the theme changes
  paint(S);
  return () => { if (!S.host.isConnected && S.stop) { S.stop(); S.stop = null; } };
}

// ---- data ---------------------------------------------------------------------------------------

function take(S, data) {
  S.tag = data.tag;
  S.data = data;
  S.curves = decode(data);
  S.limits = limits(S.curves, data.refused);
  S.draw = 0;
  halt(S);
  const e = S.q('#e');
  e.max = data.epsilons.length - 1;
  label(S);
}

function decode(data) {
  const value = text => numbers(text, ...data.scale);
  const {low, high} = data.time;
  const without = value(data.without);
  const budgets = texts => texts.map((text, i) => onto(without, numbers(text, ...data.scales[i])));
  return {
    times: numbers(data.times, low, high), without,
    truth: data.truth && onto(without, numbers(...data.truth)),
    curves: singles(data, value(data.curve_values)),
    sampling: data.sampling && numbers(...data.sampling),
    low: budgets(data.noise_low), high: budgets(data.noise_high),
    releases: budgets(data.releases).map(all => split(all, data.points)),
    ...(data.band && bands(data, without)),
  };
}

function bands(data, without) {           // where each release says that the true curve may lie
  const half = (data.points + 1) / 2;
  const side = texts => texts.map((text, i) =>
    split(numbers(text, ...data.band.scales[i]), half).map(row => onto(without, finer(row))));
  return {bandLow: side(data.band.low), bandHigh: side(data.band.high),
    quietBand: numbers(...data.band.without)};
}

function finer(every) {                   // a cubic through the four neighbours between each two
  const last = every.length - 1, at = k => every[Math.max(0, Math.min(last, k))];
  return Float64Array.from({length: 2 * last + 1}, (_, k) => k % 2 === 0 ? every[k / 2]
    : k === 1 || k === 2 * last - 1 ? (at((k - 1) / 2) + at((k + 1) / 2)) / 2
      : (9 * (at((k - 1) / 2) + at((k + 1) / 2)) - at((k - 3) / 2) - at((k + 3) / 2)) / 16);
}

function singles(data, values) {          // the faint curves, each with its own times
  const times = numbers(data.curve_times, data.time.low, data.time.high);
  let from = 0;
  return data.counts.map(count => {
    const part = {times: times.subarray(from, from + count), values: values.subarray(from, from + count)};
    from += count;
    return part;
  });
}

function numbers(text, low, high) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const step = (high - low) / 65535;
  return Float64Array.from(new Int16Array(bytes.buffer), q => low + (q + 32768) * step);
}

function onto(without, differences) {     // one row after another
  return differences.map((d, k) => d + without[k % without.length]);
}

function split(all, length) {
  return Array.from({length: all.length / length}, (_, k) => all.subarray(k * length, (k + 1) * length));
}

// Half-heights of the difference panel in each view, one per budget. They never grow with ε and come
// from a ladder, so that the axis changes seldom while the slider moves.
function limits(curves, refused) {
  const far = row => row.reduce((most, y, k) => Math.max(most, Math.abs(y - curves.without[k])), 0);
  const truth = curves.truth ? far(curves.truth) : 0;
  const seen = {
    releases: i => curves.releases[i],
    ranges: i => [curves.low[i], curves.high[i]],
    one: i => curves.bandLow ? [...curves.bandLow[i], ...curves.bandHigh[i]] : curves.releases[i],
  };
  const widest = {releases: 0, ranges: Math.max(0, ...curves.sampling || []),
    one: Math.max(0, ...curves.quietBand || [])};
  const heights = view => {
    const needs = refused.map((no, i) => Math.max(truth, widest[view], ...(no ? [] : seen[view](i).map(far))));
    for (let i = needs.length - 2; i >= 0; i--) needs[i] = Math.max(needs[i], needs[i + 1]);
    return needs.map(need => rung(Math.max(need, 1e-9)));
  };
  return {releases: heights('releases'), ranges: heights('ranges'), one: heights('one')};
}

function rung(need) {
  const power = 10 ** Math.floor(Math.log10(need));
  return [1, 2, 3, 5, 10].find(k => k * power >= need * 0.999) * power;
}

function anchors(S, marks) {              // under the slider: a rule of one's own, and precedents
  S.q('#anchors').replaceChildren(...marks.map(({at, help, word}) => {
    const mark = document.createElement('span');
    mark.style.left = `calc(10px + ${at} * (100% - 20px))`;
    mark.title = help;
    mark.className = at > 0.5 && word ? 'before' : '';
    mark.textContent = !word ? '▲' : at > 0.5 ? `${word} ▲` : `▲ ${word}`;
    return mark;
  }));
}

// ---- state --------------------------------------------------------------------------------------

function move(S, data) {                  // the server moved the picture: first mount, link, Back
  S.rev = data.rev;
  const known = window.__budgetRev === data.rev && window.__budget !== undefined;
  S.picked = {budget: known ? window.__budget : data.start, view: data.view, shown: [...data.shown]};
  S.picked.budget = Math.min(S.picked.budget, data.epsilons.length - 1);
  S.reported = JSON.stringify(S.picked);
  clearTimeout(S.timer);
  S.timer = null;
  window.__budgetRev = data.rev;
  window.__budget = S.picked.budget;
  dispatchEvent(new CustomEvent('pc:budget', {detail: S.picked.budget}));
}

function report(S) {                      // now, and only when something is new
  clearTimeout(S.timer);
  S.timer = null;
  const picked = JSON.stringify(S.picked);
  if (picked === S.reported || !S.host.isConnected) return;
  S.reported = picked;
  S.reportedAt = performance.now();
  S.reportedFrom = location.href;
  S.send({...S.picked, rev: S.rev});
}

function reportLater(S) {
  clearTimeout(S.timer);
  S.timer = setTimeout(() => report(S), REST);
}

function slide(S, budget) {
  S.picked.budget = budget;
  window.__budget = budget;
  show(S);
  dispatchEvent(new CustomEvent('pc:budget', {detail: budget}));
}

function wire(S) {
  const e = S.q('#e');
  e.oninput = () => slide(S, +e.value);
  e.onchange = () => reportLater(S);
  S.q('#help').onclick = () => {
    const hint = S.q('#hint');
    hint.hidden = !hint.hidden;
    S.q('#help').setAttribute('aria-expanded', String(!hint.hidden));
  };
  S.q('#again').onclick = () => drawAgain(S);
  S.q('#play').onclick = () => play(S);
  S.q('#noise').onclick = () => S.askNoise();
  S.q('#svg').onclick = () => S.data.downloads && saveSvg(S);
  S.q('#png').onclick = () => S.data.downloads && savePng(S);
  const others = event => {               // the strip moved the budget
    if (event.detail === S.picked?.budget || !S.data?.epsilons[event.detail]) return;
    S.picked.budget = event.detail;
    if (S.main) show(S);
  };
  const flush = event => {                // "Copy link" wants the address of what is on screen
    report(S);
    event.detail.waiting ||= S.reportedFrom === location.href && performance.now() - S.reportedAt < event.detail.patience;
  };
  const touched = event => {              // whoever touches anything else wants to look at that
    if (S.player && event.key !== 'Tab' && !event.composedPath().includes(S.q('#play'))) rest(S);
  };
  addEventListener('pc:budget', others);
  addEventListener('pc:flush', flush);
  for (const kind of ['pointerdown', 'keydown']) addEventListener(kind, touched, true);
  STILL.addEventListener('change', S.motion = () => { halt(S); paint(S); });
  const size = new ResizeObserver(() => {
    if (S.width && Math.round(S.q('#main').clientWidth) !== S.width) paint(S);
  });
  size.observe(S.q('#main'));
  document.fonts.ready.then(() => S.width && paint(S));     // widths of words are measured
  S.stop = () => {
    size.disconnect();
    clearTimeout(S.timer);
    clearInterval(S.player);
    removeEventListener('pc:budget', others);
    removeEventListener('pc:flush', flush);
    for (const kind of ['pointerdown', 'keydown']) removeEventListener(kind, touched, true);
    STILL.removeEventListener('change', S.motion);
  };
}

// One release after another, as each of them might have been the one: starts stopped, and stops at
// the first touch. Where motion is unwanted, every press of the button shows the next one.

function play(S) {
  if (S.player) return rest(S);
  turn(S);
  if (STILL.matches) {
    S.q('#status').textContent = S.turn === null ? 'All releases' : `Release ${S.turn + 1} of ${S.data.draws}`;
  } else {
    S.player = setInterval(() => turn(S), TURN);
    naming(S);
  }
}

function turn(S) {
  const one = S.picked.view === 'one', next = (S.turn ?? (one ? S.draw : -1)) + 1;
  S.turn = next < S.data.draws ? next : STILL.matches ? null : 0;
  if (one) S.draw = S.turn;
  show(S);
}

function rest(S) {                        // all releases again
  halt(S);
  show(S);
}

function halt(S) {
  clearInterval(S.player);
  S.player = S.turn = null;
  S.q('#status').textContent = '';
  naming(S);
}

function naming(S) {                      // the sign before the words is drawn by the style sheet
  const state = S.player ? 'stop' : STILL.matches ? 'step' : 'play', button = S.q('#play');
  button.dataset.state = state;
  button.textContent = {play: 'Play one by one', stop: 'Stop', step: 'Show one by one'}[state];
}

function standOut(S) {                    // the release whose turn it is, among the others
  const among = S.picked.view === 'releases' && S.turn !== null;
  for (const {moving} of [S.main, S.difference]) {
    moving.classList.toggle('playing', among);
    if (among) [...moving.children].forEach((node, k) => node.classList.toggle('current', k === S.turn));
  }
  return among ? ` Release ${S.turn + 1} of ${S.data.draws} stands out.` : '';
}

function drawAgain(S) {
  S.draw = (S.draw + 1) % S.data.draws;
  show(S);
  S.q('#status').textContent = `Release ${S.draw + 1} of ${S.data.draws}`;
}

// ---- words and colours --------------------------------------------------------------------------

function label(S) {
  const {words, downloads, reason, truth} = S.data;
  S.q('#hint').textContent = S.q('#help').title = words.help;
  S.q('#noise').title = words.new_noise;
  S.q('#seed').title = words.seed;
  S.q('#views').replaceChildren(...Object.entries(words.views).map(([name, [text, tip]]) =>
    choice('segment', 'radio', name, text, tip, () => pick(S, {view: name}))));
  const lines = Object.entries(words.lines).filter(([name]) => (name !== 'truth' || truth)
    && (name !== 'curves' || S.curves.curves.length));
  S.q('#lines').replaceChildren(...lines.map(([name, [text, tip]]) =>
    choice('switch', 'checkbox', name, text, tip, on => pick(S, {shown: toggled(S, name, on)}))));
  for (const button of [S.q('#svg'), S.q('#png')]) {
    button.setAttribute('aria-disabled', String(!downloads));
    button.title = downloads ? '' : reason;
  }
}

function choice(kind, type, name, text, tip, chosen) {
  const box = document.createElement('label'), input = document.createElement('input');
  const words = document.createElement('span');
  box.className = kind;
  box.title = tip;
  Object.assign(input, {type, name: kind, value: name, onchange: () => chosen(input.checked)});
  if (type === 'checkbox') input.setAttribute('role', 'switch');
  words.textContent = text;
  box.append(input, words);
  return box;
}

function toggled(S, name, on) {
  const rest = S.picked.shown.filter(other => other !== name);
  return on ? [...rest, name] : rest;
}

function pick(S, change) {
  Object.assign(S.picked, change);
  halt(S);
  paint(S);
  report(S);
}

function dress(S) {                       // colours of the roles for the theme that is on screen
  const box = S.q('#picture'), probe = document.createElement('i');
  probe.style.cssText = 'display:none;background-color:var(--st-background-color)';
  box.append(probe);
  S.page = getComputedStyle(probe).backgroundColor;
  probe.remove();
  const [r, g, b] = S.page.match(/[\d.]+/g).map(Number);
  const dark = 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
  const colours = S.data.colours[dark ? 'dark' : 'light'];
  for (const [role, colour] of Object.entries(colours)) box.style.setProperty(`--pc-${role}`, colour);
  box.style.setProperty('--pc-rail', dark ? '#39435A' : '#E1E5EC');
  box.style.setProperty('--pc-off', dark ? '#6B7690' : '#868FA1');
}

// ---- drawing ------------------------------------------------------------------------------------

function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function paint(S) {                       // everything: new data, size, theme, view or lines
  S.width = Math.round(S.q('#main').clientWidth);
  if (!S.width) return;
  S.phone = S.width < PHONE;
  S.cache = new Map();
  const {time, value} = S.data, {view, shown} = S.picked;
  const valueTicks = ticks(value.low, value.high, 8);
  const table = S.limits[view];
  S.differences = table.map(limit => ticks(-limit, limit, 7));
  const words = [...valueTicks.map(t => t.text), ...S.differences.flat().map(t => signed(t))];
  const left = 30 + Math.max(...words.map(word => wide(S, word)));
  const keys = legend(S, left);
  const time_ticks = ticks(time.low, time.high, Math.min(10, Math.floor((S.width - left) / 34)));
  S.main = plot(S, '#main', left, Math.max(keys.height, 12), value.low, value.high, time_ticks);
  rows(S.main, valueTicks.map(t => [t.value, t.text]), value.label);
  S.main.svg.append(keys.group);
  S.difference = plot(S, '#difference', left, 12, -table[0], table[0], time_ticks);
  S.difference.limit = null;
  layers(S, S.main, () => 0, true);
  layers(S, S.difference, k => S.curves.without[k], false);
  S.q('#again').hidden = view !== 'one';
  S.q('#play').hidden = view === 'ranges' || (view === 'one' && STILL.matches);
  S.q('#noise').hidden = view === 'one' || !S.q('#noise').dataset.offered;
  for (const input of S.root.querySelectorAll('.segment input')) input.checked = input.value === view;
  for (const input of S.root.querySelectorAll('.switch input')) input.checked = shown.includes(input.value);
  S.host.dataset.view = view;
  show(S);
}

function plot(S, id, left, top, low, high, timeTicks) {
  const node = S.q(id), height = node.clientHeight, {time} = S.data;
  const box = {left, top, right: S.width - MARGIN.right, bottom: height - MARGIN.bottom};
  const P = {svg: node, box, height};
  P.x = t => box.left + (t - time.low) / (time.high - time.low) * (box.right - box.left);
  P.range = (from, to) => {
    P.y = v => box.bottom - (v - from) / (to - from) * (box.bottom - box.top);
  };
  P.range(low, high);
  P.xs = Array.from(S.curves.times, t => P.x(t).toFixed(1));
  P.title = svg('title');
  P.grid = svg('g');
  const clip = `clip-${node.id}`;
  P.body = svg('g', {'clip-path': `url(#${clip})`});
  node.setAttribute('viewBox', `0 0 ${S.width} ${height}`);
  node.replaceChildren(P.title, svg('defs', {}, svg('clipPath', {id: clip}, svg('rect', {x: box.left,
    y: box.top, width: box.right - box.left, height: Math.max(0, box.bottom - box.top)})), hatching(id)),
    P.grid, P.body, columns(P, timeTicks, time.label));
  return P;
}

function hatching(id) {                   // one pattern, used by both plots
  if (id !== '#main') return svg('g');
  return svg('pattern', {id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse',
    patternTransform: 'rotate(45)'}, svg('line', {x1: 3, y1: -1, x2: 3, y2: 7, class: 'hatch'}));
}

function columns(P, marks, title) {       // the time axis
  const {left, right, bottom} = P.box, group = svg('g');
  group.append(svg('line', {x1: left, x2: right, y1: bottom + .5, y2: bottom + .5, class: 'axis'}));
  for (const {value, text} of marks) {
    const x = P.x(value).toFixed(1);
    group.append(svg('line', {x1: x, x2: x, y1: bottom, y2: bottom + 4, class: 'axis'}),
      svg('text', {x, y: bottom + 19, 'text-anchor': 'middle', class: 'tick'}, text));
  }
  group.append(svg('text', {x: (left + right) / 2, y: bottom + 40, 'text-anchor': 'middle', class: 'tick'}, title));
  return group;
}

function rows(P, marks, title) {          // the value axis with its grid
  const {left, right, top, bottom} = P.box, middle = (top + bottom) / 2;
  P.grid.replaceChildren(svg('line', {x1: left - .5, x2: left - .5, y1: top, y2: bottom, class: 'axis'}));
  for (const [value, text] of marks) {
    const y = P.y(value).toFixed(1);
    P.grid.append(svg('line', {x1: left, x2: right, y1: y, y2: y, class: 'grid'}),
      svg('line', {x1: left - 4, x2: left, y1: y, y2: y, class: 'axis'}),
      svg('text', {x: left - 8, y: +y + 4.5, 'text-anchor': 'end', class: 'tick'}, text));
  }
  P.grid.append(svg('text', {transform: `translate(14 ${middle}) rotate(-90)`, 'text-anchor': 'middle', class: 'tick'}, title));
}

// What does not depend on the budget is drawn once; `moving` holds what does.
function layers(S, P, less, withCurves) {
  const {view, shown} = S.picked, {curves, without, truth, sampling, quietBand} = S.curves;
  const around = (half, fill, edge) => range(P, without.map((w, k) => w - half[k]),
    without.map((w, k) => w + half[k]), fill, edge);
  P.less = less;
  P.still = svg('g');
  P.moving = svg('g');
  P.front = svg('g');
  P.body.replaceChildren(P.still, P.moving, P.front);
  P.restill = () => {
    P.still.replaceChildren();
    P.front.replaceChildren();
    if (withCurves && shown.includes('curves')) P.still.append(...curves.map(curve => rawCurve(P, curve)));
    if (view === 'ranges' && sampling) P.still.append(...around(sampling, 'sampling', 'dots'));
    if (view === 'one' && quietBand && shown.includes('without')) {
      P.still.append(...around(quietBand, 'sampling', 'dots'));
    }
    if (truth && shown.includes('truth')) P.front.append(svg('path', {d: path(P, truth), class: 'truth'}));
    if (shown.includes('without')) P.front.append(svg('path', {d: path(P, without), class: 'without'}));
  };
  P.restill();
}

function rawCurve(P, {times, values}) {
  let d = '';
  times.forEach((t, k) => { d += `${k ? 'L' : 'M'}${P.x(t).toFixed(1)} ${P.y(values[k]).toFixed(1)}`; });
  return svg('path', {d, class: 'raw'});
}

function path(P, values, from = 0, to = P.xs.length) {
  const {xs, y, less} = P;
  let d = '';
  for (let k = from; k < to; k++) {
    d += (k > from ? 'L' : 'M') + xs[k] + ' ' + Math.round(y(values[k] - less(k)) * 10) / 10;
  }
  return d;
}

function range(P, low, high, fill, edge) {
  const up = path(P, high), down = path(P, low);
  const back = down.slice(1).split('L').reverse().join('L');
  return [svg('path', {d: `${up}L${back}Z`, class: fill}), svg('path', {d: up, class: edge}),
    svg('path', {d: down, class: edge})];
}

function plausible(P, low, high) {        // a band whose last 3 in 100 at each end are less sure
  const points = P.xs.length, end = Math.round((points - 1) * .03);
  const [area] = range(P, low, high, 'band', 'limit');
  const part = (side, from, to, kind) => svg('path', {d: path(P, side, from, to), class: kind});
  return [area, ...[low, high].flatMap(side => [part(side, end, points - end, 'limit'),
    part(side, 0, end + 1, 'limit-end'), part(side, points - end - 1, points, 'limit-end')])];
}

function moving(S, P, budget) {           // the nodes of one budget, made once per layout
  const key = `${P.svg.id} ${budget} ${S.draw}`;
  if (!S.cache.has(key)) S.cache.set(key, marks(S, P, budget));
  return S.cache.get(key);
}

function marks(S, P, budget) {
  const {view} = S.picked, {releases, low, high} = S.curves;
  if (view === 'ranges') return range(P, low[budget], high[budget], 'noise', 'edge');
  if (view === 'one') {
    const {bandLow, bandHigh} = S.curves;
    const line = svg('path', {d: path(P, releases[budget][S.draw]), class: 'single'});
    return bandLow ? [...plausible(P, bandLow[budget][S.draw], bandHigh[budget][S.draw]), line] : [line];
  }
  return releases[budget].map(release => svg('path', {d: path(P, release), class: 'release'}));
}

function show(S) {                        // one budget: called on every movement of the slider
  const {budget, view} = S.picked, {epsilons, spoken, words, title} = S.data;
  const e = S.q('#e'), epsilon = epsilons[budget];
  if (+e.value !== budget) e.value = budget;
  e.style.setProperty('--filled', `calc(10px + ${budget / (epsilons.length - 1)} * (100% - 20px))`);
  e.setAttribute('aria-valuetext', `epsilon ${epsilon}, ${spoken[budget]}`);
  S.q('#value').textContent = `ε = ${epsilon}`;
  S.host.dataset.budget = budget;
  if (refuse(S, budget)) return;
  const sentence = words.views[view][2] + leaving(S, budget) + covering(S, budget);
  S.q('#sentence').textContent = sentence;
  S.q('#note').textContent = S.data.notes[budget];
  stretch(S, budget);
  for (const P of [S.main, S.difference]) P.moving.replaceChildren(...moving(S, P, budget));
  S.main.title.textContent = `${title}, at ε = ${epsilon}: ${spoken[budget]}. ${sentence}${standOut(S)}`;
  S.difference.title.textContent = `The same, minus the average without protection, at ε = ${epsilon}. `
    + `The axis reaches ${S.data.difference.replace('Difference', 'a difference')} of `
    + S.differences[budget].at(-1).text;
}

// Where nothing would be published, words stand in place of the picture. Returns whether drawing
// must stop: at a refused budget, or because the panels came back and had to be laid out anew.
function refuse(S, budget) {
  const words = S.data.refused[budget], was = S.refused;
  S.refused = Boolean(words);
  S.q('#picture').classList.toggle('refused', S.refused);
  if (words) {
    [S.q('#headline').textContent, S.q('#advice').textContent] = words;
    S.q('#sentence').textContent = S.q('#note').textContent = '';
  } else if (was) {
    paint(S);
  }
  return S.refused || was;
}

function stretch(S, budget) {             // the axis of the difference panel, when it changes
  const P = S.difference, limit = S.limits[S.picked.view][budget];
  if (P.limit === limit) return;
  P.limit = limit;
  P.range(-limit, limit);
  rows(P, S.differences[budget].map(t => [t.value, signed(t)]), S.data.difference);
  P.restill();
}

function covering(S, budget) {
  return S.picked.view === 'one' && S.data.band ? ` ${S.data.band.sentences[budget]}` : '';
}

function leaving(S, budget) {
  if (S.picked.view !== 'releases') return '';
  const {low, high} = S.data.value;
  const out = S.curves.releases[budget].filter(row => row.some(y => y < low || y > high)).length;
  return out ? ` At this ε ${out} of them ${out === 1 ? 'leaves' : 'leave'} the picture.` : '';
}

// ---- numbers and legend -------------------------------------------------------------------------

function ticks(low, high, most) {         // round values on a 1-2-5 ladder
  const power = 10 ** Math.floor(Math.log10((high - low) / most));
  const step = [1, 2, 5, 10].map(k => k * power).find(s => (high - low) / s <= most * 1.0001);
  const digits = Math.max(0, -Math.floor(Math.log10(step * 1.0001)));
  const marks = [];
  for (let k = Math.ceil(low / step - 1e-6); k * step <= high + step * 1e-6; k++) {
    marks.push({value: k * step, text: written(k * step, digits)});
  }
  return marks;
}

function written(value, digits) {         // real minus, thin space between thousands
  const plain = Math.abs(value).toFixed(digits), [whole, rest] = plain.split('.');
  const text = [whole.replace(/\B(?=(\d{3})+$)/g, '\u2009'), rest].filter(Boolean).join('.');
  return (value < 0 && +plain !== 0 ? '−' : '') + text;
}

const signed = tick => (tick.value > 1e-12 ? '+' : '') + tick.text;

function wide(S, text) {
  S.pen ||= document.createElement('canvas').getContext('2d');
  S.pen.font = `13px ${getComputedStyle(S.q('#picture')).fontFamily}`;
  return S.pen.measureText(text).width;
}

function legend(S, left) {                // in reading order: curves, private, ranges, without, truth
  const {view, shown} = S.picked, all = S.data.words.legend, phone = S.phone;
  const names = [shown.includes('curves') && S.curves.curves.length && 'curves',
    ...(view === 'ranges' ? ['noise', S.curves.sampling && 'sampling'] : [view]),
    ...(view === 'one' && S.curves.bandLow ? ['band', shown.includes('without') && 'quiet_band'] : []),
    shown.includes('without') && 'without', S.curves.truth && shown.includes('truth') && 'truth'];
  const group = svg('g', {class: 'legend'}), end = S.width - 2, from = phone ? 4 : left;
  let x = from, line = 0;
  for (const name of names.filter(Boolean)) {
    const text = all[name][phone ? 1 : 0];
    const width = phone ? (end - from) / 2 : 34 + wide(S, text) + GAP;
    if (x > from && x + width - (phone ? 1 : GAP) > end) { x = from; line++; }
    group.append(svg('g', {transform: `translate(${x.toFixed(1)} ${10 + line * MARGIN.row})`},
      ...key(name), svg('text', {x: 34, y: 4.5}, text)));
    x += width;
  }
  return {group, height: (line + 1) * MARGIN.row + 10};
}

function key(name) {
  const line = (kind, y = 0) => svg('path', {d: `M0 ${y}H28`, class: kind});
  const areas = {noise: ['noise', 'edge'], sampling: ['sampling', 'dots'], band: ['band', 'limit'],
    quiet_band: ['sampling', 'dots']};
  if (areas[name]) {
    const [fill, edge] = areas[name];
    return [svg('rect', {y: -5, width: 28, height: 10, class: fill}), line(edge, -5), line(edge, 5)];
  }
  return [line({curves: 'raw-key', releases: 'release', one: 'single'}[name] || name)];
}

// ---- saving -------------------------------------------------------------------------------------

const KEPT = ['fill', 'fill-opacity', 'stroke', 'stroke-opacity', 'stroke-width', 'stroke-dasharray',
  'font-family', 'font-size', 'text-anchor'];

function standalone(S) {                  // the main plot with its colours written in and a caption
  const copy = S.main.svg.cloneNode(true), seen = S.main.svg.querySelectorAll('*');
  copy.querySelectorAll('*').forEach((node, k) => {
    const style = getComputedStyle(seen[k]);
    if (/^(path|line|rect|text)$/.test(node.tagName)) {
      for (const name of KEPT) node.setAttribute(name, style.getPropertyValue(name).replaceAll('"', "'"));
    }
    if (node.classList.contains('sampling')) node.setAttribute('fill', 'url(#hatch)');
    node.removeAttribute('class');
  });
  const text = caption(S), height = S.main.height + 18 * text.length + 14;
  const colour = getComputedStyle(S.q('#picture')).color;
  for (const name of ['id', 'aria-describedby']) copy.removeAttribute(name);
  copy.setAttribute('viewBox', `-8 -8 ${S.width + 16} ${height + 8}`);
  copy.setAttribute('width', S.width + 16);
  copy.setAttribute('height', height + 8);
  copy.prepend(svg('rect', {x: -8, y: -8, width: S.width + 16, height: height + 8, fill: S.page}));
  text.forEach((line, k) => copy.append(svg('text', {x: 4, y: S.main.height + 18 * (k + 1),
    fill: colour, 'font-family': 'sans-serif', 'font-size': '13px'}, line)));
  return {text: new XMLSerializer().serializeToString(copy), width: S.width + 16, height: height + 8};
}

function caption(S) {                     // one sentence, broken into lines that fit
  const {title, epsilons, source} = S.data, lines = [''];
  for (const word of `${title}. ε = ${epsilons[S.picked.budget]}. ${source}.`.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (wide(S, longer) * 1.1 < S.width - 8) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function save(S, url, ending) {
  const link = document.createElement('a');
  link.href = url;
  link.download = `privacy-curves-epsilon-${S.data.epsilons[S.picked.budget]}.${ending}`;
  link.click();
}

function saveSvg(S) {
  const url = URL.createObjectURL(new Blob([standalone(S).text], {type: 'image/svg+xml'}));
  save(S, url, 'svg');
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function savePng(S) {
  const {text, width, height} = standalone(S), image = new Image();
  image.onload = () => {
    const canvas = Object.assign(document.createElement('canvas'), {width: 2 * width, height: 2 * height});
    canvas.getContext('2d').drawImage(image, 0, 0, 2 * width, 2 * height);
    save(S, canvas.toDataURL('image/png'), 'png');
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}
