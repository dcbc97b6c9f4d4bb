// A Plotly figure that keeps its node, so that zoom survives and nothing flickers. The script is
// loaded once, from this server, when the first chart is shown. Called again when the theme changes.
// A click or a tap in the plot is reported as a place on its x axis, where the server asks for it.
// A chart that may leave the page is saved from here, with its title and where it is from.

const SLOW = 16;                          // ms of one drawing, from which on it waits
const REST = 120;                         // ms without movement until it is drawn
const NARROW = 480;                            // pixels of a narrow chart
const KEY_ROOM = 48, SAVE_ROOM = 108;          // pixels: line and gaps of a name in a narrow legend, both buttons
const LETTER = 7.4, TITLE_LINE = 19;        // pixels of a title: one letter, one line
const FEW = 4;                                 // lines that are named where they end, in place of a legend
const NAME_LINE = 18, LEAD = 12, SAMPLE = 24, BESIDE = 5;  // pixels: height of a name, way to it, piece of line, gap
const MOST_NAMES = 0.34, AXIS_ROOM = 62;       // share of a chart for names; pixels of ticks and title of an axis
const LEGEND_ROOM = 22;                        // pixels above the plot that a legend of one line takes
const LEAST = 170;                             // pixels of a plot that a legend leaves, else the chart grows
const QUIET = {displayModeBar: false, displaylogo: false, showTips: false, responsive: false};

// The page may have named it at its head; it is loaded again where that has failed.
const load = () => window.__plotly ??= new Promise((done, failed) => {
  if (window.Plotly) { done(window.Plotly); return; }
  let script = document.querySelector('script[src$="vendor/plotly.min.js"]');
  if (!script || script.dataset.failed) {
    script = document.createElement('script');
    script.src = new URL('vendor/plotly.min.js', window.__streamlit?.BACKEND_BASE_URL ?? location.href).href;
    document.head.append(script);
  }
  script.addEventListener('load', () => done(window.Plotly));
  script.addEventListener('error', () => {
    script.dataset.failed = 'yes';
    window.__plotly = undefined;
    failed(new Error('not loaded'));
  });
});

export default function ({data, parentElement: root, setTriggerValue}) {
  const box = root.querySelector('[data-chart]');
  box.setAttribute('role', 'figure');
  root.__data = data;
  if (root.__box !== box) { release(root); root.__box = box; }   // the framework made the node anew
  next(root);
  root.__size ||= watch(root);
  root.__follow ||= data.figures.length > 1 ? follow(root) : null;
  box.onpointerdown = data.picks ? down => onRelease(box, down, setTriggerValue) : null;
  offer(root, root.querySelector('.pc-save'));
  return () => {
    if (box.isConnected) return;
    release(root);
    window.Plotly?.purge(box);
  };
}

function release(root) {                  // stop listening for a node that is gone
  root.__size?.disconnect();
  root.__follow?.();
  root.__size = root.__follow = root.__drawn = null;
}

// All charts in view are drawn together, before the next frame of the page: whatever looks at the page
// for each change of it, as the framework's tabs do, then looks once and not once for each chart.
// Those out of view follow, together, when this frame is on screen.
function next(root) {
  const waiting = window.__charts ??= new Set();
  waiting.add(root);
  if (waiting.size > 1) return;
  const begin = () => {
    const roots = [...waiting], seen = roots.filter(inView), later = roots.filter(root => !seen.includes(root));
    waiting.clear();
    draw(seen).then(() => later.length && (seen.length ? afterFrame(() => draw(later)) : draw(later)));
  };
  if (document.hidden) setTimeout(begin);      // which has no frames
  else requestAnimationFrame(begin);
}

function inView({__box: box}) {
  const {top, bottom} = box.getBoundingClientRect();
  return top < innerHeight && bottom > 0;
}

function afterFrame(then) {
  if (document.hidden) { setTimeout(then); return; }
  requestAnimationFrame(() => {
    const drawn = new MessageChannel();
    drawn.port1.onmessage = then;
    drawn.port2.postMessage(0);
  });
}

function draw(roots) {                    // first all is measured, then all is drawn
  const ready = roots.filter(root => root.__box?.isConnected).map(prepared).filter(Boolean);
  if (!ready.length) return Promise.resolve();
  return load().then(plotly => Promise.all(ready.map(async chart => {
    const {root, box, data, layout} = chart;
    if (!box.isConnected || root.__drawn !== chart.drawn) return;
    try {
      await plotly.react(box, data, layout, QUIET);
      await belowTitle(plotly, box);
    } catch { failed(root); }
  })), () => ready.forEach(({root}) => failed(root)));
}

