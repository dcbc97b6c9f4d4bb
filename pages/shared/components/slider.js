// A slider for ε. While it moves, `pc:budget` tells the other pieces of the page; where it rests, the
// server is told. Text from the server goes through textContent only.

const REST = 60;                          // ms without movement before the server is told

export default function ({data, parentElement: root, setStateValue}) {
  const S = root.__slider ||= {host: root.host, e: root.querySelector('input'), value: root.querySelector('strong')};
  Object.assign(S, {data, send: step => setStateValue('picked', {budget: step, rev: data.rev})});
  if (!S.stop) wire(S);
  S.e.max = data.steps.length - 1;
  S.e.setAttribute('aria-label', data.label);
  adopt(S);
  return () => { if (!S.host.isConnected && S.stop) { S.stop(); S.stop = null; } };
}

function adopt(S) {                       // the server moved the budget: first mount, link, Back
  const {rev, at} = S.data, isNew = S.rev !== rev;
  S.rev = rev;
  // a strip of one budget says nothing of where this slider stands: the first mount decides
  if (!isNew && window.__budget !== undefined) { show(S, window.__budget); return; }
  window.__budgetRev = rev + location.pathname;
  window.__budget = at;
  S.reported = at;
  show(S, at);
  dispatchEvent(new CustomEvent('pc:budget', {detail: at}));
}

function show(S, step) {
  const {steps} = S.data, at = Math.min(step, steps.length - 1);
  S.e.value = at;
  S.e.setAttribute('aria-valuetext', steps[at]);
  S.e.parentElement.style.setProperty('--share', at / Math.max(1, steps.length - 1));
  S.value.textContent = steps[at];
}

function report(S) {                      // now, and only when something is new
  clearTimeout(S.timer);
  const step = +S.e.value;
  if (step === S.reported || !S.host.isConnected) return false;
  Object.assign(S, {reported: step, reportedAt: performance.now(), reportedFrom: location.href});
  S.send(step);
  return true;
}

function wire(S) {
  S.e.oninput = () => {
    const step = +S.e.value;
    window.__budget = step;
    show(S, step);
    dispatchEvent(new CustomEvent('pc:budget', {detail: step}));
  };
  S.e.onchange = () => { clearTimeout(S.timer); S.timer = setTimeout(() => report(S), REST); };
  const flush = event => {                // whoever copies the link wants that of what is on screen
    report(S);
    event.detail.waiting ||= S.reportedFrom === location.href && performance.now() - S.reportedAt < event.detail.patience;
  };
  addEventListener('pc:flush', flush);
  S.stop = () => { clearTimeout(S.timer); removeEventListener('pc:flush', flush); };
}
