// Curves: one release after another, values read, and a curve that is pulled.

const TURN = 1000 / 6;                    // ms from one release to the next
const TAP = 5;                            // pixels: a shorter way of the pointer is a tap
const SAMPLE = 18;                        // pixels of a piece of a line beside its name, and of which line
const SAMPLES = {'of-release': 'by-release', '': 'by-mean', 'of-other': 'by-other', 'of-curves': 'by-curves'};
const WIDTH = .12;                        // of a pull, as a share of the time axis (one standard deviation)
const WAIT = 2000;                        // ms until a hand shows that curves can be pulled
const TUG = 1900;                         // ms of its pull
const HAND = 'M6 11V2.5a1.5 1.5 0 0 1 3 0V8l6 1.2c1 .2 1.5 1 1.4 2L15.5 17c-.2 1-1 1.8-2 1.8H8.5c-.7 0-1.3-.3-1.7-.9L2.8 12.4c-.8-1.1.7-2.5 1.8-1.6z';
const GLIDE = 150;                        // ms in which an axis takes another scale
const STILL = matchMedia('(prefers-reduced-motion: reduce)');

const question = S => S.asked && !S.game && !S.data.refused[S.picked.budget] ? S.asked : null;
const speedy = S => Boolean(S.asked?.speeds) && !S.game;  // the lower panel is velocity
const turnOf = (S, rows) => S.from % rows.length;

const compared = S => {                   // two groups: which of the releases on screen, if they can be told apart
  const asked = question(S), k = S.from % (asked?.draws || 1);
  return asked?.others && asked.told[S.picked.budget][k] ? asked.others.map(part => part[S.picked.budget][k]) : null;
};

const newPeople = S => {                  // lower and upper limit of where the next person would lie
  const asked = question(S), {budget} = S.picked, k = S.from % (asked?.draws || 1);
  return asked?.people && asked.told[budget][k] ? asked.people.slice(1).map(part => part[budget][k]) : null;
};

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

const markOf = S => { const asked = question(S); return asked && asked.marks[S.picked.budget][S.from % asked.draws]; };
const moves = S => !S.paused && isCurves(S) && !question(S) && !S.held && !S.pull && !S.game && S.reading === null;

function animate(S) {
  if (S.frame || !moves(S)) return;
  S.since = performance.now() - S.mix * TURN;
  const next = now => {
    S.frame = 0;
    if (!moves(S) || !S.host.isConnected) return;
    S.mix = (now - S.since) / TURN;
    if (S.mix >= 1) Object.assign(S, {from: S.to, to: (S.to + 1) % S.data.draws, mix: 0, since: now});
    drawRelease(S);
    S.frame = requestAnimationFrame(next);
  };
  S.frame = requestAnimationFrame(next);
}

function toggle(S) {                      // where motion is unwanted, each press shows the next release
  if (S.game) return;
  if (STILL.matches || question(S)) {
    S.from = S.to = (S.from + 1) % S.data.draws;
    S.mix = 0;
  } else {
    S.paused = !S.paused;
  }
  show(S);
}

function release(S) {                     // the difference of what is on screen from the mean
  const {budget} = S.picked, rows = S.curves.releases[budget];
  if (S.game) return S.game.release;
  if (question(S)) { const lines = S.asked.lines[0][budget]; return lines[turnOf(S, lines)]; }
  return blend(rows[S.from], rows[S.to], S.mix);
}

function band(S) {                        // of the answer on screen, around the mean
  return question(S) && S.asked.lines.slice(1).map(side => side[S.picked.budget][turnOf(S, side[S.picked.budget])]);
}

function drawRelease(S) {
  const y = release(S), {main, difference: D} = S, [line, edges] = speedy(S) ? velocity(S) : [y, band(S)];
  set(main.release, path(main, onto(S.curves.without, y)));
  const others = compared(S), next = newPeople(S), place = line => path(main, onto(S.curves.without, line));
  set(main.other, others ? place(others[0]) : '');
  set(main.second, others ? ribbon(place(others[1]), place(others[2])) : '');
  set(main.first, others ? ribbon(...band(S).map(place)) : next ? ribbon(...next.map(place)) : '');
  set(D.release, line ? path(D, line) : '');
  const [low, high] = edges ? edges.map(edge => path(D, edge)) : ['', ''];
  set(D.low, low);
  set(D.high, high);
  set(D.band, edges ? ribbon(low, high) : '');
}

