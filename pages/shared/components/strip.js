// The strip: chips, the two numbers of the chosen budget, Copy link and Pin scenario. It follows
// `pc:budget`.

const WAIT = 'Still working: press again in a moment';
const SVG = 'http://www.w3.org/2000/svg';
const ICONS = {
  flask: 'M9 3h6M10 3v6L5 19a1.4 1.4 0 0 0 1.3 2h11.4a1.4 1.4 0 0 0 1.3-2L14 9V3M8 15h8',
  globe: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M3 12h18M12 3c3 3 3.5 6 3.5 9s-.5 6-3.5 9c-3-3-3.5-6-3.5-9s.5-6 3.5-9',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8M4 21c0-4 4-6 8-6s8 2 8 6',
  shield: 'M12 3l7 2.5v5.5c0 5-3 8-7 10-4-2-7-5-7-10V5.5zM12 11.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4M8.5 16c.8-1.8 2-2.5 3.5-2.5s2.7.7 3.5 2.5',
  check: 'M4 12l5 6L20 6',
  sliders: 'M4 7h9M17 7h3M15 5v4M4 12h3M11 12h9M9 10v4M4 17h9M17 17h3M15 15v4',
  warning: 'M12 4l9 16H3zM12 10v4M12 17v.1',
  pin: 'M9 3h6M10 3v7l-3 4h10l-3-4V3M12 14v7',
  link: 'M9 12h6M10 7H7a5 5 0 0 0 0 10h3M14 7h3a5 5 0 0 1 0 10h-3',
};

export default function ({data, parentElement: root, setTriggerValue}) {
  const S = root.__strip ||= {host: root.host, box: root.querySelector('#strip')};
  S.report = () => setTriggerValue('pin', true);
  S.act = () => setTriggerValue('action', true);
  const text = JSON.stringify(data);
  if (S.text !== text) {
    S.text = text;
    S.data = data;
    build(S);
  }
  if (!S.stop) wire(S);
  if (S.arrived !== undefined && S.arrived !== data.arrived) {      // the answer to a button below
    requestAnimationFrame(() => S.host.scrollIntoView({block: 'start'}));
  }
  S.arrived = data.arrived;
  adopt(S);
  show(S);
  return () => { if (!S.host.isConnected && S.stop) { S.stop(); S.stop = null; } };
}

function adopt(S) {                       // the server moved the budget: link, Back, a preset
  const {rev, budget} = S.data;
  if (window.__budgetRev === rev + location.pathname && window.__budget !== undefined) return;
  window.__budgetRev = rev + location.pathname;
  window.__budget = budget;
  dispatchEvent(new CustomEvent('pc:budget', {detail: budget}));
}

function wire(S) {
  const follow = () => show(S);
  const hide = event => { if (event.key === 'Escape') S.tip.hidden = true; };
  addEventListener('pc:budget', follow);
  document.addEventListener('keydown', hide);
  S.box.addEventListener('keydown', event => along(S, event));
  S.box.addEventListener('focusin', event => stopAt(S, event.target));
  S.stop = () => {
    removeEventListener('pc:budget', follow);
    document.removeEventListener('keydown', hide);
  };
}

// A toolbar is one stop of the Tab key, so that the controls below are near; arrows move inside it.
function along(S, event) {
  const all = [...S.box.querySelectorAll('button')], at = all.indexOf(event.target);
  const step = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1}[event.key];
  if (at < 0 || step === undefined) return;
  event.preventDefault();
  all[(step + all.length) % all.length].focus();
}

function stopAt(S, chosen) {
  const all = [...S.box.querySelectorAll('button')];
  if (all.includes(chosen)) all.forEach(button => { button.tabIndex = button === chosen ? 0 : -1; });
}

function show(S) {                        // called on every movement of the slider
  const {budgets, words} = S.data, last = budgets.length - 1;
  const at = last === 0 ? 0 : Math.min(window.__budget ?? S.data.budget, last), now = budgets[at];
  showPin(S, last === 0 || at === S.data.budget);
  if (!now || S.now === now) return;
  S.now = now;
  const {chip, label} = S.budget;
  chip.className = `chip ${now.weak ? 'orange' : 'gray'}`;
  chip.firstChild.replaceWith(icon(now.weak ? 'warning' : 'sliders'));
  label.textContent = now.weak ? `${now.chip} · weak protection` : now.chip;
  chip.tip = now.weak ? `${words.weak} ${words.budget}` : words.budget;
  S.odds.textContent = now.odds;
  S.error.textContent = now.error;
  S.odds.parentNode.hidden = !now.odds;
  S.error.parentNode.hidden = !now.error;
  S.dot.hidden = !now.odds || !now.error;
  S.dot.parentNode.hidden = !now.odds && !now.error;
}

