// A sheet in a frame of its own, where no script runs: what is seen is what is printed.

export default function ({data, parentElement: root}) {
  const frame = root.querySelector('#sheet');
  if (root.__sheet !== data.html) {
    root.__sheet = data.html;
    frame.srcdoc = data.html;
  }
  root.querySelector('#print').onclick = () => frame.contentWindow.print();
}
