// The attacker's game. Two data sets differ by one person's curve. Each round has a release of its
// own, drawn at the ε of the slider, and the visitor says of which of the two it is. A game may go
// over several ε: no attacker does better, on average, than the mean of what each round allows.

const ROUNDS = 20;                        // of the attacker's game, each with a release of its own
const BADGE = 11;                         // pixels: half of the disc with the letter of a curve of the game

// All chance of a game follows from its number, so that whoever has the number plays the same game. Releases are
// those of a simulation: nothing of a real one is drawn here.
function newGame(S, number = crypto.getRandomValues(new Uint32Array(1))[0]) {
  const random = chance(number), order = shuffled(S.data.draws, random).slice(0, ROUNDS);
  return round(S, {number, random, order, right: [], bounds: []});
}

function chance(number) {                 // uniform on [0, 1): a counter whose bits are mixed
  let count = number >>> 0;
  return () => {
    count = count + 0x9E3779B9 >>> 0;
    let bits = Math.imul(count ^ count >>> 16, 0x85EBCA6B);
    bits = Math.imul(bits ^ bits >>> 13, 0xC2B2AE35);
    return ((bits ^ bits >>> 16) >>> 0) / 2 ** 32;
  };
}

const isOver = game => Boolean(game.told) && game.right.length === ROUNDS;

function playOn(S) {                      // at another ε: the score stays, and a round begins there
  if (S.game && !isOver(S.game)) S.game = round(S, S.game);
}

function boundsSoFar(S) {                 // the mean of what rounds allow, after each; those to come are at this ε
  const {bounds} = S.game, here = S.data.bound[S.picked.budget];
  let sum = 0;
  return Array.from({length: ROUNDS}, (_, k) => (sum += bounds[k] ?? here) / (k + 1));
}

const shuffled = (count, random) => Array.from({length: count}, (_, k) => [random(), k]).sort((a, b) => a[0] - b[0]).map(([, k]) => k);

// Of several pairs of people the two that differ most, whose curves both have room for a letter. Which they
// are and where letters stand says nothing of the secret: of the release, noise alone is looked at.
function round(S, game) {
  const {people, times, releases} = S.curves, noise = releases[S.picked.budget][game.order[game.right.length]];
  const on = ({times: own, values}) => Array.from(times, t => between(own, values, t));
  let all = [], roomy = [];
  for (let tries = 0; tries < 8 && !roomy.length; tries++) {
    all = all.concat(Array.from({length: 6}, () => {
      const pair = shuffled(people.length, game.random).slice(0, 2), [x, y] = pair.map(person => on(people[person])), apart = x.map((v, k) => v - y[k]);
      const named = pair.map((_, k) => clearest(S, pair, k, noise));
      return {pair, apart, named, size: dot(apart, apart), room: Math.min(...named.map(({clear}) => clear))};
    }));
    roomy = all.filter(({room}) => room >= roomFor(S));
  }
  const most = (rows, key) => rows.reduce((best, one) => one[key] > best[key] ? one : best);
  const {pair, apart, named} = roomy.length ? most(roomy, 'size') : most(all, 'room');
  const half = smooth(S, apart.map(y => y / (2 * S.data.n)));             // from the middle of the two means
  const secret = game.random() < .5 ? 0 : 1;
  return {...game, pair, named, half, secret, told: '', release: noise.map((y, k) => y + (secret ? -half[k] : half[k]))};
}

const roomFor = S => AROUND * (S.view.high - S.view.low);   // a letter, on the value axis

// Where the letter of a curve of the game stands: at one of its observations, on the side where no other
// line is near, and away from the ends of the axis. `up` is 1 above the curve and -1 below.
function clearest(S, pair, k, noise) {
  const own = S.curves.people[pair[k]], other = S.curves.people[pair[1 - k]], {times, without} = S.curves;
  const {time: {low, high}} = S.data, most = roomFor(S);
  const room = gaps => Math.min(most, ...gaps.filter(gap => gap >= 0));
  let best = {clear: -1};
  own.times.forEach((t, at) => {
    if (Math.min(t - low, high - t) < .05 * (high - low)) return;
    const lines = [-1, 0, 1].flatMap(way => {                            // as wide as the letter
      const there = t + way * .03 * (high - low), mean = between(times, without, there);
      return [between(other.times, other.values, there), mean, mean + between(times, noise, there)];
    });
    for (const up of [1, -1]) {
      const gaps = lines.map(line => up * (line - own.values[at])), clear = room(gaps) + .1 * room(gaps.map(gap => -gap));
      if (clear > best.clear) best = {at, up, clear};
    }
  });
  return best.clear < 0 ? {at: own.times.length >> 1, up: 1, clear: 0} : best;
}

