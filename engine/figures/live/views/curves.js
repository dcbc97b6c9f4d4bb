// Curves: one release after another, values read, and a curve that is pulled.

const REST = 60;                          // ms without movement before the server is told
const TURN = 1000 / 6;                    // ms from one release to the next
const TAP = 5;                            // pixels: a shorter way of the pointer is a tap
const AROUND = .15;                       // of the height of the curves, left free above and below them
const SAMPLE = 18;                        // pixels of a piece of a line beside its name, and of which line
const SAMPLES = {'of-release': 'by-release', '': 'by-mean', 'of-other': 'by-other', 'of-curves': 'by-curves'};
const WIDTH = .12;                        // of a pull, as a share of the time axis (one standard deviation)
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

const markOf = S => { const asked = question(S); return asked && asked.marks[S.picked.budget][S.from % asked.draws]; };
const moves = S => !S.paused && !question(S) && !S.held && !S.pull && !S.game && S.reading === null;

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

function band(S) {                        // of the release on screen, around the mean
  const {budget} = S.picked, {low, high} = S.curves;
  if (question(S)) return S.asked.lines.slice(1).map(side => side[budget][turnOf(S, side[budget])]);
  if (!low || S.game) return null;
  return [low, high].map(side => blend(side[budget][S.from], side[budget][S.to], S.mix));
}

function drawRelease(S) {
  const y = release(S), {main, difference: D} = S, [line, edges] = speedy(S) ? velocity(S) : [y, isClose(S) ? null : band(S)];
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
  for (const P of [main, D]) P.over.append(svg('line', {x1: x, x2: x, y1: P.box.top, y2: P.box.bottom, class: 'rule'}));
  const next = newPeople(S);
  const lines = [
    `${time.name} ${rounded(S.curves.times[k], time.high - time.low)}${unit(time)}`,
    `${words.mean}: ${amount(S, mean)}${unit(value)}`,
    `${groups ? S.asked.names[0] : words.release}: ${amount(S, mean + off)}${unit(value)}`,
    groups ? `${S.asked.names[1]}: ${amount(S, mean + groups[0][k])}${unit(value)}` : `${words.difference}: ${plusMinus(S, off)}${edges ? ` (${words.band}: ${plusMinus(S, edges[0][k])} … ${plusMinus(S, edges[1][k])})` : ''}`,
    ...(next ? [`${S.asked.person}: ${next.map(edge => amount(S, mean + edge[k])).join(' – ')}${unit(value)}`] : []),
  ];
  S.readout = lines.join(', ');
  const width = 18 + Math.max(...lines.map(line => wide(S, line))), left = +x + 12 + width < S.width ? +x + 12 : +x - 12 - width;
  main.over.append(svg('rect', {x: left, y: main.box.top + 4, width, height: 18 * lines.length + 10, rx: 5, class: 'plate'}),
    ...lines.map((line, i) => svg('text', {x: left + 9, y: main.box.top + 21 + 18 * i}, line)));
}

