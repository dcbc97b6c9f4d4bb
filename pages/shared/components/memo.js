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
  return () => watcher.disconnect();
}