// One person moves a mean by less than a line is wide: the two means are drawn a round number of times
// as far apart, so that what the release may be compared with can be seen.
function enlarged(S, half) {
  const ratio = .6 * S.limit / furthest(half), power = 10 ** Math.floor(Math.log10(ratio));
  return ratio < 2 ? 1 : Math.max(...[1, 2, 5].map(k => k * power).filter(times => times <= ratio));
}

const isRefused = S => Boolean(S.data.refused[S.picked.budget]);

function openGame(S, on) {
  S.picked.view = window.__view = on ? 'attack' : 'look';
  S.pull = S.reading = null;
  S.game = on ? newGame(S) : null;
  paint(S);
  report(S);
  S.q(!on ? '#attack' : isRefused(S) ? '#leave' : '#a').focus({preventScroll: on});
  if (on) S.q(S.width < PHONE ? '#figure' : '#game').scrollIntoView({block: S.width < PHONE ? 'start' : 'nearest'});   // what is asked, and what it is about
}

function guess(S, answer) {               // the round stays on screen with its result until the next is asked for
  const game = S.game;
  if (!game || isRefused(S) || game.told) return;
  const isRight = answer === game.secret, right = [...game.right, isRight], {words, bound} = S.data;
  const told = fill(isRight ? words.right : words.wrong, {letter: game.secret ? words.b : words.a, round: right.length});
  S.game = {...game, right, told, bounds: [...game.bounds, bound[S.picked.budget]]};
  show(S);
  S.q(right.length < ROUNDS ? '#next' : '#restart').focus();    // the button that was pressed has gone
}

function drawGame(S) {
  const game = S.game, {words} = S.data, {main, difference: D} = S;
  S.q('#game').hidden = !game;
  S.q('#attack').setAttribute('aria-expanded', String(Boolean(game)));
  S.q('#figure').classList.toggle('playing-game', Boolean(game));
  S.q('#figure').classList.toggle('on-slide', Boolean(S.host.closest('.st-key-game_slide')));
  for (const P of [main, D]) P.game.replaceChildren();
  if (!game) return;
  for (const id of ['#a', '#b', '#next', '#restart', '#board']) S.q(id).hidden = isRefused(S);
  if (isRefused(S)) {                     // no release, nothing to attack
    S.q('#question').textContent = fill(words.unplayable, {epsilon: S.data.epsilons[S.picked.budget]});
    S.q('#answer').textContent = words.raise;
    return;
  }
  const count = game.right.length, isTold = Boolean(game.told), isDone = isOver(game), hits = game.right.filter(Boolean).length;
  game.pair.forEach((person, k) => {
    const absent = game.told && k !== game.secret ? ' absent' : '';
    main.game.append(svg('path', {d: rawPath(main, S.curves.people[person]), class: `curve-${k ? 'b' : 'a'}${absent}`}));
  });
  game.pair.forEach((person, k) => {      // above both curves
    const {times, values} = S.curves.people[person], name = k ? 'b' : 'a', {at, up} = game.named[k];
    const x = main.x(times[at]), y = main.y(values[at]) - up * (BADGE + 1);
    main.game.append(svg('circle', {cx: x, cy: y, r: BADGE, class: `badge badge-${name}`}),
      svg('text', {x, y: y + 5, 'text-anchor': 'middle', class: 'letter'}, words[name]));
  });
  const times = enlarged(S, game.half), mean = sign => path(D, game.half.map(y => sign * times * y));
  D.game.append(svg('path', {d: mean(1), class: 'curve-a'}), svg('path', {d: mean(-1), class: 'curve-b'}),
    svg('text', {x: D.box.left + 6, y: D.box.bottom - 6, class: 'label'}, times > 1 ? fill(words.means_enlarged, {times}) : words.means));
  const soFar = count ? fill(words.so_far, {hits, count}) : times > 1 ? fill(words.hint_enlarged, {times}) : words.hint;
  S.q('#question').textContent = isDone ? fill(words.over, {hits, rounds: ROUNDS}) : game.told || fill(words.question, {round: count + 1, rounds: ROUNDS});
  S.q('#answer').textContent = isDone ? `${game.told} ${lesson(S, hits)}` : soFar;
  S.q('#a').hidden = S.q('#b').hidden = isTold;
  S.q('#next').hidden = !isTold || isDone;
  S.q('#restart').hidden = !isDone;
  drawScore(S);
}