function velocity(S) {                    // of the release on screen, and its band
  const {budget} = S.picked, k = S.from % S.asked.draws;
  if (!question(S) || !S.asked.told[budget][k]) return [null, null];
  const [middle, ...edges] = S.asked.speeds.map(part => part[budget][k]);
  return [middle, edges];
}

function drawAnswer(S) {                  // what the release on screen answers, drawn into it
  const mark = markOf(S), {main} = S, {box} = main, group = main.answer;
  group.replaceChildren();
  S.answer = mark ? mark.text : '';
  if (!mark || S.pull) return;
  const x = t => main.x(t).toFixed(1), y = v => main.y(v).toFixed(1);
  if (mark.level !== null) {
    if (mark.filled) {
      const ends = [[main.xs.at(-1), y(mark.level)], [main.xs[0], y(mark.level)]].map(point => point.join(' '));
      const top = onto(S.curves.without, release(S)).map(v => Math.max(v, mark.level));
      group.append(svg('path', {class: 'above', d: `${path(main, top)}L${ends.join('L')}Z`}));
    }
    group.append(svg('line', {x1: box.left, x2: box.right, y1: y(mark.level), y2: y(mark.level), class: 'level'}));
  }
  for (const [from, to, height] of mark.bars) {
    group.append(svg('rect', {x: x(from), y: box.top, width: Math.max(1, x(to) - x(from)), height: box.bottom - box.top, class: 'possible'}),
      svg('line', {x1: x(from), x2: x(to), y1: y(height), y2: y(height), class: 'possible-bar'}));
  }
  if (mark.whisker) {
    const [at, low, high] = mark.whisker;
    group.append(svg('path', {class: 'whisker', d: `M${x(at) - 5} ${y(low)}h10M${x(at) - 5} ${y(high)}h10M${x(at)} ${y(low)}V${y(high)}`}));
  }
  for (const [at, height] of mark.dots) group.append(svg('circle', {cx: x(at), cy: y(height), r: 5.5, class: 'answer-dot'}));
}

function read(S, event) {
  if (event.pointerType === 'touch' && !S.held) return;     // a finger scrolls, taps and pulls
  S.reading = nearest(S, place(S, event).x);
  show(S);
}

function unread(S) {
  if (S.reading === null) return;
  S.reading = null;
  show(S);
}

function nearest(S, x) {
  const {times} = S.curves, t = S.main.time(x);
  return times.reduce((best, one, k) => Math.abs(one - t) < Math.abs(times[best] - t) ? k : best, 0);
}

function drawReading(S) {
  const k = S.reading, {main, difference: D} = S, {words, time, value} = S.data;
  main.over.replaceChildren();
  D.over.replaceChildren();
  S.readout = '';
  if (k === null || S.pull) return;
  const groups = compared(S), x = main.xs[k], edges = band(S), off = release(S)[k], mean = S.curves.without[k];
  const [low, high] = edges ? edges.map(edge => edge[k]) : [0, 3].map(end => S.curves.fog[S.picked.budget][end][k]);
  for (const P of [main, D]) P.over.append(svg('line', {x1: x, x2: x, y1: P.box.top, y2: P.box.bottom, class: 'rule'}));
  const next = newPeople(S);
  const lines = [
    `${time.name} ${rounded(S.curves.times[k], time.high - time.low)}${unit(time)}`,
    `${words.mean}: ${amount(S, mean)}${unit(value)}`,
    `${groups ? S.asked.names[0] : words.release}: ${amount(S, mean + off)}${unit(value)}`,
    groups ? `${S.asked.names[1]}: ${amount(S, mean + groups[0][k])}${unit(value)}` : `${words.difference}: ${plusMinus(S, off)} (${edges ? words.band : words.fog}: ${plusMinus(S, low)} … ${plusMinus(S, high)})`,
    ...(next ? [`${S.asked.person}: ${next.map(edge => amount(S, mean + edge[k])).join(' – ')}${unit(value)}`] : []),
  ];
  S.readout = lines.join(', ');
  const width = 18 + Math.max(...lines.map(line => wide(S, line))), left = +x + 12 + width < S.width ? +x + 12 : +x - 12 - width;
  main.over.append(svg('rect', {x: left, y: main.box.top + 4, width, height: 18 * lines.length + 10, rx: 5, class: 'plate'}),
    ...lines.map((line, i) => svg('text', {x: left + 9, y: main.box.top + 21 + 18 * i}, line)));
}

