// The end card: what a game or a pull came to, in one sentence over its picture, to be passed on.

const CARD = {width: 1200, height: 630, edge: 40, size: 36, foot: 20};
const LETTERS = 'sans-serif';             // of whoever opens the card: those of the page may not be there

function ended(S) {                       // the sentence; '' while there is nothing to tell
  const {game, data: {words}} = S;
  if (!S.data.downloads) return '';
  if (!game) return S.data.replays && S.moved ? fill(words.ended_pull[S.moved.seen], S.moved) : '';
  return isOver(game) ? fill(words.ended, {hits: game.right.filter(Boolean).length, rounds: ROUNDS, bound: percentUp(boundsSoFar(S).at(-1))}) : '';
}

function offerCard(S) {                   // among the buttons beside what it tells of
  const box = S.q('#ending');
  box.hidden = !ended(S);
  if (box.hidden) return;
  const place = S.q(S.game ? '.round .buttons' : '.under .buttons');
  if (box.parentElement !== place) place.append(box);
  S.q('#card_share').hidden = !navigator.canShare?.({files: [new File([], 'card.png', {type: 'image/png'})]});
}

function endCard(S) {
  const {width, height, edge, size, foot} = CARD, ink = getComputedStyle(S.q('#figure')).color, inner = width - 2 * edge;
  const line = (text, y, points, more) => svg('text', {x: edge, y, fill: ink, 'font-family': LETTERS, 'font-size': `${points}px`, ...more}, text);
  const told = broken(ended(S), `600 ${size}px`, inner), under = broken(footOf(S), `${foot}px`, inner);
  const top = edge + 1.3 * size * told.length, bottom = height - edge - 1.3 * foot * under.length, {whole} = picture(S, []);
  for (const [name, value] of Object.entries({x: edge, y: top, width: inner, height: bottom - top})) whole.setAttribute(name, value);
  const card = svg('svg', {xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`},
    svg('rect', {width, height, fill: behind()}),
    ...told.map((text, k) => line(text, edge + size * (.8 + 1.3 * k), size, {'font-weight': 600})), whole,
    ...under.map((text, k) => line(text, bottom + 1.3 * foot * (k + 1), foot)));
  return {text: new XMLSerializer().serializeToString(card), width, height};
}

function broken(text, font, width) {      // into lines that fit
  const pen = document.createElement('canvas').getContext('2d');
  pen.font = `${font} ${LETTERS}`;
  return text.split(' ').reduce((all, word) => {
    const longer = all.length ? `${all.at(-1)} ${word}` : word;
    return all.length && pen.measureText(longer).width <= width ? [...all.slice(0, -1), longer] : [...all, word];
  }, []);
}

function footOf(S) {                      // ε, source, and where the same is found again
  const {epsilons, source, words} = S.data, home = document.querySelector('meta[name=home]')?.content;
  const again = !S.data.replays ? '' : home ? `${home}${location.hash}` : S.game ? fill(words.game_number, {number: S.game.number}) : '';
  return [`ε = ${epsilons[S.picked.budget]}`, source, 'Privacy Curves', again].filter(Boolean).join(' · ');
}

function saveCard(S, kind) {
  if (kind === 'svg') return downloadText(S, endCard(S).text);
  drawn(endCard(S), 1, canvas => download(S, canvas.toDataURL('image/png'), 'png'));
}

function shareCard(S) {
  drawn(endCard(S), 1, canvas => canvas.toBlob(blob => {
    const files = [new File([blob], 'privacy-curves.png', {type: 'image/png'})];
    navigator.share({files, text: ended(S)}).catch(problem => { if (problem.name !== 'AbortError') saveCard(S, 'png'); });
  }));
}