function failed(root) {
  root.__drawn = null;
  root.__box.textContent = 'The chart could not be drawn: reload the page to try again.';
}

// What is to be drawn; nothing where it is there already.
function prepared(root) {
  const {figures, alts, rev} = root.__data, last = figures.length - 1, box = root.__box;
  if (last && window.__budgetRev !== rev + location.pathname) return null;    // the strip or the picture is about to move
  const at = last ? Math.min(window.__budget, last) : 0;
  box.setAttribute('aria-label', alts[at]);
  box.style.display = figures[at] ? '' : 'none';
  if (!figures[at]) return null;
  const look = getComputedStyle(root), width = box.clientWidth;
  const [border, page] = ['border-color', 'background-color'].map(name => look.getPropertyValue(`--st-${name}`).trim());
  const drawn = [figures[at], width, border, page].join('\n');
  if (root.__drawn === drawn) return null;
  root.__drawn = drawn;
  const theme = isDark(page) ? 'dark' : 'light', {data, layout: plain} = inTheme(JSON.parse(figures[at]), theme);
  root.__width = width;
  const layout = wrapped({...plain, autosize: true, hoverlabel: {bgcolor: page, bordercolor: border}},
    width - (root.__data.leaving ? SAVE_ROOM : 0));
  if (!named(layout, data, width, box.clientHeight)) paired(layout, data, width);
  const {top = 0, height = 0} = window.__tops?.get(crowd(layout, data, width)) ?? {};
  if (top > (layout.margin?.t ?? 0)) layout.margin = {...layout.margin, t: top};
  box.style.height = layout.showlegend && height ? `${height}px` : '';
  return root.__chart = {root, box, data, layout, drawn, theme};
}

// While the slider moves, the picture and the sentences come first: a chart is drawn when the
// browser has nothing else to do, and only for the last budget. One that is slow to draw, as on an
// old computer, waits until the slider rests.
function follow(root) {
  const idle = window.requestIdleCallback || (then => setTimeout(then, 60));
  let timer = null, isWaiting = false, cost = 0;
  const catchUp = async () => {
    isWaiting = false;
    if (!root.__box.isConnected) return;
    const from = performance.now();
    await draw([root]);
    cost = performance.now() - from;
  };
  const soon = () => {
    if (isWaiting) return;
    isWaiting = true;
    idle(catchUp, {timeout: 250});
  };
  const moved = () => {
    clearTimeout(timer);
    if (cost > SLOW) timer = setTimeout(soon, REST);
    else soon();
  };
  addEventListener('pc:budget', moved);
  return () => { clearTimeout(timer); removeEventListener('pc:budget', moved); };
}

// A part of a figure with the colours of one theme, in place of those of both.
function inTheme(part, theme) {
  if (Array.isArray(part)) return part.some(each => each && typeof each === 'object') ? part.map(each => inTheme(each, theme)) : part;
  if (!part || typeof part !== 'object') return part;
  if (part.light && part.dark) return part[theme];
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, inTheme(value, theme)]));
}

function isDark(colour) {
  const pen = window.__pen ??= document.createElement('canvas').getContext('2d');
  pen.fillStyle = colour;                      // which is then written as #rrggbb
  const [r, g, b] = [1, 3, 5].map(at => parseInt(pen.fillStyle.slice(at, at + 2), 16));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
}

// A title breaks between words where the chart is narrow, and the plot makes room for its lines.
function wrapped(layout, width) {
  const text = layout.title?.text;
  if (!text || !width) return layout;
  const together = text.replace(/ (?=[=%])|(?<==) /g, '\u00a0');   // numbers stay with their names and units
  const lines = broken(together, ' ', Math.max(12, Math.floor((width - 24) / LETTER)));
  return {...layout, title: {...layout.title, text: lines.join('<br>'),
      pad: {...layout.title.pad, t: (layout.title.pad?.t ?? 0) + TITLE_LINE / 2 * (lines.length - 1)}},
    margin: {...layout.margin, t: (layout.margin?.t ?? 38) + TITLE_LINE * (lines.length - 1)}};
}

// A narrow legend has two entries a line, where their names are short enough.
function paired(layout, traces, width) {
  const names = traces.filter(trace => trace.showlegend !== false).map(trace => trace.name || '');
  if (!layout.showlegend || !width || width > NARROW) return;
  const half = (width - AXIS_ROOM - (layout.margin?.r ?? 8)) / 2;
  if (names.some(name => textWidth(name, layout.font) * 12 / 13 + KEY_ROOM > half)) return;
  layout.legend = {...layout.legend, entrywidth: 0.5, entrywidthmode: 'fraction',
    itemwidth: 30, font: {...layout.legend?.font, size: 12}};
}

