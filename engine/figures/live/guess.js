// Predict, then reveal. The drawing comes from the server with everything in it; what happened is
// hidden until the visitor has moved the handles and asks for it; a handle that stands where it began is
// no guess and counts in no score. Guesses stay in this browser: those
// of this visit in its session, so that they outlive a change of the page, and how far off each first
// guess was in its own storage. Only a pupil of a class sends theirs, by a button that says so.
//
// `mode` is "page", "slides" (a teacher's, over everything) or "pupil".

const SVG = 'http://www.w3.org/2000/svg';
const STORE = 'privacy-curves-guesses';   // how far off first guesses were, by lesson
const VISIT = 'privacy-curves-handles';   // where handles stand and what is revealed, by picture
const TEACHER = 'privacy-curves-class';   // what a teacher comes back to their class with
const PHONE = 520;                        // narrower than this: the second drawing
const REACH = 22;                         // pixels around a handle that take hold of it
const TAP = 8;                            // pixels: a shorter way of a finger is a tap
const SOME = 5;                           // steps of the large keys
const SHOWS = 1, QUESTION = 2, ANSWER = 3; // slides of a lesson, after the first, which asks
const FINGERS = matchMedia('(hover: none) and (pointer: coarse)');   // there are no arrow keys
let made = {};                            // as in VISIT, where the session's storage is closed

export default function ({data, parentElement: root, setStateValue, setTriggerValue}) {
  const S = root.__guess ||= {root, host: root.host, q: s => root.querySelector(s)};
  S.send = () => setStateValue('step', {tag: S.data.tag, step: S.data.mode === 'slides' ? S.step : Number(S.isRevealed)});
  S.ask = what => setTriggerValue('asked', what);
  S.hand = () => setTriggerValue('sent', {tag: S.data.tag, values: S.values.map((value, k) => S.moved[k] ? value : null)});
  if (!S.stop) wire(S);
  if (S.data?.tag !== data.tag) take(S, data);
  if (data.mode === 'pupil') {            // the teacher reveals
    if (data.is_revealed !== S.isRevealed && data.is_revealed && isTouched(S)) keep(S, data);
    S.isRevealed = data.is_revealed;
  }
  S.data = data;
  if (S.isRevealed && !data.is_revealed && !S.isTold) S.send();   // the server forgets with the page
  S.isTold = S.isRevealed;
  stand(S);
  paint(S);                               // also called when the theme changes
  return () => { if (!S.host.isConnected && S.stop) { S.stop(); S.stop = null; } };
}

function take(S, data) {                  // another lesson, or other noise: a new guess
  if (S.data && S.data.lesson !== data.lesson) {
    document.querySelector('[data-testid=stMain]')?.scrollTo(0, 0);
  }
  const mine = data.mode === 'slides' ? undefined : visit()[data.tag];   // a class begins with the question
  S.isTold = false;
  S.step = data.mode === 'slides' ? {shows: SHOWS, question: QUESTION, answer: ANSWER}[data.slide.start] || 0 : 0;
  S.isRevealed = data.mode === 'slides' ? S.step > 0 : data.is_revealed || Boolean(mine?.isRevealed && data.mode !== 'pupil');
  S.isRestored = S.isRevealed && !mine;   // shown, but the guess is forgotten: no score
  S.moved = data.guess.start.map((_, k) => Boolean(mine?.moved?.[k]));
  S.values = [...(mine?.values || data.guess.start)];
}

function visit() {
  try { made = JSON.parse(sessionStorage.getItem(VISIT)) || {}; } catch (_) { /* closed, or spoilt */ }
  return made;
}

function remember(S) {
  if (S.data.mode === 'slides') return;   // what is shown to a class is no guess of the teacher
  const {values, isRevealed, moved} = S;
  made = {...visit(), [S.data.tag]: {values, isRevealed, moved}};
  try { sessionStorage.setItem(VISIT, JSON.stringify(made)); } catch (_) { /* closed */ }
}

function forget(S) {
  made = {};
  try { localStorage.removeItem(STORE); sessionStorage.removeItem(VISIT); } catch (_) { /* closed */ }
  tell(S);
}

