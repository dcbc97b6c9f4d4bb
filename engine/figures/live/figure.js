// The live figure. Curves of all budgets arrive once; whatever the visitor does then happens here:
// the slider, one release after another, a child's curve that is pulled, and the attacker's game.
// Text from the server goes through textContent only, so that a label can never become markup.

const SVG = 'http://www.w3.org/2000/svg';
const PHONE = 620;                        // narrower than this: labels above the plot, fewer ticks
const REST = 60;                          // ms without movement before the server is told
const TURN = 1000 / 6;                    // ms from one release to the next
const TAP = 5;                            // pixels: a shorter way of the pointer is a tap
const ROUNDS = 20;                        // of the attacker's game, each with a release of its own
const BADGE = 11;                         // pixels: half of the disc with the letter of a curve of the game
const AROUND = .15;                       // of the height of the curves, left free above and below them
const GAP = 8;                            // pixels between names in a row
const SAMPLE = 18;                        // pixels of a piece of a line beside its name, and of which line
const SAMPLES = {'of-release': 'by-release', '': 'by-mean', 'of-other': 'by-other', 'of-curves': 'by-curves'};
const WIDTH = .12;                        // of a pull, as a share of the time axis (one standard deviation)
const STILL = matchMedia('(prefers-reduced-motion: reduce)');

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
  if (isNew) S.game = S.picked.view === 'attack' ? newGame(S) : null;
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

// ---- data ---------------------------------------------------------------------------------------

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
}