// Where releases lie: twenty of them, and the middle half and 95 % of a hundred.
function drawFog(S) {
  const {difference: D} = S, {budget} = S.picked, isHidden = question(S) || S.game;
  const rows = isHidden ? [] : S.curves.releases[budget], [low, from, to, high] = isHidden ? [] : S.curves.fog[budget].map(row => path(D, row));
  set(D.fog95, isHidden ? '' : ribbon(low, high));
  set(D.fog50, isHidden ? '' : ribbon(from, to));
  set(D.releases, rows.map(row => path(D, row)).join(''));
  S.fogName.textContent = isHidden || isRefused(S) ? '' : S.data.words.fog;
  const there = D.y(S.curves.fog[budget][3].at(-1)), {top, bottom} = D.box;
  S.fogName.setAttribute('y', Math.min(Math.max(there + 5, top + 14), bottom - 24));
}

function place(S, event) {
  const stage = S.q('#stage'), edge = stage.getBoundingClientRect(), scale = edge.width / stage.offsetWidth;   // a slide is enlarged
  return {x: (event.clientX - edge.left) / scale, y: (event.clientY - edge.top) / scale};
}

function grip(S, event) {
  if (event.button || S.game) return;
  const at = place(S, event), person = event.composedPath()[0]?.dataset?.person;
  S.held = {...at, person: person === undefined ? null : +person, far: 0, wasPulled: Boolean(S.pull?.by)};
  S.q('#stage').setPointerCapture(event.pointerId);         // it may be let go anywhere
  if (S.held.person !== null) startPull(S, S.held.person, S.main.time(at.x));
}

function drag(S, event) {
  const at = place(S, event);
  S.held.far = Math.max(S.held.far, Math.hypot(at.x - S.held.x, at.y - S.held.y));
  if (S.held.person === null || S.held.far < TAP) return;
  S.pull.by = S.main.value(at.y) - S.main.value(S.held.y);
  show(S);
}

function drop(S, event) {
  const held = S.held;
  S.held = null;
  if (!held) return;
  if (held.far < TAP && event.type === 'pointerup') {       // a tap: put back what was pulled, or pause
    S.pull = null;
    if (!held.wasPulled) return toggle(S);
  }
  show(S);
}

function startPull(S, person, time) {
  S.pull = {person, time, by: 0};
  show(S);
}

// Values stay within the public bounds, as they would be clipped: no curve can be pulled further.
function pulledCurve(S) {
  const {person, time, by} = S.pull, {value, time: axis} = S.data, {times, values} = S.curves.people[person];
  const spread = WIDTH * (axis.high - axis.low);
  const moved = values.map((y, k) => {
    const to = y + by * Math.exp(-.5 * ((times[k] - time) / spread) ** 2);
    return by ? Math.min(Math.max(to, Math.min(value.low, y)), Math.max(value.high, y)) : y;
  });
  return {times, values: moved};
}

function shiftOfMean(S) {                 // what the pulled curve does to the mean: (points,)
  const {times, values} = S.curves.people[S.pull.person], moved = pulledCurve(S);
  const change = values.map((y, k) => (moved.values[k] - y) / S.data.n);
  return smooth(S, Array.from(S.curves.times, t => between(times, change, t)));
}

// A mean with few basis functions moves within their span, which is that of its noise. Where the
// noise of as many releases still leaves directions open, nothing is left out.
function smooth(S, row) {
  const basis = span(S);
  if (!basis) return row;
  const result = new Float64Array(row.length);
  for (const e of basis) {
    const part = dot(e, row);
    e.forEach((y, k) => { result[k] += part * y; });
  }
  return result;
}

