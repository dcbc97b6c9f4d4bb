// Theory: rates of central, federated and local privacy beside measured errors, both axes logarithmic.
// Dots are measured, dashes the theory; the regimes of one of the three are shaded.

const GLOSS_WIDTH = 300;                  // pixels of the table beside the plot, on a wide page
const NAME = 18;                          // pixels from one name to the next
const LOG_STEPS = [1, 2, 5];              // of every power of ten, at both axes

function logTicks(low, high) {
  const marks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
    for (const step of LOG_STEPS) {
      const value = step * 10 ** power;
      if (value >= low * .999 && value <= high * 1.001) marks.push({value, text: written(value, Math.max(0, -power))});
    }
  return marks;
}

// What is drawn at the present step of the slider: over ε always the same, over people one of many.
const frameOf = S => S.theory.at_step[S.picked.budget];

function paintTheory(S) {                 // new data, size, theme, or another frame
  const node = S.q('#rates'), notes = S.q('#notes'), choice = S.q('#along');
  node.replaceChildren();
  notes.replaceChildren();
  choice.hidden = !S.theory;
  if (!S.theory) return;
  const {theory} = S, frame = theory.frames[frameOf(S)], phone = S.width < PHONE, isWide = S.width >= 820, [low, high] = frame.range;
  S.q('#theory').classList.toggle('wide', isWide);
  const width = S.width - (isWide ? GLOSS_WIDTH + 24 : 0), height = node.clientHeight, {at, grid} = theory;
  const values = logTicks(low, high), names = theory.notions.map(notion => notion.key);
  const left = 30 + Math.max(...values.map(({text}) => wide(S, text))), right = 16 + Math.max(...[...names, S.data.words.none].map(text => wide(S, text) * 1.06));
  const box = {left, top: 26, right: width - right, bottom: height - 54}, [first, last] = [grid[0], grid.at(-1)];
  const along = (value, from, to) => Math.log(value / from) / Math.log(to / from);
  const x = e => box.left + along(e, first, last) * (box.right - box.left), y = v => box.bottom - along(v, low, high) * (box.bottom - box.top);
  S.rates = {svg: node, box, width, height, x, y, frame: frameOf(S)};
  node.setAttribute('viewBox', `0 0 ${width} ${height}`);
  node.style.width = `${width}px`;
  choose(choice, theory.axes, theory.along, theory.choose);
  Object.assign(choice.style, {left: `${(box.left + box.right) / 2}px`, top: `${box.bottom + 26}px`});
  const clip = svg('clipPath', {id: 'clip-rates'}, svg('rect', {x: box.left, y: box.top, width: box.right - box.left + 8, height: Math.max(0, box.bottom - box.top)}));
  const axes = svg('g'), text = (place, words, more = {}) => svg('text', {...place, class: 'tick', ...more}, words);
  for (const {value, text: words} of values) axes.append(svg('line', {x1: box.left, x2: box.right, y1: y(value), y2: y(value), class: 'grid'}),
    text({x: box.left - 8, y: y(value) + 4.5}, words, {'text-anchor': 'end'}));
  for (const {value, text: words} of logTicks(first, last)) axes.append(svg('line', {x1: x(value), x2: x(value), y1: box.bottom, y2: box.bottom + 4, class: 'axis'}),
    text({x: x(value), y: box.bottom + 18}, words, {'text-anchor': 'middle'}));
  axes.append(svg('line', {x1: box.left, x2: box.right, y1: box.bottom + .5, y2: box.bottom + .5, class: 'axis'}),
    svg('line', {x1: box.left - .5, x2: box.left - .5, y1: box.top, y2: box.bottom, class: 'axis'}),
    text({transform: `translate(14 ${(box.top + box.bottom) / 2}) rotate(-90)`}, theory.axis, {'text-anchor': 'middle'}));
  S.shading = svg('g');
  S.here = svg('line', {y1: box.top, y2: box.bottom, class: 'rule here'});
  const body = svg('g', {'clip-path': 'url(#clip-rates)'}), ends = svg('g');
  if (theory.baseline) body.append(svg('line', {x1: box.left, x2: box.right, y1: y(theory.baseline), y2: y(theory.baseline), class: 'free'}));
  const labels = theory.baseline ? [{at: y(theory.baseline), text: S.data.words.none, kind: ''}] : [];
  frame.notions.forEach((notion, k) => {
    const group = svg('g', {class: `notion notion-${k}`}), points = (xs, ys) => xs.map((e, i) => ys[i] === null ? null : `${x(e).toFixed(1)} ${y(ys[i]).toFixed(1)}`);
    const joined = list => list.filter(point => point).join('L'), [lows, highs] = notion.ends;
    const dots = joined(points(at, notion.dots)), dashes = notion.line && joined(points(grid, notion.line));
    if (dashes) group.append(svg('path', {d: `M${dashes}`, class: 'dashes'}), svg('path', {d: `M${dashes}`, class: 'near'}));
    if (dots) group.append(svg('path', {d: `M${dots}`, class: 'joined'}));
    notion.dots.forEach((value, b) => {
      if (value === null) return;
      if (lows[b] !== null) group.append(svg('line', {x1: x(at[b]), x2: x(at[b]), y1: y(lows[b]), y2: y(highs[b]), class: 'interval'}));
      group.append(svg('circle', {cx: x(at[b]), cy: y(value), r: phone ? 3 : 4, class: 'dot'}));
    });
    for (const [e, v] of notion.elbows) group.append(svg('path', {d: `M${x(e)} ${y(v) - 8}l8 8l-8 8l-8-8z`, class: 'elbow'}));
    group.onpointerenter = () => shade(S, k);
    body.append(group);
    const final = notion.line?.at(-1) ?? notion.dots.findLast(value => value !== null);
    if (final) labels.push({at: Math.max(box.top + 8, y(final)), text: theory.notions[k].key, kind: `of-notion-${k}`});
  });
  labels.sort((one, other) => one.at - other.at);
  labels.forEach((label, k) => { label.at = Math.max(label.at, k ? labels[k - 1].at + NAME : box.top + 8); });
  for (let k = labels.length - 1; k >= 0; k--) labels[k].at = Math.min(labels[k].at, k + 1 < labels.length ? labels[k + 1].at - NAME : box.bottom);
  ends.append(...labels.map(({at, kind, text}) => svg('text', {x: box.right + 8, y: at + 5, class: `label ${kind}`}, text)));
  node.append(svg('title', {}, titleOf(theory)), svg('defs', {}, clip), S.shading, axes, S.here, body, ends);
  notes.append(table(S), ...theory.words.map(([name, said]) => {
    const line = document.createElement('p'), head = document.createElement('strong');
    head.textContent = name;
    line.append(head, `: ${said}`);
    return line;
  }));
  shade(S, S.shaded ?? 1);
}