function wire(S) {
  S.q('#reveal').onclick = () => S.data.mode === 'pupil' ? S.hand() : reveal(S, !S.isRevealed);
  S.q('#forget').onclick = () => { forget(S); S.q('#reveal').focus(); };
  const then = (id, act) => {             // back to the question, so that the space bar reveals again
    S.q(id).onclick = () => { S.q('#question').focus(); act(); };
  };
  then('#back', () => step(S, -1));
  then('#forth', () => step(S, 1));
  then('#room', () => S.ask(S.data.room ? 'end' : 'open'));
  S.q('#leave').onclick = () => S.ask('leave');
  const stage = S.q('#stage');
  stage.onkeydown = event => slideKey(S, event);
  stage.oncancel = event => { event.preventDefault(); S.ask('leave'); };   // Escape
  for (const box of [stage, S.q('#side')]) box.onscroll = () => hintMore(S);
  const size = new ResizeObserver(() => {
    if (S.data?.mode === 'slides') hintMore(S);
    const {clientWidth, clientHeight} = S.q('#plot');
    if (S.data && (clientWidth !== S.width || (S.data.mode === 'slides' && clientHeight !== S.height))) paint(S);
  });
  size.observe(S.q('#plot'));
  S.stop = () => size.disconnect();
}

function reveal(S, isRevealed) {
  S.isRevealed = isRevealed;
  S.isRestored = false;
  if (isRevealed && isTouched(S) && S.data.mode !== 'slides') keep(S, S.data);
  remember(S);
  S.isTold = isRevealed;
  S.send();
  show(S);
}

// ---- slides -----------------------------------------------------------------------------------

function stand(S) {                       // in the page, or over everything
  const {mode, slide, room} = S.data, stage = S.q('#stage'), box = S.q('#guess'), isSlide = mode === 'slides';
  box.classList.toggle('slides', isSlide);
  box.classList.toggle('pupil', mode === 'pupil');
  for (const id of ['#top', '#side', '#bar']) S.q(id).hidden = !isSlide;
  if (isSlide && !stage.open) {
    stage.append(box);
    stage.showModal();
    S.q('#question').focus();
  } else if (!isSlide && stage.open) {
    stage.close();
    stage.after(box);
  }
  if (mode !== 'pupil') knowClass(S, room);
  if (!isSlide) return;
  S.q('#heading').textContent = slide.heading;
  headline(S);
  stage.setAttribute('aria-label', slide.heading);
  seatClass(S, room);
}

function headline(S) {                    // what is asked, first in the figure and last in words
  const {slide} = S.data, text = S.step < QUESTION ? slide.ask : slide.question.ask, node = S.q('#question');
  if (node.textContent === text) return;
  if (!S.q('#plot').contains(S.root.activeElement)) node.focus();
  node.textContent = text;
}

function knowClass(S, room) {             // all windows of the teacher’s browser come back to the class
  try {
    if (room) localStorage.setItem(TEACHER, room.key);
    else if (S.wasRoom) localStorage.removeItem(TEACHER);
    else if (localStorage.getItem(TEACHER) && !S.isBack) {             // loaded again, or in another window
      S.isBack = true;
      S.ask(`back:${localStorage.getItem(TEACHER)}`);
    }
  } catch (_) { /* storage is closed */ }
  S.wasRoom = Boolean(room);
}

function seatClass(S, room) {             // the code to scan, and how many have guessed
  S.q('#class').hidden = !room;
  S.q('#guess').classList.toggle('with-class', Boolean(room));            // the pupils guess: the teacher does not
  S.q('#room').textContent = room ? 'End the class' : 'Open a class';
  if (!room) return;
  S.q('#address').textContent = room.link;
  const note = paragraph(room.note);
  if (S.q('#join').textContent !== note.textContent) S.q('#join').replaceChildren(...note.childNodes);
  const text = `● ${room.count} ${room.count === 1 ? 'guess' : 'guesses'} from the class${median(S)}`;
  if (S.q('#count').textContent !== text) S.q('#count').textContent = text;
  if (S.code === room.code) return;
  S.code = room.code;
  const drawing = room.qr ? [new DOMParser().parseFromString(room.qr, 'image/svg+xml').documentElement] : [];
  for (const node of drawing) {
    node.setAttribute('role', 'img');
    node.setAttribute('aria-label', `Code to scan: ${room.link}`);
  }
  S.q('#code').replaceChildren(...drawing);
}

