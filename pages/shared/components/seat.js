// Tells a class which browser this is, so that whoever opens it in two tabs is one pupil. The name is
// random, stays in this browser, and is another one for each class.

const STORE = 'privacy-curves-seat';
let made = {};                            // where storage is closed

export default function ({data, setStateValue}) {
  try { made = JSON.parse(localStorage.getItem(STORE)) || made; } catch (_) { /* closed, or spoilt */ }
  if (made.code !== data.code) {
    const numbers = crypto.getRandomValues(new Uint32Array(4));   // also without encryption, as in a school's network
    made = {code: data.code, name: Array.from(numbers, number => number.toString(36)).join('')};
    try { localStorage.setItem(STORE, JSON.stringify(made)); } catch (_) { /* closed */ }
  }
  if (data.name !== made.name) setStateValue('name', made.name);
}