// A legend of several lines grows upwards: the plot goes down until it ends below the title, and the
// chart grows where too little of the plot would be left. How far is seen once it is drawn, and
// remembered, since to draw it again takes as long as the first time.
function belowTitle(plotly, box) {
  const {title, legend, margin, showlegend, _size: size} = box._fullLayout || {};
  if (!title?.text || !showlegend || !legend?._height) return;
  const top = 12 + TITLE_LINE * title.text.split('<br>').length + legend._height;
  const grown = Math.max(0, Math.ceil(LEAST - (box.clientHeight - Math.max(top, size.t) - size.b)));
  (window.__tops ??= new Map()).set(crowd(box.layout, box.data, box.clientWidth), {top, height: grown && box.clientHeight + grown});
  if (grown) box.style.height = `${box.clientHeight + grown}px`;
  if (margin.t < top || grown) return plotly.relayout(box, {'margin.t': Math.max(top, margin.t), autosize: true});
}

// All that the height of title and legend hangs on.
function crowd({title, legend}, traces, width) {
  const names = traces.filter(trace => trace.showlegend !== false && trace.visible !== false)
    .map(trace => trace.name || '');
  return [width, title?.text?.split('<br>').length, legend?.font?.size, ...names].join('\n');
}

// A drag zooms instead: while the pointer is down, Plotly covers the window, so that is what listens.
function onRelease(box, down, setTriggerValue) {
  window.addEventListener('pointerup', up => {
    const moved = Math.hypot(up.clientX - down.clientX, up.clientY - down.clientY);
    if (up.pointerId !== down.pointerId || moved > 5 || !box._fullLayout) return;
    const {left, top} = box.getBoundingClientRect(), {l, t, w, h} = box._fullLayout._size;
    const x = down.clientX - left - l, y = down.clientY - top - t;
    if (x >= 0 && x <= w && y >= 0 && y <= h) setTriggerValue('picked', box._fullLayout.xaxis.p2d(x));
  }, {once: true});
}

function watch(root) {                    // of another width it breaks its title and names its lines anew
  const size = new ResizeObserver(() => {
    const box = root.__box;
    if (!box.isConnected || !box.offsetHeight || !box._fullLayout) return;
    if (box.clientWidth === root.__width) window.Plotly?.Plots.resize(box);
    else next(root);
  });
  size.observe(root.__box);
  return size;
}

// ---- names at the ends of lines -----------------------------------------------------------------

// Few lines are named where they end, each beside a piece of its line, so that colour is not all that
// tells them apart. Names never lie on each other or on a line: where there is no room for them, the
// legend stays. Sizes are estimated before anything is drawn, since to draw twice takes twice as long.
function named(layout, traces, width, height) {
  const lines = traces.filter(trace => trace.showlegend !== false && trace.visible !== false);
  if (!layout.showlegend || width <= NARROW || !lines.length || lines.length > FEW || layout.xaxis2 || layout.yaxis2) return false;
  const x = scale(layout.xaxis, traces, 'x'), y = scale(layout.yaxis, traces, 'y');
  const ends = x && y && lines.map(line => endOf(line, x, y));
  if (!ends || ends.includes(null)) return false;
  for (const end of ends) end.wide = LEAD + SAMPLE + BESIDE + textWidth(end.text, layout.font);
  const isLate = end => (1 - end.x) * width < 3 * NAME_LINE, late = ends.filter(isLate);
  const right = 8 + Math.max(0, ...late.map(end => end.wide)), top = (layout.margin?.t ?? 38) - LEGEND_ROOM;
  const plot = {width: width - AXIS_ROOM - Math.max(right, layout.margin?.r ?? 8), height: height - top - AXIS_ROOM};
  if (right > MOST_NAMES * width || plot.height < (late.length + 1) * NAME_LINE) return false;
  for (const end of ends) Object.assign(end, {left: end.x * plot.width, top: (1 - end.y) * plot.height});
  const tops = apart(late.map(end => end.top), NAME_LINE, NAME_LINE / 2, plot.height - NAME_LINE / 2);
  late.forEach((end, k) => { end.at = tops[k]; });
  const taken = [], paths = traces.filter(trace => trace.visible !== false).flatMap(trace => pieces(trace, x, y, plot));
  for (const end of ends.filter(end => !isLate(end))) {
    end.at = inside(end, plot, taken, paths);
    if (end.at === null) return false;
  }
  layout.showlegend = false;
  layout.margin = {...layout.margin, t: top, r: Math.max(right, layout.margin?.r ?? 8)};
  layout.annotations = [...layout.annotations ?? [], ...ends.map(end => ({
    text: end.text, showarrow: false, xanchor: 'left', yanchor: 'middle', align: 'left', y: y.value(1 - end.at / plot.height),
    ...isLate(end) ? {x: 1, xref: 'paper'} : {x: x.value(end.x), xref: 'x'}, xshift: LEAD + SAMPLE + BESIDE,
    font: {...layout.font, size: 13}}))];
  layout.shapes = [...layout.shapes ?? [], ...ends.flatMap(end => {
    const at = y.plain(1 - end.at / plot.height), thin = {color: layout.font?.color, width: .7};
    const shape = {type: 'line', xsizemode: 'pixel', yref: 'y', ...isLate(end) ? {xref: 'paper', xanchor: 1} : {xref: 'x', xanchor: x.plain(end.x)}};
    return [{...shape, x0: isLate(end) ? (end.x - 1) * plot.width + 2 : 2, x1: LEAD, y0: y.plain(end.y), y1: at, line: thin},
      {...shape, x0: LEAD, x1: LEAD + SAMPLE, y0: at, y1: at, line: end.line}];
  })];
  return true;
}