function span(S) {                        // orthonormal rows, or null where releases do not show it
  const {budget} = S.picked;
  if (!S.spans.has(budget)) {
    const rows = S.curves.releases[budget], basis = [];
    for (const row of rows) {
      const rest = Float64Array.from(row), size = Math.sqrt(dot(row, row));
      for (let pass = 0; pass < 2; pass++) {
        for (const e of basis) { const part = dot(e, rest); e.forEach((y, k) => { rest[k] -= part * y; }); }
      }
      const left = Math.sqrt(dot(rest, rest));
      if (left > 2e-3 * size) basis.push(rest.map(y => y / left));
    }
    S.spans.set(budget, basis.length && basis.length < rows.length ? basis : null);
  }
  return S.spans.get(budget);
}

function drawPull(S) {
  const {main, difference: D} = S, {words} = S.data;
  for (const P of [main, D]) P.pulled.replaceChildren();
  Object.assign(S, {told: '', isShown: false, moved: null});
  if (!S.pull || S.game) return;
  const curve = pulledCurve(S), k = nearest(S, main.x(S.pull.time)), shift = shiftOfMean(S), isGhost = S.ghost !== null;
  const top = between(curve.times, curve.values, S.pull.time), isOut = top > S.view.high || top < S.view.low;
  const said = isOut ? words.pulled_out : words.pulled_one, isRight = +main.xs[k] - main.box.left > 24 + 1.06 * wide(S, said);
  const height = Math.min(Math.max(main.y(top), main.box.top), main.box.bottom);
  main.pulled.append(svg('path', {d: rawPath(main, curve), class: 'pulled'}),
    svg('path', {d: path(main, onto(S.curves.without, shift)), class: 'moved'}),
    isGhost ? svg('path', {d: HAND, class: 'hand', transform: `translate(${+main.xs[k] - 8} ${height - 2})`})
      : svg('text', {x: +main.xs[k] + (isRight ? -8 : 8), y: Math.min(Math.max(height - 12, main.box.top + 16), main.box.bottom - 8),
        'text-anchor': isRight ? 'end' : 'start', class: 'label of-moved'}, said));
  if (!S.pull.by) return;
  const at = shift.reduce((most, y, j) => Math.abs(y) > Math.abs(shift[most]) ? j : most, 0), by = amount(S, furthest(shift));
  if (!speedy(S)) {
    const zero = D.y(0).toFixed(1), name = fill(words.shift, {by}), half = .53 * wide(S, name), isUp = shift[at] > 0;
    D.pulled.append(svg('path', {class: 'sliver', d: `${path(D, shift)}L${D.xs.at(-1)} ${zero}L${D.xs[0]} ${zero}Z`}),
      svg('text', {x: Math.min(Math.max(+D.xs[at], D.box.left + half + 4), D.box.right - half - 4), class: 'label of-moved',
        y: Math.min(Math.max(D.y(shift[at]) + (isUp ? -9 : 20), D.box.top + 14), D.box.bottom - 6), 'text-anchor': 'middle'}, name));
  }
  const noise = median(halfWidths(S.curves.fog[S.picked.budget]));
  const seen = visibility(furthest(shift) / noise);
  if (isGhost) return;
  S.moved = {seen, by, noise: amount(S, noise), pulled: amount(S, furthest(curve.values.map((y, j) => y - S.curves.people[S.pull.person].values[j])))};
  Object.assign(S, {told: fill(words.pulled[seen], S.moved), isShown: seen === 'beyond'});
}

// Whether one curve stays inside the noise, begins to show or is not hidden: the largest shift of the
// mean beside the median half-width of the fog.
const visibility = ratio => ratio < .5 ? 'inside' : ratio <= 1 ? 'shows' : 'beyond';

function mostVisible(S) {                 // of the curves that can be pulled here, each as far as it goes
  const {budget} = S.picked;
  if (!S.curves.people.length) return {seen: 'inside', by: 0, noise: 0};
  if (!S.visible.has(budget)) {
    const {time, value} = S.data, {pull} = S, shifts = [];
    for (const share of [.1, .3, .5, .7, .9]) {
      const at = time.low + share * (time.high - time.low);
      for (const way of [1, -1]) {
        S.pull = {person: highest(S, at, -way), time: at, by: way * (value.high - value.low)};
        shifts.push(furthest(shiftOfMean(S)));
      }
    }
    S.pull = pull;
    const by = Math.max(...shifts), noise = median(halfWidths(S.curves.fog[budget]));
    S.visible.set(budget, {seen: visibility(by / noise), by, noise});
  }
  return S.visible.get(budget);
}