function nameBand(S) {                    // what the band contains, which is more than the error beside it
  const {box, over} = S.difference, {words} = S.data;
  const isHidden = speedy(S) || question(S) || S.data.refused[S.picked.budget] || isClose(S);
  if (isHidden || !words.banded.length || !band(S)) return;
  const all = words.banded.join(', '), told = 1.06 * wide(S, all) < box.right - box.left - 12 ? all : words.banded[0];
  over.prepend(svg('text', {x: box.left + 6, y: box.bottom - 6, class: 'bracket-text noise'}, told));
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

// While a curve is pulled the lower panel comes close: its axis has room for the noise there and for the
// most that one curve can move the mean, which could not be compared beside the much wider band.
const isClose = S => Boolean(S.pull?.by) && !S.game && !speedy(S);

function closeLimit(S, noise) {
  const {value: {low, high}, n} = S.data;
  return rung(1.3 * Math.max(noise, (high - low) / n));
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
  const {main, difference: D} = S;
  for (const P of [main, D]) P.pulled.replaceChildren();
  S.told = '';
  if (!S.pull || S.game) return;
  const curve = pulledCurve(S), k = nearest(S, main.x(S.pull.time)), shift = shiftOfMean(S);
  const noise = S.curves.noise[S.picked.budget][k], person = S.curves.people[S.pull.person];
  const top = between(curve.times, curve.values, S.pull.time), isOut = top > S.view.high || top < S.view.low;
  const said = isOut ? S.data.words.pulled_out : S.data.words.pulled_one, isRight = +main.xs[k] - main.box.left > 24 + 1.06 * wide(S, said);
  main.pulled.append(svg('path', {d: rawPath(main, curve), class: 'pulled'}),
    svg('path', {d: path(main, onto(S.curves.without, shift)), class: 'moved'}),
    svg('text', {x: +main.xs[k] + (isRight ? -8 : 8), y: Math.min(Math.max(main.y(top) - 12, main.box.top + 16), main.box.bottom - 8),
      'text-anchor': isRight ? 'end' : 'start', class: 'label of-moved'}, said));
  const x = +main.xs[k], y = v => Math.min(Math.max(D.y(v), D.box.top), D.box.bottom);
  const bracket = (at, low, high, kind) => svg('path', {class: `bracket ${kind}`,
    d: `M${at - 4} ${y(low)}h8M${at - 4} ${y(high)}h8M${at} ${y(low)}V${y(high)}`});
  if (!speedy(S)) D.pulled.append(svg('path', {d: path(D, shift), class: 'moved'}), bracket(x, 0, shift[k], ''),
    bracket(x + 16, -noise, noise, 'noise'));
  const {words} = S.data, moved = Math.abs(shift[k]);
  const texts = [fill(words.shift, {by: amount(S, moved)}), fill(words.noise, {by: amount(S, noise)})];
  const width = Math.max(...texts.map(text => wide(S, text) * 1.06));
  const from = x + 26 + width < D.box.right ? x + 26 : Math.max(D.box.left + 4, x - 12 - width);
  if (!speedy(S)) D.pulled.append(...texts.map((text, i) => svg('text', {
    x: from, y: D.box.top + 16 + 18 * i, class: i ? 'bracket-text noise' : 'bracket-text'}, text)));
  const by = between(person.times, curve.values.map((v, j) => v - person.values[j]), S.pull.time);
  S.told = fill(words.pulled, {by: amount(S, Math.abs(by)), shift: amount(S, moved), noise: amount(S, noise)});
}

function highest(S, time) {               // whose curve is on top there
  const at = S.curves.people.map(({times, values}) => between(times, values, time));
  return at.indexOf(Math.max(...at));
}

function paint(S) {                       // everything: new data, size, theme or game
  S.width = Math.round(S.q('#stage').clientWidth);
  if (!S.width) return;
  Object.assign(S, {widths: new Map(), font: '', samples: null});
  const {time, value, words} = S.data, phone = S.width < PHONE, {low, high} = S.view;
  const valueTicks = ticks(low, high, 7);
  S.limits = S.game ? S.alone : speedy(S) ? S.asked.limits : S.withBands;  // the game draws no bands
  S.floors = speedy(S) ? S.asked.floors : S.limits.map(limit => -limit);
  S.differences = S.limits.map((limit, b) => ticks(S.floors[b], limit, 5));
  const close = S.curves.noise.flatMap((row, b) => { const limit = closeLimit(S, Math.min(...row)); return ticks(-limit, limit, 5); });
  const texts = [...valueTicks.map(t => t.text), ...[...S.differences.flat(), ...close].map(signed)];
  const left = 30 + Math.max(...texts.map(text => wide(S, text)));
  const names = !S.game && S.asked?.names, labels = [words.mean, names ? names[0] : words.release, names ? names[1] : words.curves];
  const others = [names ? names[0] : words.unpublished, names ? names[1] : words.moved];   // of a release that is none, of a pull
  const wider = (one, other) => wide(S, one) < wide(S, other) ? other : one;
  const right = phone ? 10 : 16 + Math.max(...[...labels, ...others].map(text => wide(S, text) * 1.06));
  const timeTicks = ticks(time.low, time.high, Math.min(10, Math.floor((S.width - left - right) / 40)),
    time.low === 0 && time.high === 24 ? 6 : 0);   // a day has quarters
  const above = phone ? inLines(S, [wider(labels[1], others[0]), labels[0], wider(labels[2], others[1])], left, SAMPLE + 6) : [];
  S.main = plot(S, '#main', {left, right, top: phone ? above.at(-1).y + 14 : 10, bottom: 8}, timeTicks, '');
  S.difference = plot(S, '#difference', {left, right, top: 10, bottom: 44}, timeTicks, time.label);
  S.main.range(low, high);
  S.main.value = y => low + (S.main.box.bottom - y) / (S.main.box.bottom - S.main.box.top) * (high - low);
  rows(S.main, valueTicks.map(t => [t.value, t.text]), value.label);
  markBounds(S);
  markVisits(S);
  nameTicks(S);
  S.limit = null;
  for (const P of [S.main, S.difference]) {
    for (const name of ['still', 'band', 'low', 'high', 'first', 'second', 'without', 'other', 'release', 'game', 'answer', 'pulled']) {
      const kinds = {band: 'band', low: 'band-edge', high: 'band-edge', first: 'band', second: 'other-band',
        without: 'without', other: 'other', release: 'release'};
      P[name] = kinds[name] ? svg('path', {class: kinds[name]}) : svg('g', ['still', 'answer'].includes(name) ? {class: name} : {});
    }
    P.body.replaceChildren(P.still, P.band, P.low, P.high, P.first, P.second, P.game, P.without, P.other, P.release, P.answer, P.pulled);
    P.over = svg('g');
    P.svg.append(P.over);
  }
  S.main.still.append(...S.curves.people.map(curve => svg('path', {d: rawPath(S.main, curve), class: 'raw'})),
    ...S.curves.people.map((curve, k) => svg('path', {d: rawPath(S.main, curve), class: 'grip', 'data-person': k})));
  if (S.curves.truth && S.data.with_truth) S.main.still.append(svg('path', {d: path(S.main, S.curves.truth), class: 'truth'}));
  set(S.main.without, path(S.main, S.curves.without));
  S.ends = labelEnds(S, labels, above, names ? 'of-other' : 'of-curves');
  S.ends.texts = [[labels[1], others[0]], [labels[2], others[1]]];
  show(S);
}

function markBounds(S) {                  // the public bounds, where they are in view
  const {data: {value, words}, view, main: {grid, box, y}, curves: {without}} = S;
  for (const bound of [value.low, value.high]) {
    if (bound < view.low || bound > view.high) continue;
    const at = y(bound), isTop = bound === value.high, isLeft = Math.abs(without[0] - bound) > Math.abs(without.at(-1) - bound);
    grid.append(svg('line', {x1: box.left, x2: box.right, y1: at, y2: at, class: 'public-bound'}),
      svg('text', {x: isLeft ? box.left + 8 : box.right - 8, y: isTop ? at + 15 : at - 6, 'text-anchor': isLeft ? 'start' : 'end',
        class: 'tick'}, words.public_bound));
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

function show(S) {                        // one budget: called on every movement
  const {budget} = S.picked, {epsilons, words, title, attacker, errors, weak} = S.data, e = S.q('#e');
  const refused = S.data.refused[budget], [error, within, spoken] = errors[budget];
  if (+e.value !== budget) e.value = budget;
  e.style.setProperty('--filled', `calc(11px + ${budget / Math.max(1, epsilons.length - 1)} * (100% - 22px))`);
  e.setAttribute('aria-valuetext', `ε ${epsilons[budget]}, ${fill(words.spoken, {attacker: attacker[budget], error: spoken})}`);
  S.q('#value').textContent = `ε = ${epsilons[budget]}`;
  S.q('#attacker').textContent = `${weak[budget] ? '⚠ ' : ''}${attacker[budget]}`;
  S.q('#attacker').className = weak[budget] ? 'weak' : '';
  S.q('#error').textContent = error;
  S.q('#within').textContent = within;
  S.host.dataset.budget = budget;
  S.host.dataset.view = S.picked.view;
  S.q('#figure').classList.toggle('drowned', Boolean(refused));
  stretch(S, budget);
  drawRelease(S);
  drawGame(S);
  drawPull(S);
  drawAnswer(S);
  drawReading(S);
  nameBand(S);
  nameEnds(S);
  if (refused) shout(S, words.drowned);
  const sentence = S.told || (refused ? refused.join(' ') : S.answer || S.data.notes[budget] || S.data.invitations[budget]);
  if (S.q('#sentence').textContent !== sentence) S.q('#sentence').textContent = sentence;
  S.q('#spoken').textContent = S.root.activeElement === S.q('#stage') ? S.readout : '';
  S.main.title.textContent = `${title}, ε = ${epsilons[budget]}: ${spoken}. ${S.answer} ${S.readout}`;
  S.difference.title.textContent = speedy(S) ? S.asked.title : fill(words.panel, {limit: S.levels.at(-1).text});
  naming(S);
  animate(S);
}

function shout(S, words) {                // over the curves, in as many lines as it takes
  const {box} = S.main, size = Math.min(17, Math.max(14, S.width / 32));
  lines(S, words, (box.right - box.left - 16) * 13 / size).forEach((line, k) => S.main.over.append(svg('text', {
    x: (box.left + box.right) / 2, y: box.top + 30 + 24 * k, 'text-anchor': 'middle', class: 'shout', style: `font-size: ${size}px`}, line)));
}

function naming(S) {
  const button = S.q('#play'), {words} = S.data;
  button.hidden = Boolean(S.game);
  button.textContent = STILL.matches || question(S) ? words.next : S.paused ? words.play : words.pause;
}

function stretch(S, budget) {             // the axis of the difference panel, when it changes
  const D = S.difference, close = isClose(S);
  const limit = close ? closeLimit(S, S.curves.noise[budget][nearest(S, S.main.x(S.pull.time))]) : S.limits[budget];
  const floor = close ? -limit : S.floors[budget];
  if (S.limit === limit && S.floor === floor) return;
  Object.assign(S, {limit, floor, levels: close ? ticks(floor, limit, 5) : S.differences[budget]});
  D.range(floor, limit);
  rows(D, S.levels.map(t => [t.value, speedy(S) && !S.asked.signed ? t.text : signed(t)]), speedy(S) ? S.asked.panel : S.data.difference);
  set(D.without, `M${D.box.left} ${D.y(0).toFixed(1)}H${D.box.right}`);
}
