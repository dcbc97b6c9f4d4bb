// What was stated of a file, kept in this tab of the browser alone: a reload of the page begins a new
// session of the server. The words come back once, to a session in which nothing is stated yet.

const KEY = 'privacy-curves-stated';

export default function ({data, parentElement: root, setStateValue}) {
  const now = JSON.stringify(data.stated), isEmpty = now === '{}';
  if (!root.__kept) {
    const before = sessionStorage.getItem(KEY);
    root.__kept = true;
    if (before && isEmpty) return setStateValue('stated', before);
  }
  if (!isEmpty) sessionStorage.setItem(KEY, now);
}