// Once, to who has not touched anything: a hand that pulls a curve and lets it go.
function haunt(S) {
  if (STILL.matches || window.__haunted || !S.curves.people.length || S.game || S.pull || question(S) || S.picked.view !== 'look' || !S.main) return;
  window.__haunted = true;
  const {time, value} = S.data, at = time.low + .5 * (time.high - time.low), begun = performance.now();
  S.ghost = 0;
  S.pull = {person: highest(S, at), time: at, by: 0};
  const step = now => {
    if (S.ghost === null || !S.host.isConnected) return;
    const share = Math.min((now - begun) / TUG, 1);
    S.pull.by = .3 * (value.high - value.low) * Math.sin(Math.PI * share) ** 2;
    if (share < 1) S.ghost = requestAnimationFrame(step);
    else unhaunt(S);
    show(S);
  };
  S.ghost = requestAnimationFrame(step);
}

function unhaunt(S) {
  window.__haunted = true;
  if (S.ghost === null) return;
  cancelAnimationFrame(S.ghost);
  Object.assign(S, {ghost: null, pull: null});
}

function highest(S, time, way = 1) {      // whose curve is on top there, or with -1 lowest
  const at = S.curves.people.map(({times, values}) => way * between(times, values, time));
  return at.indexOf(Math.max(...at));
}

function paintCurves(S) {                 // new data, size, theme or game
  const {time, value, words} = S.data, phone = S.width < PHONE, {low, high} = S.view;
  const valueTicks = ticks(low, high, 7);
  S.limits = speedy(S) ? S.asked.limits : S.fogLimits;
  S.floors = speedy(S) ? S.asked.floors : S.limits.map(limit => -limit);
  S.differences = S.limits.map((limit, b) => ticks(S.floors[b], limit, 7));
  const isAlone = S.data.alone;           // a curve without a band: nothing would be below it
  const texts = [...valueTicks.map(t => t.text), ...(isAlone ? [] : S.differences.flat().map(signed))];
  const titled = Math.max(...[['#main', value.label], ['#difference', speedy(S) ? S.asked.panel : S.data.difference]]
    .map(([id, title]) => inHeight(S, title, S.q(id).clientHeight).length));
  const left = 14 + LINE * titled + Math.max(...texts.map(text => wide(S, text)));
  const names = !S.game && S.asked?.names, labels = [words.release === words.mean ? '' : words.mean, names ? names[0] : words.release, names ? names[1] : words.curves];
  const others = [names ? names[0] : words.unpublished, names ? names[1] : words.moved];   // of a release that is none, of a pull
  const wider = (one, other) => wide(S, one) < wide(S, other) ? other : one;
  const right = phone ? 10 : 16 + Math.max(...[...labels, ...others, words.fog].map(text => wide(S, text) * 1.06));
  const timeTicks = ticks(time.low, time.high, Math.min(10, Math.floor((S.width - left - right) / 40)),
    time.low === 0 && time.high === 24 ? 6 : 0);   // a day has quarters
  const above = phone ? inLines(S, [wider(labels[1], others[0]), labels[0], wider(labels[2], others[1])], left, SAMPLE + 6) : [];
  S.main = plot(S, '#main', {left, right, top: phone ? above.at(-1).y + 14 : 10, bottom: isAlone ? 44 : 8}, timeTicks, isAlone ? time.label : '');
  S.difference = plot(S, '#difference', {left, right, top: 10, bottom: 44}, timeTicks, time.label);
  S.main.range(low, high);
  S.main.value = y => low + (S.main.box.bottom - y) / (S.main.box.bottom - S.main.box.top) * (high - low);
  rows(S.main, valueTicks.map(t => [t.value, t.text]), value.label);
  markBounds(S);
  markVisits(S);
  S.limit = S.goal = null;
  for (const P of [S.main, S.difference]) {
    for (const name of ['still', 'fog95', 'fog50', 'releases', 'band', 'low', 'high', 'first', 'second', 'without', 'other', 'release', 'game', 'answer', 'pulled']) {
      const kinds = {fog95: 'fog', fog50: 'fog', releases: 'possible-release', band: 'band', low: 'band-edge', high: 'band-edge', first: 'band', second: 'other-band',
        without: 'without', other: 'other', release: 'release'};
      P[name] = kinds[name] ? svg('path', {class: kinds[name]}) : svg('g', ['still', 'answer'].includes(name) ? {class: name} : {});
    }
    P.body.replaceChildren(P.still, P.fog95, P.fog50, P.releases, P.band, P.low, P.high, P.first, P.second, P.game, P.without, P.other, P.release, P.answer, P.pulled);   // what is pulled is on top
    P.over = svg('g');
    P.svg.append(P.over);
  }
  S.main.still.append(...S.curves.people.map(curve => svg('path', {d: rawPath(S.main, curve), class: 'raw'})),
    ...S.curves.people.map((curve, k) => svg('path', {d: rawPath(S.main, curve), class: 'grip', 'data-person': k})));
  if (S.curves.truth && S.data.with_truth) S.main.still.append(svg('path', {d: path(S.main, S.curves.truth), class: 'truth'}));
  set(S.main.without, path(S.main, S.curves.without));
  S.fogName = svg('text', phone ? {x: S.difference.box.left + 6, class: 'label of-release'} : {x: S.difference.box.right + 8, class: 'label of-release'});
  S.difference.svg.append(S.fogName);
  S.ends = labelEnds(S, labels, above, names ? 'of-other' : 'of-curves');
  S.ends.texts = [[labels[1], others[0]], [labels[2], others[1]]];
}

