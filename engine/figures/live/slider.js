// Marks below the slider: budgets of publications, and a rule of one’s own.

function ticksOfSlider(S, marks) {        // published deployments, and the visitor's own rule
  S.marks = [...marks].sort((one, other) => one.at - other.at);
  S.q('#anchors').replaceChildren(...S.marks.map(({at, help, is_own}) => {
    const mark = document.createElement('i');
    mark.style.left = `calc(11px + ${at} * (100% - 22px))`;
    mark.title = help;
    mark.onclick = () => { S.q('#sentence').textContent = help; };   // where nothing can hover
    mark.classList.toggle('own', is_own);
    return mark;
  }));
}

function sideBySide(names, end) {         // left ends of names in a row: each as near to its wish as the others let it
  const blocks = [];
  const block = (names, offsets, wide) => ({names, offsets, wide, left: Math.min(end - wide,
    names.reduce((sum, {wish}, k) => sum + wish - offsets[k], 0) / names.length)});
  for (const name of names) {
    let last = block([name], [0], name.wide);
    while (blocks.length && blocks.at(-1).left + blocks.at(-1).wide + GAP > last.left) {
      const before = blocks.pop(), shift = before.wide + GAP;
      last = block([...before.names, ...last.names], [...before.offsets, ...last.offsets.map(x => x + shift)], shift + last.wide);
    }
    blocks.push(last);
  }
  return blocks.flatMap(({left, offsets}) => offsets.map(offset => left + offset));
}

function nameTicks(S) {                   // whose they are, neighbours of one name once
  const row = S.q('#anchors'), width = row.clientWidth, groups = [], place = at => 11 + at * (width - 22);
  for (const {at, word, is_own} of S.marks) {
    if (groups.at(-1)?.word === word) groups.at(-1).ats.push(at);
    else groups.push({word, is_own, ats: [at]});
  }
  row.querySelectorAll('span, b').forEach(name => name.remove());
  const write = word => {
    const name = document.createElement('span');
    name.textContent = word;
    row.append(name);
    return name;
  };
  const names = groups.map(({word, is_own, ats}) => {
    const name = write(word), [from, to] = [place(ats[0]), place(ats.at(-1))];
    name.classList.toggle('own', is_own);
    if (ats.length > 1) {                 // a bracket joins ticks of one name
      const bracket = document.createElement('b');
      Object.assign(bracket.style, {left: `${from}px`, width: `${to - from}px`});
      row.append(bracket);
    }
    return {name, wide: name.offsetWidth, wish: (from + to - name.offsetWidth) / 2};
  });
  const lefts = sideBySide(names, width);
  names.forEach(({name}, k) => { name.style.left = `${lefts[k]}px`; name.hidden = lefts[k] < 0; });
  if (groups.every(group => group.is_own)) return;
  const lead = write(S.data.words.used), left = Math.min(lefts[0] - GAP, place(S.marks[0].at) - 4) - lead.offsetWidth;
  if (left < 0) lead.remove();
  else lead.style.left = `${left}px`;
}