function median(S) {                      // of a class that guessed one number, once it is revealed
  const values = S.data.guesses.map(([value]) => value).sort((a, b) => a - b), middle = (values.length - 1) / 2;
  if (!S.isRevealed || !values.length || S.data.guess.truth.length > 1) return '';
  const half = (values[Math.floor(middle)] + values[Math.ceil(middle)]) / 2, {decimals, unit} = S.data.guess;
  const isBetween = Math.abs(+half.toFixed(decimals) - half) > 1e-9;      // of an even number of guesses
  return `, median ${said(S, half, unit, decimals + Number(isBetween))}`;
}

function slideKey(S, event) {             // a button keeps its own keys, a square those it has taken
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const isButton = S.root.activeElement?.localName === 'button';
  const way = {ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1}[event.key];
  if (event.key === ' ' && !isButton) {
    event.preventDefault();
    if (S.step < ANSWER) step(S, 1);      // it does not leave the lesson
  } else if (way) {
    event.preventDefault();
    step(S, way);
  }
}

function step(S, way) {                   // guess, reveal, question, answer; next
  const {slide} = S.data, to = S.step + way;
  if (to < 0 || to > ANSWER) {
    if (way > 0 ? slide.has_next : slide.has_previous) S.ask(way > 0 ? 'next' : 'previous');
  } else if (slide.has_game && S.step + to === SHOWS + QUESTION) {
    S.ask('game');
  } else {
    S.step = to;
    if (S.isRevealed !== to > 0) reveal(S, to > 0);
    else {
      show(S);
      S.send();
    }
  }
}

function paragraph(text) {                // bold is the only markup
  const line = document.createElement('p');
  line.append(...text.split('**').map((part, k) => {
    if (k % 2 === 0) return part;
    const strong = document.createElement('strong');
    strong.textContent = part;
    return strong;
  }));
  return line;
}

function options(S) {                     // A, B, C; explained and counted once the answer is shown
  const list = document.createElement('ol'), isTold = S.step === ANSWER, {room} = S.data;
  const all = room?.answers.reduce((sum, count) => sum + count, 0);
  list.append(...S.data.slide.question.options.map(({text, why, is_right}, k) => {
    const item = document.createElement('li'), mark = isTold && is_right ? '**Right:** ' : '';
    item.classList.toggle('right', isTold && is_right);
    item.append(paragraph(`${mark}${text}`), ...(isTold ? [paragraph(why)] : []));
    if (isTold && all) item.append(counted(`● ${room.answers[k]} of ${all}`));
    return item;
  }));
  return [list, ...(room && !isTold ? [counted(`● ${all} ${all === 1 ? 'answer' : 'answers'} from the class`)] : [])];
}

function counted(text) {                  // what the class has said
  const line = paragraph(text);
  line.className = 'counted';
  return line;
}

function tellSlide(S) {
  const {slide} = S.data, isAsking = S.step >= QUESTION;
  headline(S);
  tick(S);
  S.q('#guess').classList.toggle('asking', isAsking);
  S.q('#text').replaceChildren(...(isAsking ? options(S)
    : (S.isRevealed ? [slide.shows, ...slide.explains] : slide.story).map(paragraph)));
  S.q('#forth').textContent = ['Reveal', slide.has_game ? 'Play ▶' : 'One question ▶', 'Answer', 'Next lesson ▶'][S.step];
  S.q('#forth').disabled = S.step === ANSWER && !slide.has_next;
  S.q('#back').disabled = !S.step && !slide.has_previous;
  hintMore(S);
}

function tick(S) {                        // the step, and how far the hour is
  const {began, minutes} = S.data.slide ?? {}, step = `Step ${S.step + 1} of ${ANSWER + 1}`;
  const past = Math.max(0, Math.floor((Date.now() / 1000 - began) / 60));
  S.q('#steps').textContent = began ? `${step} · minute ${past} of ${minutes}` : step;
  if (began && !S.clock) S.clock = setInterval(() => S.host.isConnected && S.data.slide ? tick(S) : S.clock = clearInterval(S.clock), 10000);
}

function hintMore(S) {                    // on a small screen: words below what is seen
  const rest = [S.q('#stage'), S.q('#side')].map(box => box.scrollHeight - box.clientHeight - box.scrollTop);
  S.q('#more').hidden = Math.max(...rest) < 12;
}

// ---- the score --------------------------------------------------------------------------------

const hasOthers = S => S.data.guesses.length > Number(S.data.is_sent);    // whose guesses are not this pupil's
const countMoved = S => S.moved.filter(Boolean).length, isTouched = S => countMoved(S) > 0;