// From the numbers of a trace to shares of an axis, and back: as annotations count, whose numbers are
// logarithms on a logarithmic axis, and as shapes do, whose numbers are plain. Null for other axes.
function scale(axis = {}, traces, letter) {
  const isLog = axis.type === 'log', on = isLog ? Math.log10 : Number;
  if (axis.type && !['log', 'linear'].includes(axis.type) || axis.autorange === 'reversed') return null;
  let [low, high] = axis.range ?? [Infinity, -Infinity];
  if (!axis.range) {
    for (const trace of traces) {
      for (const value of trace[letter] ?? []) {
        if (value === null) continue;
        if (typeof value !== 'number') return null;
        if (!Number.isFinite(on(value))) continue;
        low = Math.min(low, on(value));
        high = Math.max(high, on(value));
      }
    }
    if (axis.rangemode === 'tozero' && !isLog) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
    if (letter === 'y') [low, high] = [low - .05 * (high - low), high + .05 * (high - low)];
  }
  if (!(high > low)) return null;
  const value = share => low + share * (high - low);
  return {share: number => (on(number) - low) / (high - low), value, plain: share => isLog ? 10 ** value(share) : value(share)};
}

// Where a line ends at its right, as shares of both axes; null where that is not in view.
function endOf(trace, x, y) {
  if ((trace.type ?? 'scatter') !== 'scatter' || !/lines/.test(trace.mode ?? '') || !trace.name) return null;
  const isArea = trace.fill === 'toself', seen = (trace.x ?? []).map((value, k) => [x.share(value), y.share(trace.y[k]), k])
    .filter(([a, b, k]) => Number.isFinite(a) && Number.isFinite(b) && trace.x[k] !== null && trace.y[k] !== null);
  const last = Math.max(...seen.map(([a]) => a)), ends = seen.filter(([a]) => a > last - 1e-9);
  const [, height] = isArea ? [last, ends.reduce((sum, [, b]) => sum + b, 0) / ends.length] : ends.at(-1) ?? [];
  if (!(last > 0.02 && last < 1.02 && height > -.01 && height < 1.01)) return null;
  const line = isArea ? {color: trace.fillcolor, width: 9} : {...trace.line, width: Math.max(trace.line?.width ?? 2, 1.6)};
  return {text: trace.name, x: Math.min(last, 1), y: Math.min(Math.max(height, 0), 1), line};
}

// Pixels of straight pieces of a trace, as [x1, y1, x2, y2]; of points a short piece for each.
function pieces(trace, x, y, plot) {
  const at = (trace.x ?? []).map((value, k) => value === null || trace.y?.[k] === null ? null
    : [x.share(value) * plot.width, (1 - y.share(trace.y?.[k])) * plot.height]), isLine = /lines/.test(trace.mode ?? '');
  return at.flatMap((to, k) => {
    const from = isLine && at[k - 1] || to;
    return to && [...to, ...from].every(Number.isFinite) ? [[...from, ...to]] : [];
  });
}

