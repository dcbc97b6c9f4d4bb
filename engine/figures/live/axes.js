// Axes, lines and words of a plot, and how numbers are written.

const SVG = 'http://www.w3.org/2000/svg';
const PHONE = 620;                        // narrower than this: labels above the plot, fewer ticks
const GAP = 8;                            // pixels between names in a row
const LINE = 16;                          // pixels from line to line of a title

const ribbon = (low, high) => `${high}L${low.slice(1).split('L').reverse().join('L')}Z`;  // two paths, filled

function plusMinus(S, difference) {
  return `${difference > 0 ? '+' : ''}${amount(S, difference)}`;
}

const percentUp = share => share > .99 ? '> 99\u00a0%' : `${Math.ceil(+(100 * share).toFixed(6))}\u00a0%`;  // of a bound

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

function plot(S, id, margin, timeTicks, title) {
  const node = S.q(id), height = node.clientHeight, {time} = S.data;
  const box = {left: margin.left, top: margin.top, right: S.width - margin.right, bottom: height - margin.bottom};
  const P = {svg: node, box, height, titles: title => inHeight(S, title, height)};
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

function rows(P, marks, title) {          // the value axis with its grid; the title in as many lines as its height takes
  const {left, right, top, bottom} = P.box;
  P.grid.replaceChildren(svg('line', {x1: left - .5, x2: left - .5, y1: top, y2: bottom, class: 'axis'}));
  for (const [value, text] of marks) {
    const y = P.y(value).toFixed(1);
    P.grid.append(svg('line', {x1: left, x2: right, y1: y, y2: y, class: 'grid'}),
      svg('text', {x: left - 8, y: +y + 4.5, 'text-anchor': 'end', class: 'tick'}, text));
  }
  P.grid.append(...P.titles(title).map(({text, half}, k) => {
    const middle = Math.min(Math.max((top + bottom) / 2, half), P.height - half);
    return svg('text', {transform: `translate(${14 + LINE * k} ${middle}) rotate(-90)`, 'text-anchor': 'middle', class: 'tick'}, text);
  }));
}

const inHeight = (S, title, height) => lines(S, title, height).slice(0, 3).map(text => ({text, half: wide(S, text) / 2}));

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

function lines(S, words, width) {         // broken where they would be wider than this
  const all = [''];
  for (const word of words.split(' ')) {
    const longer = `${all.at(-1)} ${word}`.trim();
    if (wide(S, longer) < width) all[all.length - 1] = longer;
    else all.push(word);
  }
  return all;
}

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