const titleOf = ({axes, along, axis}) => `${axes.find(([key]) => key === along)[1]}, ${axis}`;

function choose(node, options, value, label) {   // a choice and what is chosen
  node.replaceChildren(...options.map(([key, words]) => new Option(words, key, false, String(key) === String(value))));
  node.setAttribute('aria-label', label);
}

function table(S) {                       // who adds noise, and what it costs
  const all = document.createElement('table'), row = (...cells) => all.insertRow().append(...cells), {theory} = S, {prices} = theory.frames[frameOf(S)];
  const cell = (kind, ...parts) => { const one = document.createElement(kind); one.append(...parts); return one; };
  row(...theory.heads.map(head => cell('th', head)));
  theory.notions.forEach(({key, gloss}, k) => {
    const name = document.createElement('strong'), [before, after] = gloss.split('{sites}'), parts = [` ${before}`];
    name.textContent = key;
    name.className = `of-notion-${k}`;
    if (after !== undefined) {
      const sites = document.createElement('select');
      choose(sites, theory.sites, theory.n_sites, key);
      sites.onchange = () => S.askTheory(sites.value);
      parts.push(sites, after);
    }
    row(cell('td', name, ...parts), cell('td', prices[k]));
    all.rows[k + 1].onpointerenter = () => shade(S, k);
  });
  return all;
}

function shade(S, which) {                // what limits one of the three, where
  const {box, x, frame} = S.rates, {regimes} = S.theory.frames[frame].notions[which], {key} = S.theory.notions[which], kinds = [];
  S.shaded = which;
  S.shading.replaceChildren(...regimes.flatMap(([from, to, name]) => {
    const [left, right] = [x(from), x(to)], isPrivate = name.startsWith('privacy');
    kinds.push(name);
    const area = svg('rect', {x: left, y: box.top, width: Math.max(0, right - left), height: box.bottom - box.top,
      class: isPrivate ? `regime-${kinds.filter(kind => kind.startsWith('privacy')).length}` : 'regime-free'});
    return right - left < wide(S, name) ? [area] : [area, svg('text', {x: (left + right) / 2, y: box.top - 8, 'text-anchor': 'middle', class: 'tick'}, name)];
  }));
  S.shadedKey = regimes.length ? key : '';
  say(S, showTheory(S));
}

function showTheory(S) {                  // one budget; returns what is said under the figure
  const {words} = S.data;
  if (!S.theory) return {text: words.coming, isWeak: false};
  if (S.rates.frame !== frameOf(S)) { paintTheory(S); return showTheory(S); }
  const at = S.rates.x(S.theory.here ?? +S.data.epsilons[S.picked.budget]);
  for (const end of ['x1', 'x2']) S.here.setAttribute(end, at);
  return {text: S.shadedKey ? fill(words.shaded, {notion: S.shadedKey}) : words.rates, isWeak: false};
}
