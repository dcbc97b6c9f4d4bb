// A sheet in a frame of its own, where no script runs: what is seen is what is printed.

export default function ({data, parentElement: root}) {
  const frame = root.querySelector('#sheet');
  // Asked of the frame, which may be a new one in the same place.
  if (frame.srcdoc !== data.html) frame.srcdoc = data.html;
  root.querySelector('#print').onclick = () => frame.contentWindow.print();
}
