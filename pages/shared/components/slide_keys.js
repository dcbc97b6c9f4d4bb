// Keys of a slide that is drawn by the page: they press its buttons, as in the slides of the other
// lessons. Whatever has the focus keeps its own keys: a button the space bar, a slider its arrows.

const PRESSED = {ArrowRight: 'question', PageDown: 'question', ' ': 'question', ArrowLeft: 'shows', PageUp: 'shows',
  Escape: 'leave'};

export default function ({parentElement}) {
  const press = event => {
    const name = PRESSED[event.key], on = event.composedPath()[0];
    const isTaken = on.matches?.('input') ? event.key !== 'Escape' : on.matches?.('button, a') && event.key === ' ';
    if (!name || isTaken || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    document.querySelector(`.st-key-slide_${name} button`)?.click();
  };
  removeEventListener('keydown', parentElement.slideKeys);
  parentElement.slideKeys = press;
  addEventListener('keydown', press);
  return () => removeEventListener('keydown', press);
}
