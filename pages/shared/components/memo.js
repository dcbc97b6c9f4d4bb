// A sheet in a frame of its own, where no script runs: what is seen is what is printed.

export default function ({data, parentElement: root}) {
  const frame = root.querySelector('#sheet');
  // As high as the sheet, which is never cut off; its lines break anew where the frame's width changes.
  const fit = () => {
    const sheet = frame.contentDocument?.documentElement;
    if (!sheet?.querySelector('footer')) return;
    frame.style.height = 'auto';
    frame.style.height = `${sheet.scrollHeight + 2}px`;
  };
  frame.onload = fit;
  // Asked of the frame, which may be a new one in the same place.
  if (frame.srcdoc !== data.html) frame.srcdoc = data.html; else fit();
  let width = 0;
  const watcher = new ResizeObserver(([{contentRect}]) => {
    if (contentRect.width !== width) { width = contentRect.width; fit(); }
  });
  watcher.observe(frame);
  root.querySelector('#print').onclick = () => frame.contentWindow.print();
  const before = () => putOnPaper(frame), after = () => document.querySelector('.pc-paper')?.remove();
  addEventListener('beforeprint', before);
  addEventListener('afterprint', after);
  return () => {
    watcher.disconnect();
    removeEventListener('beforeprint', before);
    removeEventListener('afterprint', after);
  };
}

// The page itself, printed from the menu of the browser, is its sheet: a copy stands before all else
// while it is printed, and `frame.css` leaves out what follows it.
function putOnPaper(frame) {
  const sheet = frame.contentDocument?.documentElement;
  if (!sheet || document.querySelector('.pc-paper')) return;
  const paper = Object.assign(document.createElement('div'), {className: 'pc-paper'}), copy = document.importNode(sheet, true);
  for (const style of copy.querySelectorAll('style')) style.textContent = style.textContent.replaceAll(':root', ':host');
  paper.attachShadow({mode: 'open'}).append(copy);
  document.body.prepend(paper);
}