function lesson(S, hits) {                // what was learnt, in one sentence
  const {words} = S.data, [low, high] = chanceBand(ROUNDS), bound = boundsSoFar(S).at(-1);
  const kind = hits > high ? 'above' : hits < low ? 'below' : 'within', {over, certain} = words.lessons;
  return fill(`${words.lessons[kind]} ${bound > .99 ? certain : over}`, {low, high, bound: percentUp(bound)});
}

function chanceBand(n) {                  // the middle 95 % of n fair coins
  let mass = .5 ** n, below = 0, low = 0;
  for (let k = 0; below + mass <= .025; k++) {
    below += mass;
    mass *= (n - k) / (k + 1);
    low = k + 1;
  }
  return [low, n - low];
}

function drawScore(S) {
  const node = S.q('#score'), width = node.clientWidth || 320, height = node.clientHeight || 150;
  const {words} = S.data, right = S.game.right, left = 44, bottom = height - 34, top = 8;
  const x = k => left + k / ROUNDS * (width - left - 8), y = share => bottom - share * (bottom - top);
  const bands = Array.from({length: ROUNDS}, (_, k) => chanceBand(k + 1).map(hits => hits / (k + 1)));
  const side = i => bands.map((ends, k) => `${x(k + 1).toFixed(1)} ${y(ends[i]).toFixed(1)}`);
  let hits = 0;
  const line = right.map((is, k) => { hits += is; return `${x(k + 1).toFixed(1)} ${y(hits / (k + 1)).toFixed(1)}`; });
  const most = boundsSoFar(S), end = line.at(-1)?.split(' ');
  const limit = most.map((share, k) => `${x(k + 1).toFixed(1)} ${y(share).toFixed(1)}`).join('L');
  S.q('#caption').textContent = words.caption;
  node.setAttribute('viewBox', `0 0 ${width} ${height}`);
  node.replaceChildren(svg('title', {}, fill(words.score, {hits, count: right.length})),
    svg('path', {d: `M${side(1).join('L')}L${side(0).reverse().join('L')}Z`, class: 'chance'}),
    ...[0, .5, 1].flatMap(share => [svg('line', {x1: left, x2: width - 8, y1: y(share), y2: y(share), class: 'grid'}),
      svg('text', {x: left - 6, y: y(share) + 4.5, 'text-anchor': 'end', class: 'tick'}, `${100 * share} %`)]),
    ...[1, 5, 10, 15, 20].map(k => svg('text', {x: x(k), y: bottom + 15, 'text-anchor': 'middle', class: 'tick'}, k)),
    svg('text', {x: x(ROUNDS / 2), y: bottom + 31, 'text-anchor': 'middle', class: 'tick'}, words.rounds),
    svg('path', {d: `M${left} ${y(most[0]).toFixed(1)}L${limit}`, class: 'bound'}),
    ...(end ? [svg('path', {d: `M${line.join('L')}`, class: 'scored'}), svg('circle', {cx: end[0], cy: end[1], r: 4, class: 'scored-dot'})] : []),
    svg('text', {x: x(ROUNDS), y: y(most.at(-1)) - 5, 'text-anchor': 'end', class: 'label of-bound'}, fill(words.bound, {bound: percentUp(most.at(-1))})));
}