function decode(data) {
  const value = text => numbers(text, ...data.scale);
  const without = value(data.without), points = data.points;
  const rows = (texts, scales) => texts.map((text, b) => split(numbers(text, ...scales[b]), points));
  return {
    times: numbers(data.times, data.time.low, data.time.high), without,
    truth: data.truth && onto(without, numbers(...data.truth)),
    people: singles(data, value(data.curve_values)),
    releases: rows(data.releases, data.scales),       // differences from the mean without privacy
    low: data.band && rows(data.band.low, data.band.scales).map(all => all.map(finer)),
    high: data.band && rows(data.band.high, data.band.scales).map(all => all.map(finer)),
    noise: data.noise.map((text, b) => numbers(text, ...data.noise_scales[b])),
  };
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

function finer(half) {                    // every second point was sent: the ones between, by a cubic
  const last = half.length - 1, at = k => half[Math.max(0, Math.min(last, k))];
  return Float64Array.from({length: 2 * last + 1}, (_, k) => k % 2 === 0 ? half[k / 2]
    : k === 1 || k === 2 * last - 1 ? (at((k - 1) / 2) + at((k + 1) / 2)) / 2
      : (9 * (at((k - 1) / 2) + at((k + 1) / 2)) - at((k - 3) / 2) - at((k + 3) / 2)) / 16);
}

function singles(data, values) {          // the grey curves, each with its own times
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

const onto = (without, differences) => differences.map((d, k) => d + without[k % without.length]);
const split = (all, points) => {          // bands come with every second point
  const length = all.length % points ? (points + 1) / 2 : points;
  return Array.from({length: all.length / length}, (_, k) => all.subarray(k * length, (k + 1) * length));
};
const furthest = row => row.reduce((most, y) => Math.max(most, Math.abs(y)), 0);

// What the value axis shows: the curves with room around them, and never more than the public bounds.
function inView({data: {value}, curves}) {
  const drawn = [curves.without, curves.truth ?? [], ...curves.people.map(person => person.values)];
  const [low, high] = drawn.reduce(([least, most], row) => [Math.min(least, ...row), Math.max(most, ...row)], [Infinity, -Infinity]);
  const room = AROUND * (high - low), from = Math.max(value.low, low - room), to = Math.min(value.high, high + room);
  return to > from ? {low: from, high: to} : {low: value.low, high: value.high};
}

// Half-heights of the difference panel, one per budget. They never grow with ε, come from a ladder
// so that the axis changes seldom, and end at half the value axis: beyond it curves leave the frame.
function limits(S, drawn, most = Infinity) {
  const {value} = S.data, needs = S.data.epsilons.map((_, b) => Math.max(...drawn(b).map(furthest)));
  for (let b = needs.length - 2; b >= 0; b--) needs[b] = Math.max(needs[b], needs[b + 1]);
  return needs.map(need => rung(Math.min(Math.max(need, 1e-9), most < Infinity ? most : (value.high - value.low) / 2)));
}

function rung(need) {
  const power = 10 ** Math.floor(Math.log10(need));
  return [1, 2, 3, 5, 10].find(k => k * power >= need * 0.999) * power;
}

// ---- the slider and the server ------------------------------------------------------------------

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
  const picked = JSON.stringify(S.picked);
  if (picked === S.reported || !S.host.isConnected) return;
  Object.assign(S, {reported: picked, reportedAt: performance.now(), reportedFrom: location.href});
  S.send({...S.picked, rev: S.rev});
}

function slide(S, budget) {
  S.picked.budget = budget;
  window.__budget = budget;
  playOn(S);
  show(S);
  dispatchEvent(new CustomEvent('pc:budget', {detail: budget}));
}

function ticksOfSlider(S, marks) {        // published deployments, and the visitor's own rule
  S.marks = [...marks].sort((one, other) => one.at - other.at);
  S.q('#anchors').replaceChildren(...S.marks.map(({at, help, is_own}) => {
    const mark = document.createElement('i');
    mark.style.left = `calc(11px + ${at} * (100% - 22px))`;
    mark.title = help;
    mark.onclick = () => { S.q('#sentence').textContent = help; };   // where nothing can hover
    mark.classList.toggle('own', is_own);
    return mark;
  }));
}

function sideBySide(names, end) {         // left ends of names in a row: each as near to its wish as the others let it
  const blocks = [];
  const block = (names, offsets, wide) => ({names, offsets, wide, left: Math.min(end - wide,
    names.reduce((sum, {wish}, k) => sum + wish - offsets[k], 0) / names.length)});
  for (const name of names) {
    let last = block([name], [0], name.wide);
    while (blocks.length && blocks.at(-1).left + blocks.at(-1).wide + GAP > last.left) {
      const before = blocks.pop(), shift = before.wide + GAP;
      last = block([...before.names, ...last.names], [...before.offsets, ...last.offsets.map(x => x + shift)], shift + last.wide);
    }
    blocks.push(last);
  }
  return blocks.flatMap(({left, offsets}) => offsets.map(offset => left + offset));
}

function nameTicks(S) {                   // whose they are, neighbours of one name once
  const row = S.q('#anchors'), width = row.clientWidth, groups = [], place = at => 11 + at * (width - 22);
  for (const {at, word, is_own} of S.marks) {
    if (groups.at(-1)?.word === word) groups.at(-1).ats.push(at);
    else groups.push({word, is_own, ats: [at]});
  }
  row.querySelectorAll('span, b').forEach(name => name.remove());
  const write = word => {
    const name = document.createElement('span');
    name.textContent = word;
    row.append(name);
    return name;
  };
  const names = groups.map(({word, is_own, ats}) => {
    const name = write(word), [from, to] = [place(ats[0]), place(ats.at(-1))];
    name.classList.toggle('own', is_own);
    if (ats.length > 1) {                 // a bracket joins ticks of one name
      const bracket = document.createElement('b');
      Object.assign(bracket.style, {left: `${from}px`, width: `${to - from}px`});
      row.append(bracket);
    }
    return {name, wide: name.offsetWidth, wish: (from + to - name.offsetWidth) / 2};
  });
  const lefts = sideBySide(names, S.width);   // below the value of ε there is room
  names.forEach(({name}, k) => { name.style.left = `${lefts[k]}px`; name.hidden = lefts[k] < 0; });
  if (groups.every(group => group.is_own)) return;
  const lead = write(S.data.words.used), left = Math.min(lefts[0] - GAP, place(S.marks[0].at) - 4) - lead.offsetWidth;
  if (left < 0) lead.remove();
  else lead.style.left = `${left}px`;
}

function wire(S) {
  const e = S.q('#e'), stage = S.q('#stage');
  e.oninput = () => slide(S, +e.value);
  e.onchange = () => { clearTimeout(S.timer); S.timer = setTimeout(() => report(S), REST); };
  S.q('#play').onclick = () => toggle(S);
  S.q('#noise').onclick = () => S.askNoise();
  S.q('#attack').onclick = () => openGame(S, !S.game);
  S.q('#leave').onclick = () => openGame(S, false);
  S.q('#restart').onclick = () => { S.game = newGame(S); paint(S); S.q('#a').focus(); };
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

// ---- one release after another ------------------------------------------------------------------

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

const blend = (from, to, mix) => mix ? from.map((y, k) => y + (to[k] - y) * mix) : from;

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

const ribbon = (low, high) => `${high}L${low.slice(1).split('L').reverse().join('L')}Z`;  // two paths, filled

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

// ---- reading values -----------------------------------------------------------------------------

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

function plusMinus(S, difference) {
  return `${difference > 0 ? '+' : ''}${amount(S, difference)}`;
}

// ---- pulling a curve ----------------------------------------------------------------------------

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

function between(times, values, t) {      // on straight lines between observations, constant beyond
  if (t <= times[0]) return values[0];
  const last = times.length - 1;
  if (t >= times[last]) return values[last];
  let k = 1;
  while (times[k] < t) k++;
  const share = (t - times[k - 1]) / (times[k] - times[k - 1] || 1);
  return values[k - 1] + share * (values[k] - values[k - 1]);
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

const dot = (a, b) => a.reduce((sum, y, k) => sum + y * b[k], 0);

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

function key(S, event) {                  // arrows read and pull, Escape puts back, space pauses
  if (event.target !== S.q('#stage')) return;
  const last = S.curves.times.length - 1, step = Math.max(1, Math.round(last / 40));
  const turn = {ArrowLeft: -step, ArrowRight: step}[event.key];
  const lift = {ArrowUp: 1, ArrowDown: -1}[event.key];
  if (turn) {
    S.reading = Math.min(Math.max((S.reading ?? Math.round(last / 2)) + turn, 0), last);
    if (S.pull) S.pull.time = S.curves.times[S.reading];
  } else if (lift && !S.game) {
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

function highest(S, time) {               // whose curve is on top there
  const at = S.curves.people.map(({times, values}) => between(times, values, time));
  return at.indexOf(Math.max(...at));
}

// ---- the attacker's game ------------------------------------------------------------------------
// Two data sets differ by one person's curve. Each round has a release of its own, drawn at the ε
// of the slider, and the visitor says of which of the two it is. A game may go over several ε: no
// attacker does better, on average, than the mean of what each round allows.

function newGame(S) {
  const order = shuffled(S.data.draws).slice(0, ROUNDS);
  return round(S, {order, right: [], bounds: []});
}

const isOver = game => Boolean(game.told) && game.right.length === ROUNDS;

function playOn(S) {                      // at another ε: the score stays, and a round begins there
  if (S.game && !isOver(S.game)) S.game = round(S, S.game);
}

function boundsSoFar(S) {                 // the mean of what rounds allow, after each; those to come are at this ε
  const {bounds} = S.game, here = S.data.bound[S.picked.budget];
  let sum = 0;
  return Array.from({length: ROUNDS}, (_, k) => (sum += bounds[k] ?? here) / (k + 1));
}

const percentUp = share => share > .99 ? '> 99\u00a0%' : `${Math.ceil(+(100 * share).toFixed(6))}\u00a0%`;  // of a bound

const shuffled = count => Array.from({length: count}, (_, k) => [Math.random(), k]).sort((a, b) => a[0] - b[0]).map(([, k]) => k);

// Of several pairs of people the two that differ most, whose curves both have room for a letter. Which they
// are and where letters stand says nothing of the secret: of the release, noise alone is looked at.
function round(S, game) {
  const {people, times, releases} = S.curves, noise = releases[S.picked.budget][game.order[game.right.length]];
  const on = ({times: own, values}) => Array.from(times, t => between(own, values, t));
  let all = [], roomy = [];
  for (let tries = 0; tries < 8 && !roomy.length; tries++) {
    all = all.concat(Array.from({length: 6}, () => {
      const pair = shuffled(people.length).slice(0, 2), [x, y] = pair.map(person => on(people[person])), apart = x.map((v, k) => v - y[k]);
      const named = pair.map((_, k) => clearest(S, pair, k, noise));
      return {pair, apart, named, size: dot(apart, apart), room: Math.min(...named.map(({clear}) => clear))};
    }));
    roomy = all.filter(({room}) => room >= roomFor(S));
  }
  const most = (rows, key) => rows.reduce((best, one) => one[key] > best[key] ? one : best);
  const {pair, apart, named} = roomy.length ? most(roomy, 'size') : most(all, 'room');
  const half = smooth(S, apart.map(y => y / (2 * S.data.n)));             // from the middle of the two means
  const secret = Math.random() < .5 ? 0 : 1;
  return {...game, pair, named, half, secret, told: '', release: noise.map((y, k) => y + (secret ? -half[k] : half[k]))};
}

const roomFor = S => AROUND * (S.view.high - S.view.low);   // a letter, on the value axis

// Where the letter of a curve of the game stands: at one of its observations, on the side where no other
// line is near, and away from the ends of the axis. `up` is 1 above the curve and -1 below.
function clearest(S, pair, k, noise) {
  const own = S.curves.people[pair[k]], other = S.curves.people[pair[1 - k]], {times, without} = S.curves;
  const {time: {low, high}} = S.data, most = roomFor(S);
  const room = gaps => Math.min(most, ...gaps.filter(gap => gap >= 0));
  let best = {clear: -1};
  own.times.forEach((t, at) => {
    if (Math.min(t - low, high - t) < .05 * (high - low)) return;
    const lines = [-1, 0, 1].flatMap(way => {                            // as wide as the letter
      const there = t + way * .03 * (high - low), mean = between(times, without, there);
      return [between(other.times, other.values, there), mean, mean + between(times, noise, there)];
    });
    for (const up of [1, -1]) {
      const gaps = lines.map(line => up * (line - own.values[at])), clear = room(gaps) + .1 * room(gaps.map(gap => -gap));
      if (clear > best.clear) best = {at, up, clear};
    }
  });
  return best.clear < 0 ? {at: own.times.length >> 1, up: 1, clear: 0} : best;
}

// One person moves a mean by less than a line is wide: the two means are drawn a round number of times
// as far apart, so that what the release may be compared with can be seen.
function enlarged(S, half) {
  const ratio = .6 * S.limit / furthest(half), power = 10 ** Math.floor(Math.log10(ratio));
  return ratio < 2 ? 1 : Math.max(...[1, 2, 5].map(k => k * power).filter(times => times <= ratio));
}

const isRefused = S => Boolean(S.data.refused[S.picked.budget]);

function openGame(S, on) {
  S.picked.view = on ? 'attack' : 'look';
  S.pull = S.reading = null;
  S.game = on ? newGame(S) : null;
  paint(S);
  report(S);
  S.q(!on ? '#attack' : isRefused(S) ? '#leave' : '#a').focus({preventScroll: on});
  if (on) S.q(S.width < PHONE ? '#figure' : '#game').scrollIntoView({block: S.width < PHONE ? 'start' : 'nearest'});   // what is asked, and what it is about
}

function guess(S, answer) {               // the round stays on screen with its result until the next is asked for
  const game = S.game;
  if (!game || isRefused(S) || game.told) return;
  const isRight = answer === game.secret, right = [...game.right, isRight], {words, bound} = S.data;
  const told = fill(isRight ? words.right : words.wrong, {letter: game.secret ? words.b : words.a, round: right.length});
  S.game = {...game, right, told, bounds: [...game.bounds, bound[S.picked.budget]]};
  show(S);
  S.q(right.length < ROUNDS ? '#next' : '#restart').focus();    // the button that was pressed has gone
}

function drawGame(S) {
  const game = S.game, {words} = S.data, {main, difference: D} = S;
  S.q('#game').hidden = !game;
  S.q('#attack').setAttribute('aria-expanded', String(Boolean(game)));
  S.q('#figure').classList.toggle('playing-game', Boolean(game));
  S.q('#figure').classList.toggle('on-slide', Boolean(S.host.closest('.st-key-game_slide')));
  for (const P of [main, D]) P.game.replaceChildren();
  if (!game) return;
  for (const id of ['#a', '#b', '#next', '#restart', '#board']) S.q(id).hidden = isRefused(S);
  if (isRefused(S)) {                     // no release, nothing to attack
    S.q('#question').textContent = fill(words.unplayable, {epsilon: S.data.epsilons[S.picked.budget]});
    S.q('#answer').textContent = words.raise;
    return;
  }
  const count = game.right.length, isTold = Boolean(game.told), isDone = isOver(game), hits = game.right.filter(Boolean).length;
  game.pair.forEach((person, k) => {
    const absent = game.told && k !== game.secret ? ' absent' : '';
    main.game.append(svg('path', {d: rawPath(main, S.curves.people[person]), class: `curve-${k ? 'b' : 'a'}${absent}`}));
  });
  game.pair.forEach((person, k) => {      // above both curves
    const {times, values} = S.curves.people[person], name = k ? 'b' : 'a', {at, up} = game.named[k];
    const x = main.x(times[at]), y = main.y(values[at]) - up * (BADGE + 1);
    main.game.append(svg('circle', {cx: x, cy: y, r: BADGE, class: `badge badge-${name}`}),
      svg('text', {x, y: y + 5, 'text-anchor': 'middle', class: 'letter'}, words[name]));
  });
  const times = enlarged(S, game.half), mean = sign => path(D, game.half.map(y => sign * times * y));
  D.game.append(svg('path', {d: mean(1), class: 'curve-a'}), svg('path', {d: mean(-1), class: 'curve-b'}),
    svg('text', {x: D.box.left + 6, y: D.box.bottom - 6, class: 'label'}, times > 1 ? fill(words.means_enlarged, {times}) : words.means));
  const soFar = count ? fill(words.so_far, {hits, count}) : times > 1 ? fill(words.hint_enlarged, {times}) : words.hint;
  S.q('#question').textContent = isDone ? fill(words.over, {hits, rounds: ROUNDS}) : game.told || fill(words.question, {round: count + 1, rounds: ROUNDS});
  S.q('#answer').textContent = isDone ? `${game.told} ${lesson(S, hits)}` : soFar;
  S.q('#a').hidden = S.q('#b').hidden = isTold;
  S.q('#next').hidden = !isTold || isDone;
  S.q('#restart').hidden = !isDone;
  drawScore(S);
}

function lesson(S, hits) {                // what was learnt, in one sentence
  const {words} = S.data, [low, high] = chanceBand(ROUNDS), bound = boundsSoFar(S).at(-1);
  const kind = hits > high ? 'above' : hits < low ? 'below' : 'within', {over, certain} = words.lessons;
  return fill(`${words.lessons[kind]} ${bound > .99 ? certain : over}`, {low, high, bound: percentUp(bound)});
}

function chanceBand(n) {                  // the middle 95 % of n fair coins
  let mass = .5 ** n, below = 0, low = 0;
  for (let k = 0; below + mass <= .025; k++) {
    below += mass;
    mass *= (n - k) / (k + 1);
    low = k + 1;
  }
  return [low, n - low];
}

function drawScore(S) {
  const node = S.q('#score'), width = node.clientWidth || 320, height = node.clientHeight || 150;
  const {words} = S.data, right = S.game.right, left = 44, bottom = height - 34, top = 8;
  const x = k => left + k / ROUNDS * (width - left - 8), y = share => bottom - share * (bottom - top);
  const bands = Array.from({length: ROUNDS}, (_, k) => chanceBand(k + 1).map(hits => hits / (k + 1)));
  const side = i => bands.map((ends, k) => `${x(k + 1).toFixed(1)} ${y(ends[i]).toFixed(1)}`);
  let hits = 0;
  const line = right.map((is, k) => { hits += is; return `${x(k + 1).toFixed(1)} ${y(hits / (k + 1)).toFixed(1)}`; });
  const most = boundsSoFar(S), end = line.at(-1)?.split(' ');
  const limit = most.map((share, k) => `${x(k + 1).toFixed(1)} ${y(share).toFixed(1)}`).join('L');
  S.q('#caption').textContent = words.caption;
  node.setAttribute('viewBox', `0 0 ${width} ${height}`);
  node.replaceChildren(svg('title', {}, fill(words.score, {hits, count: right.length})),
    svg('path', {d: `M${side(1).join('L')}L${side(0).reverse().join('L')}Z`, class: 'chance'}),
    ...[0, .5, 1].flatMap(share => [svg('line', {x1: left, x2: width - 8, y1: y(share), y2: y(share), class: 'grid'}),
      svg('text', {x: left - 6, y: y(share) + 4.5, 'text-anchor': 'end', class: 'tick'}, `${100 * share} %`)]),
    ...[1, 5, 10, 15, 20].map(k => svg('text', {x: x(k), y: bottom + 15, 'text-anchor': 'middle', class: 'tick'}, k)),
    svg('text', {x: x(ROUNDS / 2), y: bottom + 31, 'text-anchor': 'middle', class: 'tick'}, words.rounds),
    svg('path', {d: `M${left} ${y(most[0]).toFixed(1)}L${limit}`, class: 'bound'}),
    ...(end ? [svg('path', {d: `M${line.join('L')}`, class: 'scored'}), svg('circle', {cx: end[0], cy: end[1], r: 4, class: 'scored-dot'})] : []),
    svg('text', {x: x(ROUNDS), y: y(most.at(-1)) - 5, 'text-anchor': 'end', class: 'label of-bound'}, fill(words.bound, {bound: percentUp(most.at(-1))})));
}

// ---- drawing ------------------------------------------------------------------------------------

function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const set = (node, d) => node.setAttribute('d', d);
const fill = (text, fields) => text.replace(/\{(\w+)\}/g, (_, name) => fields[name]);
const unit = axis => axis.unit ? ` ${axis.unit}` : '';

function dress(S) {                       // colours of the roles for the theme that is on screen
  const box = S.q('#figure'), probe = document.createElement('i');
  probe.style.cssText = 'display:none;background-color:var(--st-background-color)';
  box.append(probe);
  const [r, g, b] = getComputedStyle(probe).backgroundColor.match(/[\d.]+/g).map(Number);
  probe.remove();
  const dark = 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
  for (const [role, colour] of Object.entries(S.data.colours[dark ? 'dark' : 'light'])) box.style.setProperty(`--pc-${role}`, colour);
  box.style.setProperty('--pc-rail', dark ? '#39435A' : '#E1E5EC');
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

function plot(S, id, margin, timeTicks, title) {
  const node = S.q(id), height = node.clientHeight, {time} = S.data;
  const box = {left: margin.left, top: margin.top, right: S.width - margin.right, bottom: height - margin.bottom};
  const P = {svg: node, box, height};
  P.x = t => box.left + (t - time.low) / (time.high - time.low) * (box.right - box.left);
  P.time = x => Math.min(Math.max(time.low + (x - box.left) / (box.right - box.left) * (time.high - time.low), time.low), time.high);
  P.range = (from, to) => { P.y = v => box.bottom - (v - from) / (to - from) * (box.bottom - box.top); };
  P.xs = Array.from(S.curves.times, t => P.x(t).toFixed(1));
  P.title = svg('title');
  P.grid = svg('g');
  P.body = svg('g', {'clip-path': `url(#clip-${node.id})`});
  node.setAttribute('viewBox', `0 0 ${S.width} ${height}`);
  node.replaceChildren(P.title, svg('defs', {}, svg('clipPath', {id: `clip-${node.id}`}, svg('rect', {x: box.left,
    y: box.top, width: box.right - box.left, height: Math.max(0, box.bottom - box.top)}))), P.grid, P.body,
  columns(P, timeTicks, title));
  return P;
}

function columns(P, marks, title) {       // the time axis; words at the lower plot alone
  const {left, right, bottom} = P.box, group = svg('g');
  group.append(svg('line', {x1: left, x2: right, y1: bottom + .5, y2: bottom + .5, class: 'axis'}));
  for (const {value, text} of marks) {
    const x = P.x(value).toFixed(1);
    group.append(svg('line', {x1: x, x2: x, y1: bottom, y2: bottom + 4, class: 'axis'}));
    if (title) group.append(svg('text', {x, y: bottom + 18, 'text-anchor': 'middle', class: 'tick'}, text));
  }
  if (title) group.append(svg('text', {x: (left + right) / 2, y: bottom + 38, 'text-anchor': 'middle', class: 'tick'}, title));
  return group;
}

function rows(P, marks, title) {          // the value axis with its grid
  const {left, right, top, bottom} = P.box, middle = (top + bottom) / 2;
  P.grid.replaceChildren(svg('line', {x1: left - .5, x2: left - .5, y1: top, y2: bottom, class: 'axis'}));
  for (const [value, text] of marks) {
    const y = P.y(value).toFixed(1);
    P.grid.append(svg('line', {x1: left, x2: right, y1: y, y2: y, class: 'grid'}),
      svg('text', {x: left - 8, y: +y + 4.5, 'text-anchor': 'end', class: 'tick'}, text));
  }
  P.grid.append(svg('text', {transform: `translate(14 ${middle}) rotate(-90)`, 'text-anchor': 'middle', class: 'tick'}, title));
}

function markBounds(S) {                  // the public bounds, where they are in view
  const {data: {value, words}, view, main: {grid, box, y}} = S;
  for (const bound of [value.low, value.high]) {
    if (bound < view.low || bound > view.high) continue;
    const at = y(bound), isTop = bound === value.high;
    grid.append(svg('line', {x1: box.left, x2: box.right, y1: at, y2: at, class: 'public-bound'}),
      svg('text', {x: box.left + 8, y: isTop ? at + 15 : at - 6, class: 'tick'}, words.public_bound));
  }
}

function markVisits(S) {                  // the few times at which everybody was observed: between them bands are wide
  const {data: {visits, words}, main, difference} = S;
  if (!visits.length) return;
  for (const {body, box, x} of [main, difference])
    body.before(...visits.map(time => svg('line', {x1: x(time), x2: x(time), y1: box.top, y2: box.bottom, class: 'visit'})));
  main.grid.append(svg('text', {x: main.box.right - 8, y: main.box.bottom - 6, 'text-anchor': 'end', class: 'tick'}, words.visits));
}

function inLines(S, texts, left, sample) {   // places of names above the plot, in as many lines as they take
  let x = left, y = 16;
  return texts.map(text => {
    const width = sample + wide(S, text) * 1.06;
    if (x > left && x + width > S.width) { x = left; y += 18; }
    const place = {x, y};
    x += width + 14;
    return place;
  });
}

function labelEnds(S, [mean, release, last], above, kind) {  // at the ends of lines, on a phone above them; those that change
  const {box} = S.main, {without} = S.curves, names = [[release, 'of-release'], [mean, ''], [last, kind]];
  const drawn = place => {
    const nodes = names.map(([text, kind], k) => svg('text', {...place(k), class: `label ${kind}`}, text));
    S.main.svg.append(...nodes);
    return [nodes[0], nodes[2]];
  };
  if (above.length) {                     // away from their lines: each with a piece of its own
    S.samples = above.map(({x, y}, k) => svg('line', {x1: x, x2: x + SAMPLE, y1: y - 4.5, y2: y - 4.5, class: `sample ${SAMPLES[names[k][1]]}`}));
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

function rawPath(P, {times, values}) {
  let d = '';
  times.forEach((t, k) => { d += `${k ? 'L' : 'M'}${P.x(t).toFixed(1)} ${P.y(values[k]).toFixed(1)}`; });
  return d;
}

function path(P, values) {
  const {xs, y} = P;
  let d = '';
  for (let k = 0; k < xs.length; k++) d += (k ? 'L' : 'M') + xs[k] + ' ' + Math.round(y(values[k]) * 10) / 10;
  return d;
}

function show(S) {                        // one budget: called on every movement
  const {budget} = S.picked, {epsilons, words, title, attacker, errors, weak} = S.data, e = S.q('#e');
  const refused = S.data.refused[budget], [error, within, spoken] = errors[budget];
  if (+e.value !== budget) e.value = budget;
  e.style.setProperty('--filled', `calc(11px + ${budget / (epsilons.length - 1)} * (100% - 22px))`);
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

function lines(S, words, width) {         // broken where they would be wider than this
  const all = [''];
  for (const word of words.split(' ')) {
    const longer = `${all.at(-1)} ${word}`.trim();
    if (wide(S, longer) < width) all[all.length - 1] = longer;
    else all.push(word);
  }
  return all;
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

// ---- numbers ------------------------------------------------------------------------------------

function ticks(low, high, most, wanted = 0) {   // round values on a 1-2-5 ladder, or a step
  const power = 10 ** Math.floor(Math.log10((high - low) / most));
  const step = wanted || [1, 2, 5, 10].map(k => k * power).find(s => (high - low) / s <= most * 1.0001);
  const digits = Math.max(0, -Math.floor(Math.log10(step * 1.0001)));
  const marks = [];
  for (let k = Math.ceil(low / step - 1e-6); k * step <= high + step * 1e-6; k++) {
    marks.push({value: k * step, text: written(k * step, digits)});
  }
  return marks;
}

function written(value, digits) {         // real minus, thin space between thousands
  const plain = Math.abs(value).toFixed(digits), [whole, rest] = plain.split('.');
  const text = [whole.replace(/\B(?=(\d{3})+$)/g, '\u202f'), rest].filter(Boolean).join('.');
  return (value < 0 && +plain !== 0 ? '−' : '') + text;
}

const signed = tick => (tick.value > 1e-12 ? '+' : '') + tick.text;
const rounded = (value, span) => written(value, Math.max(0, 2 - Math.floor(Math.log10(span))));

function amount(S, value) {               // two digits of what is small, else to a thousandth of the axis
  const {low, high} = S.data.value, least = Math.floor(Math.log10((high - low) / 1000));
  const digits = value && Math.abs(value) < 10 ** (least + 2) ? Math.floor(Math.log10(Math.abs(value))) - 1 : least;
  return written(value, Math.min(Math.max(0, -digits), 6));
}

function wide(S, text) {                  // remembered until all is painted anew: to ask for the font costs a layout
  if (!S.widths.has(text)) {
    S.pen ||= document.createElement('canvas').getContext('2d');
    S.pen.font = S.font ||= `600 13px ${getComputedStyle(S.q('#figure')).fontFamily}`;
    S.widths.set(text, S.pen.measureText(text).width);
  }
  return S.widths.get(text);
}

// ---- saving -------------------------------------------------------------------------------------

const KEPT = ['fill', 'fill-opacity', 'stroke', 'stroke-opacity', 'stroke-width', 'stroke-dasharray',
  'stroke-linecap', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'paint-order'];

function save(S, asked) {
  if (!S.data.downloads) return;
  const kind = asked.split('-')[1], {text, width, height} = standalone(S);
  if (kind === 'svg') {
    const url = URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'}));
    download(S, url, 'svg');
    return setTimeout(() => URL.revokeObjectURL(url), 10000);
  }
  const image = new Image();
  image.onload = () => {
    const canvas = Object.assign(document.createElement('canvas'), {width: 2 * width, height: 2 * height});
    canvas.getContext('2d').drawImage(image, 0, 0, 2 * width, 2 * height);
    download(S, canvas.toDataURL('image/png'), 'png');
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

function standalone(S) {                  // both plots with their colours written in, title and source
  const box = S.q('#figure'), ink = getComputedStyle(box).color, told = caption(S), top = 18 * told.length + 12;
  const page = getComputedStyle(document.querySelector('[data-testid=stApp]') || document.body).backgroundColor;
  const width = S.width + 16, height = top + S.main.height + S.difference.height + 8;
  const whole = svg('svg', {xmlns: SVG, width, height, viewBox: `-8 0 ${width} ${height}`},
    svg('rect', {x: -8, y: 0, width, height, fill: page}),
    ...told.map((line, k) => svg('text', {x: 4, y: 18 * (k + 1), fill: ink, 'font-family': 'sans-serif', 'font-size': '13px'}, line)));
  let y = top;
  for (const P of [S.main, S.difference]) {
    const copy = P.svg.cloneNode(true), seen = P.svg.querySelectorAll('*');
    copy.querySelectorAll('*').forEach((node, k) => {
      const style = getComputedStyle(seen[k]);
      if (/^(path|line|rect|text|circle)$/.test(node.tagName)) {
        for (const name of KEPT) node.setAttribute(name, style.getPropertyValue(name).replaceAll('"', "'"));
      }
    });
    copy.querySelectorAll('.grip').forEach(node => node.remove());
    copy.querySelectorAll('[class]').forEach(node => node.removeAttribute('class'));
    for (const name of ['id', 'role']) copy.removeAttribute(name);
    for (const [name, value] of Object.entries({x: 0, y, width: S.width, height: P.height})) copy.setAttribute(name, value);
    whole.append(copy);
    y += P.height;
  }
  return {text: new XMLSerializer().serializeToString(whole), width, height};
}

function caption(S) {                     // sentences, broken into lines that fit
  const {title, epsilons, source, errors} = S.data, {budget} = S.picked;
  return lines(S, `${title}. ε = ${epsilons[budget]}, ${errors[budget][2]}. ${S.answer ? `${S.answer} ` : ''}${source}.`, S.width - 8);
}

function download(S, url, ending) {
  const link = document.createElement('a');
  link.href = url;
  link.download = `privacy-curves-epsilon-${S.data.epsilons[S.picked.budget]}.${ending}`;
  link.click();
}