function showPin(S, here) {               // what is pinned is the budget the server knows of
  const {pin, words} = S.data;
  if (!pin) return;
  const name = here ? pin.name : '', reason = name ? '' : pin.reason;
  S.pin.lastChild.textContent = name ? `Pinned as ${name}` : 'Pin scenario';
  S.pin.tip = name ? words.pinned : reason || words.pin;
  S.pin.setAttribute('aria-disabled', String(Boolean(reason)));
  acts(S.pin, () => name || reason ? say(S, S.pin.tip) : pinned(S));
}

// ---- building -----------------------------------------------------------------------------------

function node(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);                // strings become text, never markup
  return made;
}

function icon(name) {
  const made = document.createElementNS(SVG, 'svg'), path = document.createElementNS(SVG, 'path');
  made.setAttribute('viewBox', '0 0 24 24');
  made.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', ICONS[name] || ICONS.flask);
  made.append(path);
  return made;
}

function build(S) {
  const {chips, words, link} = S.data;
  S.now = null;
  S.tip = node('div', '');
  Object.assign(S.tip, {id: 'tip', hidden: true});
  S.tip.setAttribute('role', 'tooltip');
  S.budget = {label: node('span', '')};
  S.budget.chip = explained(S, node('button', 'chip gray', icon('sliders'), S.budget.label), words.budget);
  S.odds = node('b', '');
  S.error = node('b', '');
  S.dot = node('span', 'dot', '·');
  S.status ||= node('span', '');         // kept when the strip is drawn anew: it may hold an answer
  S.status.setAttribute('role', 'status');
  const copy = explained(S, node('button', '', icon('link'), 'Copy link'), words.link);
  copy.setAttribute('aria-disabled', String(!link));
  acts(copy, () => link ? copyLink(S) : say(S, words.link));
  S.pin = S.data.pin ? explained(S, node('button', '', icon('pin'), node('span', '')), words.pin) : null;
  const facts = chips.map(c => fact(S, c));
  S.box.replaceChildren(node('div', 'facts', ...facts, S.budget.chip),
    node('div', 'numbers', explained(S, node('button', '', 'Attacker’s accuracy ', S.odds, ' (guessing: 50 %)'), words.odds), S.dot,
      explained(S, node('button', '', `${S.data.error}: `, S.error), words.error)),
    node('div', 'ways', copy, ...(S.pin ? [S.pin] : []), S.status), S.tip);
  stopAt(S, S.box.querySelector('button'));
}

function fact(S, {kind, icon: name, text, help, action}) {
  const words = action ? [node('span', '', text, ' ·'), node('u', '', action)] : [node('span', '', text)];
  const chip = explained(S, node('button', `chip ${kind}${action ? ' act' : ''}`, icon(name), ...words), help);
  if (action) acts(chip, () => S.act());
  return chip;
}

function explained(S, button, tip) {      // a tooltip for pointer, keyboard and touch
  button.type = 'button';
  button.dataset.explains = '';            // by hover and focus; a press does nothing
  button.tip = tip;
  button.setAttribute('aria-describedby', 'tip');
  const open = () => {
    S.tip.textContent = button.tip;
    S.tip.hidden = false;
    const room = S.box.clientWidth - S.tip.offsetWidth - 8;
    S.tip.style.left = `${Math.max(0, Math.min(button.offsetLeft, room))}px`;
    S.tip.style.top = `${button.offsetTop + button.offsetHeight + 6}px`;
  };
  const close = () => { S.tip.hidden = true; };
  Object.assign(button, {onmouseenter: open, onfocus: open, onmouseleave: close, onblur: close});
  return button;
}

function acts(button, pressed) {
  delete button.dataset.explains;
  button.onclick = pressed;
}

// ---- copy link ----------------------------------------------------------------------------------

async function copyLink(S) {
  say(S, await settled() ? await copied(location.href) : WAIT);
}

function say(S, answer) {
  S.status.textContent = answer;
  clearTimeout(S.timer);
  S.timer = setTimeout(() => { S.status.textContent = ''; }, 4000);
}

async function pinned(S) {                // what is on screen, once the server knows it
  if (await settled()) S.report();
  else say(S, WAIT);
}

async function settled() {                // the address follows a report: send it, wait for it
  const patience = 8000, before = location.href, asked = {waiting: false, patience};
  const end = performance.now() + patience;
  dispatchEvent(new CustomEvent('pc:flush', {detail: asked}));
  while (asked.waiting && location.href === before && performance.now() < end) {
    await new Promise(go => setTimeout(go, 40));
  }
  return !asked.waiting || location.href !== before;
}

async function copied(text) {
  try {
    if (isSecureContext && navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return 'Link copied';
    }
  } catch (_) { /* not allowed here: the older way may be */ }
  const area = document.createElement('textarea');
  area.value = text;
  area.style.cssText = 'position:fixed;opacity:0';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done ? 'Link copied' : 'Press Ctrl+C to copy the address';
}
