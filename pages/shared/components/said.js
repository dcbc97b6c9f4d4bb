// Sentences of the chosen budget. Those of all budgets arrive once and follow `pc:budget`.
// Only bold, line breaks, signs of a key and escapes are understood; the rest goes through textContent.

const SVG = 'http://www.w3.org/2000/svg';
const WARNING = 'M12 4l9 16H3zM12 10v4M12 17v.1';

export default function ({data, parentElement: root}) {
  const S = root.__said ||= {host: root.host, box: root.querySelector('#said')};
  const text = JSON.stringify(data.steps);
  if (S.text !== text) Object.assign(S, {text, steps: data.steps, at: null});
  S.rev = data.rev;
  if (!S.stop) {
    const follow = () => show(S);
    addEventListener('pc:budget', follow);
    S.stop = () => removeEventListener('pc:budget', follow);
  }
  show(S);
  return () => { if (!S.host.isConnected && S.stop) { S.stop(); S.stop = null; } };
}

function show(S) {
  if (window.__budgetRev !== S.rev + location.pathname) return;          // the strip or the picture is about to move
  const at = Math.min(window.__budget, S.steps.length - 1);
  if (at === S.at) return;
  S.at = at;
  S.box.replaceChildren(...S.steps[at].map(([kind, text]) => paragraph(kind, text)));
}

function paragraph(kind, text) {
  const made = document.createElement('p');
  made.className = kind;
  if (kind === 'warning') made.append(icon());
  const words = document.createElement('span');
  text.split(/(\*\*.+?\*\*|  \n|[●■○])/).forEach(part => {
    if (part === '  \n') return words.append(document.createElement('br'));
    if ('●■○'.includes(part) && part) return words.append(sign(part));
    const bold = part.startsWith('**') && part.endsWith('**') && part.length > 4;
    const text = (bold ? part.slice(2, -2) : part).replace(/\\([\\`*_[\]<>$~])/g, '$1');
    const node = bold ? document.createElement('strong') : text;
    if (bold) node.textContent = text;
    words.append(node);                              // a string becomes text, never markup
  });
  made.append(words);
  return made;
}

function sign(mark) {                     // in the colour that it has in the picture above
  const made = document.createElement('i');
  made.className = mark === '■' ? 'privacy' : 'chance';
  made.textContent = mark;
  return made;
}

function icon() {
  const made = document.createElementNS(SVG, 'svg'), path = document.createElementNS(SVG, 'path');
  made.setAttribute('viewBox', '0 0 24 24');
  made.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', WARNING);
  made.append(path);
  return made;
}
