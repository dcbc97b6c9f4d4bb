// A Plotly figure that keeps its node, so that zoom survives and nothing flickers. The script is
// loaded once, from this server, when the first chart is shown. Called again when the theme changes.
// A click or a tap in the plot is reported as a place on its x axis, where the server asks for it.

const SLOW = 16;                          // ms of one drawing, from which on it waits
const REST = 120;                         // ms without movement until it is drawn
const NARROW = 480, SHORT = 20;                // pixels of a narrow chart, letters of a short name
const LETTER = 7.4, TITLE_LINE = 19;        // pixels of a title: one letter, one line
const QUIET = {displayModeBar: false, displaylogo: false, showTips: false, responsive: false};

const load = () => window.__plotly ??= new Promise((done, failed) => {
  const script = document.createElement('script');
  script.src = '/vendor/plotly.min.js';
  script.onload = () => done(window.Plotly);
  script.onerror = () => { window.__plotly = undefined; failed(new Error('not loaded')); };
  document.head.append(script);
});

export default function ({data, parentElement: root, setTriggerValue}) {
  const box = root.querySelector('[data-chart]');
  box.setAttribute('role', 'figure');
  root.__data = data;
  if (root.__box !== box) { release(root); root.__box = box; }   // the framework made the node anew
  next(root);
  root.__size ||= watch(box);
  root.__follow ||= data.figures.length > 1 ? follow(root) : null;
  box.onpointerdown = data.picks ? down => onRelease(box, down, setTriggerValue) : null;
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

// All charts of a page are drawn together, before its next frame: whatever looks at the page for each
// change of it, as the framework's tabs do, then looks once and not once for each chart.
function next(root) {
  const waiting = window.__charts ??= new Set();
  waiting.add(root);
  if (waiting.size > 1) return;
  const begin = () => { const roots = [...waiting]; waiting.clear(); draw(roots); };
  if (document.hidden) setTimeout(begin);      // which has no frames
  else requestAnimationFrame(begin);
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
  if (last && window.__budgetRev !== rev) return null;    // the strip or the picture is about to move
  const at = last ? Math.min(window.__budget, last) : 0;
  box.setAttribute('aria-label', alts[at]);
  box.style.display = figures[at] ? '' : 'none';
  if (!figures[at]) return null;
  const look = getComputedStyle(root), width = box.clientWidth;
  const [text, font, border] = ['text-color', 'font', 'border-color'].map(
    name => look.getPropertyValue(`--st-${name}`).trim());
  const drawn = [figures[at], width, text, font, border].join('\n');
  if (root.__drawn === drawn) return null;
  root.__drawn = drawn;
  const {data, layout: plain = {}} = JSON.parse(figures[at]);
  const layout = wrapped(themed(plain, {text, font, border}), width);
  paired(layout, data, width);
  const top = window.__tops?.get(crowd(layout, data, width));
  if (top > (layout.margin?.t ?? 0)) layout.margin = {...layout.margin, t: top};
  return {root, box, data, layout, drawn};
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

function themed(layout, {text, font, border}) {           // the figure's own choices win
  const template = layout.template?.layout || {};
  const made = {...layout, autosize: true, paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)',
    font: {color: text, family: font, ...template.font, ...layout.font}};
  delete made.width;
  delete made.height;
  const axes = Object.keys(layout).filter(name => /^[xy]axis\d*$/.test(name));
  for (const axis of new Set([...axes, 'xaxis', 'yaxis'])) {
    const {gridcolor, linecolor} = {gridcolor: border, linecolor: border, ...template[`${axis[0]}axis`]};
    made[axis] = {gridcolor, linecolor, ...layout[axis]};
  }
  return made;
}

// A title breaks between words where the chart is narrow, and the plot makes room for its lines.
function wrapped(layout, width) {
  const text = layout.title?.text;
  if (!text || !width) return layout;
  const most = Math.max(12, Math.floor((width - 24) / LETTER)), lines = [''];
  for (const word of text.split(' ')) {
    const longer = (lines.at(-1) + ' ' + word).trim();
    if (longer.length > most && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return {...layout, title: {...layout.title, text: lines.join('<br>'),
      pad: {...layout.title.pad, t: (layout.title.pad?.t ?? 0) + TITLE_LINE / 2 * (lines.length - 1)}},
    margin: {...layout.margin, t: (layout.margin?.t ?? 38) + TITLE_LINE * (lines.length - 1)}};
}

// A narrow legend has two entries a line, where their names are short enough.
function paired(layout, traces, width) {
  const names = traces.filter(trace => trace.showlegend !== false).map(trace => trace.name || '');
  if (!layout.showlegend || !width || width > NARROW || names.some(name => name.length > SHORT)) return;
  layout.legend = {...layout.legend, entrywidth: 0.5, entrywidthmode: 'fraction',
    itemwidth: 30, font: {...layout.legend?.font, size: 12}};
}

// A legend of several lines grows upwards: the plot goes down until it ends below the title. How far
// is seen once it is drawn, and remembered, since to draw it again takes as long as the first time.
function belowTitle(plotly, box) {
  const {title, legend, margin, showlegend} = box._fullLayout || {};
  if (!title?.text || !showlegend || !legend?._height) return;
  const top = 12 + TITLE_LINE * title.text.split('<br>').length + legend._height;
  (window.__tops ??= new Map()).set(crowd(box.layout, box.data, box.clientWidth), top);
  if (margin.t < top) return plotly.relayout(box, {'margin.t': top});
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

function watch(box) {
  const size = new ResizeObserver(() => {
    if (box.isConnected && box.offsetHeight && box._fullLayout) window.Plotly?.Plots.resize(box);
  });
  size.observe(box);
  return size;
}
