// Do the files of a release fit together? All is computed here; nothing leaves this page.

const at = id => document.getElementById(id);
const near = (one, other, share) => Math.abs(one - other) <= share * Math.max(Math.abs(one), Math.abs(other));
const CARDS = [1, 2, 3], PROGRAMS = 'privacy_curves';

function beyond(x) {                      // a standard normal number lies above x
  if (x < 0) return 1 - beyond(-x);
  const density = Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
  if (x >= 4) {                           // continued fraction
    let tail = x;
    for (let k = 80; k; k--) tail = x + k / tail;
    return density / tail;
  }
  let term = x, sum = x;                  // series
  for (let k = 1; k < 200; k++) sum += term *= x * x / (2 * k + 1);
  return .5 - density * sum;
}

// δ at ε of Gaussian noise with this μ (Balle and Wang, 2018).
const deltaAt = (epsilon, mu) => beyond(epsilon / mu - mu / 2) - Math.exp(epsilon) * beyond(epsilon / mu + mu / 2);

function ofCard(card) {                   // [what, whether it holds; null: not known]
  const {epsilon, delta} = card.guarantee, {rho, messages} = card.accounting, right = card.odds.right_guess_at_most;
  const mu = Math.sqrt(2 * rho), isGaussian = rho > 0 && delta > 0, senders = {};
  for (const {from, rho: cost = 0} of messages) senders[from] = (senders[from] || 0) + cost;
  const {centre = 0, ...sites} = senders, total = Math.max(0, ...Object.values(sites)) + centre;
  const [highest, stated] = [Math.exp(epsilon) / (1 + Math.exp(epsilon)) + delta / 2, deltaAt(epsilon, mu)];
  return [
    ['It is a guarantee card that this page knows.', card.kind === 'differential privacy guarantee' && CARDS.includes(card.version)
      && PROGRAMS in (card.versions || {[PROGRAMS]: ''})],
    [isGaussian ? `At ε = ${epsilon} this noise has δ = ${stated.toPrecision(4)}; stated is ${delta}.`
      : 'ε and δ cannot be computed here: the noise is not Gaussian.', isGaussian ? stated <= delta * 1.001 && stated >= delta / 2 : null],
    [`The attacker’s accuracy, ${(100 * right).toFixed(2)} %, is that of this noise.`,
      isGaussian ? near(right, 1 - beyond(mu / 2), 1e-3) : right >= .5 && right <= highest + 1e-9],
    ['The costs of all messages add up to the cost that is stated.',
      rho && messages.some(({rho: cost}) => cost) && !card.relied_on ? near(total, rho, 1e-6) : null],
    ['The certified ε is no smaller than that of ideal noise.', card.ideal.epsilon <= epsilon * (1 + 1e-6)],
  ];
}

function rowsOf(text) {                   // of today's table, or with lines of words above it
  const [head, ...lines] = text.trim().split('\n').filter(line => !line.startsWith('#'));
  return {names: head.split(','), rows: lines.map(line => line.split(',').slice(-head.split(',').length))};
}

function ofTable(text, card) {
  const {names, rows} = rowsOf(text), bounds = card.bounds.value, column = name => rows.map(row => Number(row[names.indexOf(name)]));
  if (!names.includes('value')) return [['The table was written by an earlier version; this page does not read it.', null]];
  const ends = ['low', 'high'].filter(name => names.includes(name)), isShort = rows.some(row => row.length !== names.length);
  const all = ['value', ...ends].flatMap(column), isMean = bounds && card.release.what === 'Average curve';
  const found = [['The table has numbers only.', !isShort && all.every(Number.isFinite)]];
  if (isMean) found.push(['The curve and its band lie within the stated bounds.', all.every(v => v >= bounds.low - 1e-9 && v <= bounds.high + 1e-9)]);
  if (ends.length === 2) {
    const [low, high] = ends.map(column);
    found.push(['The lower end of the band is nowhere above the upper.', low.every((v, k) => v <= high[k])]);
    const half = card.accuracy.band?.average_half_width, wide = low.reduce((sum, v, k) => sum + (high[k] - v) / 2, 0) / low.length;
    if (half && !names.includes('function')) found.push(['The band is as wide as the card says.', near(wide, half, .02)]);
  }
  return found;
}

async function ofPackage(text, files) {
  const found = [];
  for (const {path, hash, bytes} of JSON.parse(text).resources) {
    if (!files[path]) { found.push([`${path} is not among the files.`, null]); continue; }
    const what = `${path} has the stated size and digest.`;
    if (files[path].size !== bytes) found.push([what, false]);
    else if (!crypto.subtle) found.push([`${what} Open this page from a file or over https.`, null]);
    else {
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await files[path].arrayBuffer()));
      found.push([what, hash === `sha256:${Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('')}`]);
    }
  }
  return found;
}

async function check(chosen) {
  const files = Object.fromEntries(Array.from(chosen, file => [file.name, file])), found = [];
  try {
    if (!files['guarantee.json']) found.push(['Choose guarantee.json, with the other files of the release.', null]);
    else {
      const card = JSON.parse(await files['guarantee.json'].text());
      found.push(...ofCard(card));
      if (files['release.csv']) found.push(...ofTable(await files['release.csv'].text(), card));
      if (files['datapackage.json']) found.push(...await ofPackage(await files['datapackage.json'].text(), files));
    }
  } catch (_) { found.push(['A file lacks what every release has: it was changed, or is of another program.', false]); }
  at('found').replaceChildren(...found.map(([text, holds]) => {
    const row = document.createElement('li'), word = document.createElement('b');
    word.textContent = holds === null ? 'not known' : holds ? 'right' : 'WRONG';
    row.className = holds === false ? 'wrong' : '';
    row.append(word, ` ${text}`);
    return row;
  }));
  at('verdict').textContent = found.some(([, holds]) => holds === false) ? 'WRONG: these files do not fit together.'
    : found.some(([, holds]) => holds) ? 'These files fit together.' : 'Nothing could be checked.';
}

at('files').onchange = event => check(event.target.files);