// The height of a name beside a line that ends inside the plot: the nearest one at which it is on no
// line and no other name; null where there is none.
function inside(end, plot, taken, paths) {
  const left = end.left + 4, right = end.left + end.wide + 2;
  if (right > plot.width) return null;
  for (const step of [0, -1, 1, -2, 2]) {
    const at = end.top + .75 * step * NAME_LINE, [top, bottom] = [at - NAME_LINE / 2, at + NAME_LINE / 2];
    const box = {left: left + (step ? LEAD : 0), right, top, bottom};
    if (top < 0 || bottom > plot.height || taken.some(other => meets(box, other)) || paths.some(path => crosses(path, box))) continue;
    taken.push(box);
    return at;
  }
  return null;
}

const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

function crosses([x1, y1, x2, y2], {left, right, top, bottom}) {      // a piece of line and a box
  let from = 0, to = 1;
  for (const [start, step, low, high] of [[x1, x2 - x1, left, right], [y1, y2 - y1, top, bottom]]) {
    if (!step) { if (start < low || start > high) return false; continue; }
    const [a, b] = [(low - start) / step, (high - start) / step];
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  }
  return from <= to;
}

// Places moved as little as is needed to be a gap apart and inside a range: neighbours that are too
// close form a block about their mean (as `apart` in engine/figures/labels.py).
function apart(places, gap, low, high) {
  const order = places.map((_, k) => k).sort((a, b) => places[a] - places[b]), blocks = [], moved = [];
  order.forEach((k, rank) => {
    let block = {mean: places[k] - rank * gap, size: 1};
    while (blocks.length && blocks.at(-1).mean > block.mean) {
      const {mean, size} = blocks.pop();
      block = {mean: (mean * size + block.mean * block.size) / (size + block.size), size: size + block.size};
    }
    blocks.push(block);
  });
  const room = high - gap * (places.length - 1);
  blocks.flatMap(({mean, size}) => Array(size).fill(mean)).forEach((level, rank) => {
    moved[order[rank]] = Math.min(Math.max(level, low), room) + gap * rank;
  });
  return moved;
}

function textWidth(text, font) {
  const pen = window.__pen ??= document.createElement('canvas').getContext('2d');
  pen.font = `13px ${font?.family ?? 'sans-serif'}`;
  return pen.measureText(text).width;
}

// ---- saving -------------------------------------------------------------------------------------

function offer(root, bar) {               // two buttons, seen while the chart is pointed at or has the focus
  bar.hidden = !root.__data.leaving;
  if (bar.hidden) return;
  bar.parentElement.onpointerdown = event => {
    if (event.pointerType !== 'touch') return;
    document.querySelectorAll('.pc-touched').forEach(other => other.classList.remove('pc-touched'));
    bar.parentElement.classList.add('pc-touched');
  };
  for (const button of bar.children) button.onclick = () => save(root, button.dataset.kind);
}

async function save(root, kind) {
  const {box, layout, data, theme} = root.__chart ?? {};
  if (!box?._fullLayout) return;
  const {title, annotations, ...page} = inTheme(JSON.parse(root.__data.leaving), theme), width = Math.max(box.clientWidth, NARROW + 1);
  const [foot] = annotations, lines = broken(foot.text, ' · ', (width - 24) / (LETTER * .84)), hasTitle = Boolean(layout.title?.text);
  const {t = 38, b = 8, l = 8, r = 8} = layout.margin ?? {}, more = {t: hasTitle ? 0 : TITLE_LINE + 12, b: 58 + 16 * lines.length};
  const whole = {...layout, ...page, title: hasTitle ? layout.title : title, autosize: false, width, height: box.clientHeight + more.t + more.b,
    margin: {t: t + more.t, b: b + more.b, l: l + 8, r: r + 4},
    annotations: [...layout.annotations ?? [], {...foot, text: lines.join('<br>')}]};
  const plotly = await load(), text = await plotly.toImage({data, layout: whole}, {format: 'svg', width, height: whole.height, imageDataOnly: true});
  const name = `privacy-curves-${(whole.title.text.replace(/<br>/g, ' ').toLowerCase().match(/[a-z0-9.]+/g) ?? []).join('-').slice(0, 60)}`;
  if (kind === 'svg') return download(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`, `${name}.svg`);
  const image = new Image();
  image.onload = () => {
    const canvas = Object.assign(document.createElement('canvas'), {width: 2 * width, height: 2 * whole.height});
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    download(canvas.toDataURL('image/png'), `${name}.png`);
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

function broken(text, mark, most) {       // into lines of so many letters, at marks
  const lines = [''];
  for (const part of text.split(mark)) {
    const longer = [lines.at(-1), part].filter(Boolean).join(mark);
    if (longer.length > most && lines.at(-1)) lines.push(part);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

function download(url, name) {
  Object.assign(document.createElement('a'), {href: url, download: name}).click();
}