function off(S) {                         // root mean square distance over the handles that were moved
  const squares = S.data.guess.truth.map((t, k) => (S.values[k] - t) ** 2).filter((_, k) => S.moved[k]);
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}

function saidMoved(S) {                   // of how many handles, where some stand as they began
  const count = countMoved(S), all = S.moved.length;
  return count < all ? `${count} of ${all} squares` : '';
}

function saidOff(S) {
  const {unit, off_unit} = S.data.guess;
  return said(S, off(S), off_unit || unit);
}

function verdict(S) {
  const {close} = S.data.guess, far = off(S);
  return S.data.verdicts[far <= close ? 0 : far <= 3 * close ? 1 : 2];
}

function said(S, value, unit = S.data.guess.unit, decimals = S.data.guess.decimals) {
  return `${value.toFixed(decimals).replace('-', '\u2212')} ${unit}`.trim();
}

function kept() {
  try { return JSON.parse(localStorage.getItem(STORE)) || {}; } catch (_) { return {}; }
}

function keep(S, data) {                  // the first guess of a lesson counts
  const all = kept();
  all[data.lesson] ||= {off: saidOff(S), verdict: verdict(S)};
  try { localStorage.setItem(STORE, JSON.stringify(all)); } catch (_) { /* storage is closed */ }
}

function tell(S) {
  const {mode, is_sent} = S.data, mine = S.isRevealed && !S.isRestored && isTouched(S) && mode !== 'slides';
  const some = saidMoved(S), isQuiet = mode === 'slides' || mode === 'pupil' && !S.isRevealed;
  const all = isQuiet ? [] : Object.entries(kept());
  S.q('#result').textContent = mine ? `${S.data.off} ${saidOff(S)}${some && ` (${some} moved)`}: ${verdict(S)}.`
    : mode === 'pupil' && is_sent && !S.isRevealed ? 'Your guess has arrived. You can change it until the answer is revealed.'
    : S.isRevealed && mode === 'page' ? 'No guess was made, so none is scored.' : '';
  S.q('#sofar').textContent = all.length ? `Your guesses so far, kept in this browser only: ${
    all.map(([lesson, g]) => `lesson ${lesson}: ${g.verdict} (${g.off} off)`).join(' · ')}.` : '';
  S.q('#forget').hidden = !all.length;
}

// ---- drawing ----------------------------------------------------------------------------------

function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function dress(S) {                       // colours of the roles for the theme that is on screen
  const box = S.q('#guess'), probe = document.createElement('i');
  probe.style.cssText = 'display:none;background-color:var(--st-background-color)';
  box.append(probe);
  const [r, g, b] = getComputedStyle(probe).backgroundColor.match(/[\d.]+/g).map(Number);
  probe.remove();
  const dark = 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
  for (const [role, colour] of Object.entries(S.data.colours[dark ? 'dark' : 'light'])) {
    box.style.setProperty(`--pc-${role}`, colour);
  }
}

function paint(S) {                       // everything: new data, size or theme
  S.width = S.q('#plot').clientWidth;
  if (!S.width) return;
  dress(S);
  S.height = S.q('#plot').clientHeight;
  const [wide, narrow, ...others] = S.data.looks, room = look => Math.min(S.width / look.width, S.height / look.height);
  S.look = S.width < PHONE ? narrow : S.data.mode !== 'slides' ? wide
    : [wide, ...others].reduce((best, look) => look.width * look.height * room(look) ** 2 > best.width * best.height * room(best) ** 2 ? look : best);
  const focused = S.root.activeElement?.dataset?.handle;
  const drawing = new DOMParser().parseFromString(S.look.svg, 'image/svg+xml').documentElement;
  S.svg = document.importNode(drawing, true);
  for (const child of S.svg.children) child.setAttribute('aria-hidden', 'true');
  S.svg.setAttribute('role', 'group');
  if (S.data.mode === 'slides') S.svg.style.width = `${S.look.width * room(S.look)}px`;
  S.room = svg('g', {class: 'room', 'aria-hidden': 'true'});
  S.line = svg('path', {class: 'line', 'stroke-width': 2.2 * S.look.thick});
  S.handles = S.values.map((_, k) => handle(S, k));
  S.svg.append(S.room, S.line, ...S.handles);
  S.svg.onpointerdown = event => grab(S, event);
  S.q('#plot').replaceChildren(S.svg);
  show(S);
  if (focused !== undefined) S.handles[focused]?.focus();
}

