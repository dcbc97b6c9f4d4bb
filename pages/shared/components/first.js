// The figure of the front page before the framework around it has started: the same script, drawn into
// an element of its own where the figure will stand. It works at once; what was done in it goes over to
// the figure of the page, which takes its place. FIRST has been written above by the server.

const PATIENCE = 100;                     // ms between two looks whether the visitor has gone elsewhere
const address = location.href;

// The theme that the visitor has chosen in the menu of the page, or else that of their system.
function theme() {
  const stored = localStorage.getItem(`stActiveTheme-${location.pathname}-v2`) || '';
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  return stored.includes('Dark') || (dark && !stored.includes('Light')) ? FIRST.dark : FIRST.light;
}

function stand(sent) {
  const host = document.createElement('div');
  const root = host.attachShadow({mode: 'closed'});         // not yet the page, which will have the same names
  root.innerHTML = `<style>${FIRST.css}</style><h1></h1>${FIRST.html}`;
  document.fonts.add(new FontFace('Source Sans', `url(${FIRST.font})`, {weight: '200 900'}));
  root.querySelector('h1').textContent = sent.curves.title;
  for (const [name, value] of Object.entries(theme())) host.style.setProperty(`--st-${name}`, value);
  document.body.append(host);
  return {host, root};
}

async function begin() {
  const sent = await unpacked(FIRST.packed);
  if (location.href !== address || document.querySelector('[data-testid=stApp] h1')) return;   // the page was faster
  const {host, root} = stand(sent), wishes = {};
  const end = figure({data: sent, parentElement: root, setStateValue: () => {},
    setTriggerValue: name => { wishes[name] = true; }});
  const S = root.__figure;
  let isHeld = false;
  host.addEventListener('pointerdown', () => { isHeld = true; });
  const release = () => { isHeld = false; };
  for (const name of ['pointerup', 'pointercancel']) addEventListener(name, release);
  const leave = () => {
    clearInterval(watch);
    for (const name of ['pointerup', 'pointercancel']) removeEventListener(name, release);
    delete window.__first;
    const hadFocus = root.activeElement?.id;
    host.remove();
    end();
    return hadFocus;
  };
  // Another page, another address, a dialog, or a page that stands without a figure: nothing to wait for.
  let looks = 0;
  const watch = setInterval(() => {
    const rests = document.querySelector('[data-testid=stApp][data-test-script-state=notRunning] h1');
    looks = rests ? looks + 1 : 0;
    if (location.href !== address || document.querySelector('[role=dialog]') || looks > 20) leave();
  }, PATIENCE);
  // The figure of the page is there: it goes on where this one stands, once nothing is held.
  const give = take => {
    if (isHeld) return addEventListener('pointerup', () => setTimeout(() => give(take)), {once: true});
    const main = document.querySelector('[data-testid=stMain]');
    if (main) main.scrollTop = host.scrollTop;
    take(S, leave(), wishes);
  };
  window.__first = {tag: FIRST.tag, give};
  performance.mark('first picture');
}

if (document.body) begin();
else addEventListener('DOMContentLoaded', begin);
