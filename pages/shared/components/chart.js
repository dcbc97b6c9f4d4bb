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
  draw(root, box);
  root.__size ||= watch(box);
  root.__follow ||= data.figures.length > 1 ? follow(root, box) : null;
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
  root.__size = root.__follow = null;
}

function draw(root, box) {
  const {figures, alts, rev} = root.__data, last = figures.length - 1;
  if (last && window.__budgetRev !== rev) return;    // the strip or the picture is about to move
  const at = last ? Math.min(window.__budget, last) : 0;
  box.setAttribute('aria-label', alts[at]);
  box.style.display = figures[at] ? '' : 'none';
  if (!figures[at]) return;
  const figure = JSON.parse(figures[at]), layout = wrapped(themed(figure.layout || {}, root), box.clientWidth);
  paired(layout, figure.data, box.clientWidth);
  return load().then(async plotly => {
    if (!box.isConnected) return;
    await plotly.react(box, figure.data, layout, QUIET);
    return belowTitle(plotly, box);
  })
    .catch(() => { box.textContent = 'The chart could not be drawn: reload the page to try again.'; });
}

// While the slider moves, the picture and the sentences come first: a chart is drawn when the
// browser has nothing else to do, and only for the last budget. One that is slow to draw, as on an
// old computer, waits until the slider rests.
function follow(root, box) {
  const idle = window.requestIdleCallback || (then => setTimeout(then, 60));
  let timer = null, isWaiting = false, cost = 0;
  const catchUp = async () => {
    isWaiting = false;
    if (!box.isConnected) return;
    const from = performance.now();
    await draw(root, box);
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

function themed(layout, root) {           // the figure's own choices win
  const css = name => getComputedStyle(root).getPropertyValue(name).trim();
  const template = layout.template?.layout || {};
  const made = {...layout, autosize: true, paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)',
    font: {color: css('--st-text-color'), family: css('--st-font'), ...template.font, ...layout.font}};
  delete made.width;
  delete made.height;
  const axes = Object.keys(layout).filter(name => /^[xy]axis\d*$/.test(name));
  for (const axis of new Set([...axes, 'xaxis', 'yaxis'])) {
    const {gridcolor, linecolor} = {gridcolor: css('--st-border-color'), linecolor: css('--st-border-color'),
      ...template[`${axis[0]}axis`]};
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

// A legend of several lines grows upwards: the plot goes down until it ends below the title.
function belowTitle(plotly, box) {
  const {title, legend, margin, showlegend} = box._fullLayout || {};
  if (!title?.text || !showlegend || !legend?._height) return;
  const top = 12 + TITLE_LINE * title.text.split('<br>').length + legend._height;
  if (margin.t < top) return plotly.relayout(box, {'margin.t': top});
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
