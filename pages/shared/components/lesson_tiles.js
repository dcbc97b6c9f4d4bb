// Lessons as buttons with pictures. A lesson is done once its first guess is in this browser's storage,
// where the lesson's own picture keeps it.

const STORE = 'privacy-curves-guesses';

export default function ({data, parentElement: root, setTriggerValue}) {
  const box = root.querySelector('#tiles'), done = kept();
  const dark = isDark(root.host);
  for (const [role, colour] of Object.entries(data.colours[dark ? 'dark' : 'light'])) {
    box.style.setProperty(`--pc-${role}`, colour);
  }
  const text = JSON.stringify([data.tiles, Object.keys(done)]);
  if (box.__text === text) return;
  box.__text = text;
  box.replaceChildren(...data.tiles.map(({key, title, minutes, picture}) => {
    const tile = node('button', '', drawing(picture), node('span', 'title', node('b', '', key), ` ${title}`),
      node('span', 'note', `${minutes} min${key in done ? ' · ✓ done' : ''}`));
    tile.type = 'button';
    tile.onclick = () => setTriggerValue('opened', key);
    return tile;
  }));
}

function kept() {
  try { return JSON.parse(localStorage.getItem(STORE)) || {}; } catch (_) { return {}; }
}

function isDark(host) {
  const [r, g, b] = (getComputedStyle(host).getPropertyValue('--st-background-color').match(/[0-9a-f]{2}/gi) || ['ff', 'ff', 'ff'])
    .map(part => parseInt(part, 16));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
}

function drawing(picture) {
  const svg = document.importNode(new DOMParser().parseFromString(picture, 'image/svg+xml').documentElement, true);
  svg.setAttribute('aria-hidden', 'true');
  return svg;
}

function node(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);                // strings become text, never markup
  return made;
}