function markBounds(S) {                  // the public bounds that are in view, named where no curve is near
  const {data: {value, words}, view, main: {grid, box, y}, curves: {without}} = S;
  for (const bound of [value.low, value.high]) {
    if (bound < view.low || bound > view.high) continue;
    const at = y(bound), isTop = bound === value.high, nearest = Math.abs(without[0] - bound) < Math.abs(without.at(-1) - bound) ? 'end' : 'start';
    grid.append(svg('line', {x1: box.left, x2: box.right, y1: at, y2: at, class: 'public-bound'}),
      svg('text', {x: nearest === 'end' ? box.right - 8 : box.left + 8, y: isTop ? at + 15 : at - 6, 'text-anchor': nearest, class: 'tick'}, words.public_bound));
  }
}

function markVisits(S) {                  // the few times at which everybody was observed: between them bands are wide
  const {data: {visits, words}, main, difference} = S;
  if (!visits.length) return;
  for (const {body, box, x} of [main, difference])
    body.before(...visits.map(time => svg('line', {x1: x(time), x2: x(time), y1: box.top, y2: box.bottom, class: 'visit'})));
  main.grid.append(svg('text', {x: main.box.right - 8, y: main.box.bottom - 6, 'text-anchor': 'end', class: 'tick'}, words.visits));
}

function labelEnds(S, [mean, release, last], above, kind) {  // at the ends of lines, on a phone above them; those that change
  const {box} = S.main, {without} = S.curves, names = [[release, 'of-release'], [mean, ''], [last, kind]];
  const drawn = place => {
    const nodes = names.map(([text, kind], k) => svg('text', {...place(k), class: `label ${kind}`}, text));
    S.main.svg.append(...nodes);
    return [nodes[0], nodes[2]];
  };
  if (above.length) {                     // away from their lines: each with a piece of its own
    S.samples = above.map(({x, y}, k) => svg('line', {x1: x, x2: x + SAMPLE, y1: y - 4.5, y2: y - 4.5, class: `sample ${SAMPLES[names[k][1]]}`,
      ...(names[k][0] ? {} : {hidden: ''})}));
    S.main.svg.append(...S.samples);
    return drawn(k => ({x: above[k].x + SAMPLE + 6, y: above[k].y}));
  }
  const end = Math.min(Math.max(S.main.y(without.at(-1)), box.top + 26), box.bottom - 26);
  return drawn(k => ({x: box.right + 8, y: end + 20 * (k - 1) + 5}));
}