function handle(S, k) {
  const {axis, guess} = S.data, r = 5.5 * S.look.thick;
  const node = svg('g', {class: 'handle', role: 'slider', tabindex: 0, 'aria-label': guess.names[k],
    'aria-orientation': guess.is_curve ? 'vertical' : 'horizontal',
    'aria-valuemin': least(S), 'aria-valuemax': axis.high, 'data-handle': k},
    svg('circle', {r: REACH}), svg('rect', {x: -r, y: -r, width: 2 * r, height: 2 * r}));
  node.onkeydown = event => press(S, k, event);
  return node;
}

function at(S, k) {                       // where a handle stands, in units of the drawing
  const {box, places} = S.look;
  return S.data.guess.is_curve ? [places[k], along(S, S.values[k], box.bottom, box.top)]
    : [along(S, S.values[k], box.left, box.right), box.bottom];
}

function along(S, value, from, to) {
  const {low, high, is_log} = S.data.axis, of = is_log ? Math.log : v => v;
  return from + (of(value) - of(low)) / (of(high) - of(low)) * (to - from);
}

function show(S) {
  const {guess, alt, alt_after, ask} = S.data, points = S.values.map((_, k) => at(S, k));
  S.q('#guess').classList.toggle('revealed', S.isRevealed);
  S.q('#guess').classList.toggle('touched', isTouched(S));
  S.svg.setAttribute('aria-label', `${S.isRevealed ? alt_after : alt} ${ask}`);
  const drawn = points.filter((_, k) => S.moved[k] || !S.isRevealed);
  const mirror = ([x, y]) => [x, 2 * along(S, 0, S.look.box.bottom, S.look.box.top) - y], both = [drawn, drawn.map(mirror)];
  const sides = !guess.is_mirrored ? [drawn] : drawn.length > 1 ? both : [both.flat()];    // of one place, a bar
  S.line.setAttribute('d', guess.is_curve ? (drawn.length ? sides : []).map(side => `M${side.map(p => p.join(' ')).join('L')}`).join('')
    : `M${points[0][0]} ${S.look.box.bottom}V${S.look.box.top}`);
  S.handles.forEach((node, k) => {
    node.setAttribute('transform', `translate(${points[k].join(' ')})`);
    node.setAttribute('aria-valuenow', S.values[k]);
    node.setAttribute('aria-valuetext', said(S, S.values[k]));
    node.setAttribute('aria-disabled', String(S.isRevealed));
    node.classList.toggle('unmoved', !S.moved[k]);
  });
  const isPupil = S.data.mode === 'pupil';
  S.q('#reveal').hidden = S.data.mode === 'slides' || (isPupil && S.isRevealed);
  S.q('#reveal').disabled = isPupil && !isTouched(S);
  S.q('#reveal').textContent = isPupil ? S.data.is_sent ? 'Change my guess' : 'Send my guess' : S.isRevealed ? 'Guess again' : 'Reveal';
  const isRoom = isPupil && S.isRevealed && hasOthers(S);                 // the dots, which are new to a pupil
  S.q('#how').classList.toggle('room', isRoom);
  S.q('#how').textContent = isRoom ? `● The class${median(S)}`
    : S.isRevealed || S.data.mode === 'slides' ? '' : howTo(S);
  if (S.data.mode === 'slides') tellSlide(S);
  closeUp(S);
  drawRoom(S);
  S.host.dataset.values = S.values.join(' ');
  tell(S);
}

function howTo(S) {
  const what = S.moved.length > 1 ? 'any of the squares' : 'the square', some = isTouched(S) && saidMoved(S);
  return some ? `${some} moved: only those count.`
    : FINGERS.matches ? `Drag ${what}.` : `Drag ${what}, or use the arrow keys.`;
}

function closeUp(S) {                     // the legend, from which some entries are hidden
  const {box, legend} = S.look, entries = [...S.svg.querySelectorAll('.entry')];
  let x = box.left, row = 0;
  const places = entries.filter(entry => getComputedStyle(entry).display !== 'none').map(entry => {
    const width = Math.max(+entry.dataset.width, entry.getBBox().width);   // letters may be wider than those measured
    if (x > box.left && x + width > legend.right) [x, row] = [box.left, row + 1];
    x += width + legend.between;
    return {entry, at: x - width - legend.between, row};
  });
  const above = Math.max(0, legend.rows - 1 - row);   // rows left empty: what is there stands on the plot
  for (const {entry, at, row} of places) entry.setAttribute('transform', `translate(${at} ${legend.top + legend.row * (above + row)})`);
}

