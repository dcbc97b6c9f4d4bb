// Methods: possible releases of all that serve the data, side by side, the smallest error first.

function methodsOf(S, sent) {             // decoded once
  if (!sent || S.methods?.tag === sent.tag) return sent ? S.methods : null;
  const rows = method => method.curves.map((text, b) => split(numbers(text, ...method.scales[b]), sent.points));
  return {...sent, all: sent.all.map(method => ({...method, drawn: rows(method)}))};
}

// The step of the slider at which each method is shown: this one, or at equal protection the largest
// at which an attacker does no better than here.
function stepOf(S, method) {
  const {budget} = S.picked;
  if (!S.isEqual) return budget;
  const most = S.data.bound[budget];
  return method.bound.findLastIndex((bound, b) => bound <= most + 1e-9 && method.errors[b] !== null);
}

function paintMethods(S) {                // new data, size or theme
  S.tiles = new Map();
  S.q('#tiles').replaceChildren();
  if (!S.methods) return;
  for (const method of S.methods.all) {
    const tile = document.createElement('button'), make = (kind, place) => { const e = document.createElement(kind); place.append(e); return e; };
    tile.type = 'button';
    tile.className = 'tile';
    tile.onclick = () => S.choose(method.label);
    const head = make('span', tile), name = make('strong', head), guarantee = make('span', head), numbersLine = make('span', tile);
    head.className = 'head';
    name.textContent = method.label;
    guarantee.className = method.is_pure ? 'pure' : 'delta';
    guarantee.textContent = method.is_pure ? S.data.words.pure : 'δ';
    numbersLine.className = 'small';
    const node = svg('svg', {'aria-hidden': 'true'});
    tile.append(node);
    S.q('#tiles').append(tile);
    S.tiles.set(method.label, {tile, node, numbersLine});
  }
}

function showMethods(S) {                 // one budget; returns what is said under the figure
  const {words} = S.data, equal = S.q('#equal');
  if (!S.methods?.all.length) { equal.hidden = true; return {text: words.coming, isWeak: false}; }
  const at = new Map(S.methods.all.map(method => [method.label, stepOf(S, method)]));
  const error = method => method.errors[at.get(method.label)] ?? Infinity;
  const sorted = [...S.methods.all].sort((one, other) => error(one) - error(other)), best = error(sorted[0]);
  const tiles = sorted.map(({label}) => S.tiles.get(label).tile), place = S.q('#tiles');
  if (tiles.some((tile, k) => place.children[k] !== tile)) place.append(...tiles);
  sorted.forEach((method, k) => drawTile(S, method, at.get(method.label), k, best));
  const pure = S.methods.all.find(method => method.is_pure), other = S.methods.all.find(method => !method.is_pure), {budget} = S.picked;
  equal.hidden = !pure || !other;
  equal.textContent = S.isEqual ? words.equal_epsilon : words.equal;
  if (S.methods.note) return {text: S.methods.note, isWeak: true};
  if (equal.hidden) return {text: '', isWeak: false};
  if (S.isEqual) return {text: fill(words.is_equal, {attacker: S.data.attacker[budget]}), isWeak: false};
  const most = kind => percentUp(Math.max(...S.methods.all.filter(({is_pure}) => is_pure === kind).map(({bound}) => bound[budget])));
  return {text: fill(words.unequal, {pure: most(true), other: most(false)}), isWeak: true};
}

function drawTile(S, method, step, order, best) {
  const {tile, node, numbersLine} = S.tiles.get(method.label), {words, time} = S.data, {low, high} = S.view;
  tile.classList.toggle('chosen', method.label === S.methods.chosen);
  const value = method.errors[step] ?? null, ratio = value / best;
  const where = S.isEqual && step >= 0 ? `ε = ${S.data.epsilons[step]} · ` : '';
  numbersLine.replaceChildren();
  if (value === null) numbersLine.textContent = words.nothing;
  else {
    const bold = document.createElement('strong');
    bold.textContent = method.texts[step];
    numbersLine.append(where, bold, ` · ${order ? `${ratio < 9.95 ? ratio.toFixed(1) : ratio.toFixed(0)}× · ` : ''}${fill(words.attacker_short, {bound: percentUp(method.bound[step])})}`);
  }
  const width = node.clientWidth, height = node.clientHeight, marks = ticks(low, high, 4), left = 8 + Math.max(...marks.map(({text}) => wide(S, text)));
  if (!width) return;
  const box = {left, top: 6, right: width - 6, bottom: height - 20}, x = t => box.left + (t - time.low) / (time.high - time.low) * (box.right - box.left);
  const y = v => box.bottom - (v - low) / (high - low) * (box.bottom - box.top), clip = `clip-tile-${order}`;
  const line = (values, stride) => values.reduce((d, v, k) => `${d}${k ? 'L' : 'M'}${x(S.curves.times[k * stride]).toFixed(1)} ${y(v).toFixed(1)}`, '');
  const {without} = S.curves, around = row => row.map((d, k) => d + without[2 * k]);
  const body = svg('g', {'clip-path': `url(#${clip})`});
  if (value !== null) {
    const rows = method.drawn[step].map(around);
    body.append(...rows.slice(1).map(row => svg('path', {d: line(row, 2), class: `others family-${method.family}`})),
      svg('path', {d: line(without, 1), class: 'without'}), svg('path', {d: line(rows[0], 2), class: `first family-${method.family}`}));
  } else body.append(svg('path', {d: line(without, 1), class: 'without'}));
  node.setAttribute('viewBox', `0 0 ${width} ${height}`);
  node.replaceChildren(svg('defs', {}, svg('clipPath', {id: clip}, svg('rect', {x: box.left, y: box.top, width: Math.max(0, box.right - box.left), height: Math.max(0, box.bottom - box.top)}))),
    ...marks.flatMap(({value: v, text}) => [svg('line', {x1: box.left, x2: box.right, y1: y(v), y2: y(v), class: 'grid'}),
      svg('text', {x: box.left - 6, y: y(v) + 4.5, 'text-anchor': 'end', class: 'tick'}, text)]),
    svg('line', {x1: box.left, x2: box.right, y1: box.bottom + .5, y2: box.bottom + .5, class: 'axis'}),
    ...ticks(time.low, time.high, 5, time.low === 0 && time.high === 24 ? 6 : 0).map(({value: t, text}) => svg('text', {x: x(t), y: box.bottom + 16, 'text-anchor': 'middle', class: 'tick'}, text)), body);
}