function nameEnds(S) {                    // what is no release, and where a curve is pulled the mean that moves
  const isPulled = Boolean(S.pull) && !S.game, [release, last] = S.ends;
  [[release, Boolean(S.data.refused[S.picked.budget])], [last, isPulled]].forEach(([node, isOther], k) => {
    const text = S.ends.texts[k][Number(isOther)];
    if (node.textContent !== text) node.textContent = text;
  });
  const isMoved = isPulled && !last.classList.contains('of-other');
  last.classList.toggle('of-moved', isMoved);
  S.samples?.[2].classList.toggle('by-moved', isMoved);
}

function showCurves(S) {                  // one budget; returns what is said under the figure
  const {budget} = S.picked, {epsilons, words, title, errors} = S.data, refused = S.data.refused[budget], spoken = errors[budget][2];
  stretch(S, budget);
  drawRelease(S);
  drawFog(S);
  drawGame(S);
  drawPull(S);
  drawAnswer(S);
  drawReading(S);
  nameEnds(S);
  if (refused) shout(S, words.drowned);
  const isAtRest = !S.told && !refused && !S.answer && !S.data.notes[budget], kind = isAtRest ? mostVisible(S) : {};
  const sentence = S.told || (refused ? refused.join(' ') : S.answer || S.data.notes[budget] || fill(words.invitation[kind.seen], {by: amount(S, kind.by), noise: amount(S, kind.noise)}));
  S.q('#spoken').textContent = S.root.activeElement === S.q('#stage') ? S.readout : '';
  S.main.title.textContent = `${title}, ε = ${epsilons[budget]}: ${spoken}. ${S.answer} ${S.readout}`;
  S.difference.title.textContent = speedy(S) ? S.asked.title : fill(refused && words.panel_unpublished || words.panel, {limit: S.levels.at(-1).text});
  naming(S);
  animate(S);
  return {text: sentence, isWeak: kind.seen === 'beyond' || S.isShown};
}

function shout(S, words) {                // over the curves, in as many lines as it takes
  const {box} = S.main, size = Math.min(17, Math.max(14, S.width / 32));
  lines(S, words, (box.right - box.left - 16) * 13 / size).forEach((line, k) => S.main.over.append(svg('text', {
    x: (box.left + box.right) / 2, y: box.top + 30 + 24 * k, 'text-anchor': 'middle', class: 'shout', style: `font-size: ${size}px`}, line)));
}

function naming(S) {
  const button = S.q('#play'), {words} = S.data;
  button.hidden = Boolean(S.game) || S.data.draws < 2;
  S.q('#noise').hidden = !S.data.new_noise || !S.paused;
  button.textContent = STILL.matches || question(S) ? words.next : S.paused ? words.play : words.pause;
}

function stretch(S, budget) {             // the axis of the difference panel glides to what this budget needs
  const limit = S.limits[budget], floor = S.floors[budget], from = S.limit, to = {limit, floor};
  if (S.goal?.limit === limit && S.goal.floor === floor) return;
  S.goal = to;
  S.levels = S.differences[budget];
  if (from === null || STILL.matches) return scaled(S, limit, floor);
  const before = [from, S.floor], begun = performance.now();
  const step = now => {
    if (S.goal !== to || !S.host.isConnected) return;
    const share = Math.min((now - begun) / GLIDE, 1), there = [limit, floor].map((end, k) => before[k] + share * (end - before[k]));
    scaled(S, ...there);
    for (const draw of [drawRelease, drawFog, drawGame, drawPull]) draw(S);
    if (share < 1) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

function scaled(S, limit, floor) {
  const D = S.difference;
  Object.assign(S, {limit, floor});
  D.range(floor, limit);
  rows(D, S.levels.filter(t => t.value <= limit * 1.001 && t.value >= floor * 1.001).map(t => [t.value, speedy(S) && !S.asked.signed ? t.text : signed(t)]), speedy(S) ? S.asked.panel : S.data.difference);
  set(D.without, `M${D.box.left} ${D.y(0).toFixed(1)}H${D.box.right}`);
}