// ---- moving -----------------------------------------------------------------------------------

const least = S => S.data.guess.is_mirrored ? 0 : S.data.axis.low;   // a distance is not below nothing

function set(S, k, value) {
  const {high} = S.data.axis, {step} = S.data.guess, low = least(S);
  S.values[k] = Math.min(Math.max(+(Math.round(value / step) * step).toFixed(6), low), high);
  S.moved[k] = true;
  remember(S);
  show(S);
}

// The guesses of a class: dots above the number that was guessed, or at the height, never beside it.
function drawRoom(S) {
  const {guess} = S.data, {box, places, thick} = S.look, r = 4.5 * thick;
  const guesses = hasOthers(S) ? S.data.guesses : [];                    // alone, a pupil has a square
  const dot = (cx, cy) => svg('circle', {cx, cy, r});
  const up = value => along(S, value, box.bottom, box.top);
  if (guess.is_curve) {
    S.room.replaceChildren(...guesses.flatMap(values => values.flatMap(
      (value, at) => value === null ? [] : dot(places[at], up(value)))));
    return;
  }
  const xs = guesses.map(([value]) => along(S, value, box.left, box.right));
  const heights = [];                     // above every earlier dot that it would hide
  xs.forEach((x, k) => {
    const below = heights.filter((_, other) => Math.abs(xs[other] - x) < 2 * r);
    heights[k] = below.length ? Math.max(...below) + 1 : 0;
  });
  const apart = Math.min(2 * r + 1, (box.bottom - box.top - 2 * r) / Math.max(1, ...heights));
  S.room.replaceChildren(...xs.map((x, k) => dot(x, box.bottom - r - 2 - heights[k] * apart)));
}

function press(S, k, event) {
  const {low, high} = S.data.axis, {step} = S.data.guess, now = S.values[k];
  const to = {ArrowUp: now + step, ArrowRight: now + step, ArrowDown: now - step, ArrowLeft: now - step,
    PageUp: now + SOME * step, PageDown: now - SOME * step, Home: low, End: high}[event.key];
  if (to === undefined || S.isRevealed) return;
  event.preventDefault();
  set(S, k, to);
}

// A finger moves the handle it holds, so that the page still scrolls beside handles, and where it taps
// the nearest one goes; a mouse or a pen draws: whichever handle is nearest follows it.
function grab(S, event) {
  if (S.isRevealed || event.button) return;
  const held = event.target.closest('.handle'), isFinger = event.pointerType === 'touch';
  const own = held && isFinger ? nearest(S, inside(S, event)[0]) : null, isTap = isFinger && !held;
  const follow = move => {
    const [x, y] = inside(S, move);
    set(S, own ?? nearest(S, x), valueAt(S, x, y));
  };
  const let_go = end => {
    removeEventListener('pointermove', follow);
    removeEventListener('pointerup', let_go);
    removeEventListener('pointercancel', let_go);
    if (isTap && end.type === 'pointerup' && Math.hypot(end.x - event.x, end.y - event.y) < TAP) follow(end);
  };
  if (!isTap) {
    event.preventDefault();
    held?.focus();
    addEventListener('pointermove', follow);
  }
  addEventListener('pointerup', let_go);
  addEventListener('pointercancel', let_go);
  if (!held && !isTap) follow(event);
}

function inside(S, event) {               // pixels of the screen to units of the drawing
  const {left, top, width} = S.svg.getBoundingClientRect(), scale = S.svg.viewBox.baseVal.width / width;
  return [(event.clientX - left) * scale, (event.clientY - top) * scale];
}

function nearest(S, x) {
  const gaps = S.values.map((_, k) => Math.abs(at(S, k)[0] - x));
  return gaps.indexOf(Math.min(...gaps));
}

function valueAt(S, x, y) {
  const {box} = S.look, {low, high, is_log} = S.data.axis;
  const share = S.data.guess.is_curve ? (box.bottom - y) / (box.bottom - box.top)
    : (x - box.left) / (box.right - box.left);
  return is_log ? low * (high / low) ** share : low + share * (high - low);
}
