// A phone in a class: it asks now and then what the teacher shows, and sends a guess or an answer.
// `mount`, which draws, stands above in a function of its own.

const WAIT = 1500, SEAT = 'privacy-curves-seat';   // milliseconds between two looks
const PATIENT = 4;                        // looks in vain
const ASK = 0, QUESTION = 2, ANSWER = 3;           // stages of a lesson, as the server counts them
const at = id => document.getElementById(id), code = location.pathname.split('/')[1];
const root = at('host').attachShadow({mode: 'open'}), seat = seated();
let drawing = null, now = null;

function seated() {                       // one seat for all tabs of this browser; its name is chance
  try {
    const known = localStorage.getItem(SEAT) || crypto.getRandomValues(new Uint32Array(4)).join('-');
    localStorage.setItem(SEAT, known);
    return known;
  } catch (_) { return crypto.getRandomValues(new Uint32Array(4)).join('-'); }
}

function node(tag, text, className = '') {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...text.split('**').map((part, k) => {          // bold is the only markup
    if (k % 2 === 0) return part;
    const strong = document.createElement('strong');
    strong.textContent = part;
    return strong;
  }));
  return made;
}

async function send(what, value) {
  const answer = await fetch(`/${code}/${what}`, {method: 'POST', headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({seat, value})}).catch(() => null);
  if (!answer?.ok) at('said').textContent = answer ? (await answer.json()).problem : 'The class cannot be reached. Try again.';
  look();
}

function show(state) {
  if (state.drawing) ({drawing} = state, at('story').replaceChildren(...state.story.map(line => node('p', line))));
  if (!drawing || state.stage < ASK) return;
  const text = JSON.stringify(state);
  if (now === text) return;
  now = text;
  const isAsking = state.stage >= QUESTION, isTold = state.stage === ANSWER;
  at('ask').textContent = isAsking ? state.question : drawing.ask;
  at('host').hidden = isAsking;
  at('story').hidden = isAsking;
  at('options').hidden = !isAsking;
  if (!isAsking) {
    if (state.stage > ASK) at('story').replaceChildren(node('p', state.shows));
    mount({data: {...drawing, is_revealed: state.stage > ASK, is_sent: state.is_sent, guesses: state.guesses, slide: null, room: null},
      parentElement: root, setStateValue: () => {}, setTriggerValue: (kind, sent) => { if (kind === 'sent') send('guess', sent.values); }});
    return;
  }
  at('said').textContent = state.answered === null || isTold ? '' : 'Your answer has arrived. You can change it until the right one is shown.';
  at('options').replaceChildren(...state.options.map(({text, why, right}, k) => {
    const item = document.createElement('li'), button = node('button', `${right ? '**Right:** ' : ''}${text}`, k === state.answered ? 'chosen' : '');
    button.type = 'button';
    button.disabled = isTold;
    button.setAttribute('aria-pressed', String(k === state.answered));
    button.onclick = () => send('answer', k);
    item.append(button, ...(isTold && (right || k === state.answered) ? [node('p', why)] : []));
    return item;
  }));
}

let timer = null, missed = 0;
async function look() {
  clearTimeout(timer);
  const answer = await fetch(`/${code}/now?seat=${seat}&tag=${drawing?.tag ?? ''}`).catch(() => null);
  missed = answer ? 0 : missed + 1;
  if (answer?.status === 404 || missed > PATIENT) {
    at('ask').textContent = answer ? 'This class has ended' : 'This class has ended, or cannot be reached. Load the page to try again.';
    for (const id of ['host', 'story', 'options']) at(id).hidden = true;
    return;
  }
  if (answer?.ok) show(await answer.json());
  timer = setTimeout(look, WAIT);
}

const sheet = new CSSStyleSheet();
sheet.replaceSync(at('style').textContent);
root.adoptedStyleSheets = [sheet];
root.append(at('markup').content.cloneNode(true));
matchMedia('(prefers-color-scheme: dark)').onchange = () => { now = null; look(); };
look();
