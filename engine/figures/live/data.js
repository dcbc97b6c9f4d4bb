// What the server sent, decoded: curves, releases and their ranges.

const AROUND = .15;                       // of the height of the curves, left free above and below them
const EDGE = .05;                         // of the time axis at either end, to which no axis is fitted
const ROOM = 1.25;                        // of what an axis has to show
const OFF = .75;                          // of what lies to one side of zero

function decode(data) {
  const value = text => numbers(text, ...data.scale);
  const without = value(data.without), points = data.points;
  const rows = (texts, scales) => texts.map((text, b) => split(numbers(text, ...scales[b]), points));
  return {
    times: numbers(data.times, data.time.low, data.time.high), without,
    truth: data.truth && onto(without, numbers(...data.truth)),
    people: singles(data, value(data.curve_values)),
    releases: rows(data.releases, data.scales),       // differences from the mean without privacy
    fog: rows(data.fog, data.fog_scales),             // ends of the middle 95 % and 50 % of releases, from below
  };
}

function singles(data, values) {          // the grey curves, each with its own times
  const times = numbers(data.curve_times, data.time.low, data.time.high);
  let from = 0;
  return data.counts.map(count => {
    const part = {times: times.subarray(from, from + count), values: values.subarray(from, from + count)};
    from += count;
    return part;
  });
}

function numbers(coded, low, high) {      // text, or 16-bit numbers that are unpacked already
  const whole = coded instanceof Int16Array ? coded : new Int16Array(Uint8Array.from(atob(coded), c => c.charCodeAt(0)).buffer);
  const step = (high - low) / 65535;
  return Float64Array.from(whole, q => low + (q + 32768) * step);
}

const onto = (without, differences) => differences.map((d, k) => d + without[k % without.length]);

const split = (all, points) => Array.from({length: all.length / points}, (_, k) => all.subarray(k * points, (k + 1) * points));

const furthest = row => row.reduce((most, y) => Math.max(most, Math.abs(y)), 0);

// What the value axis shows: the curves with room around them, and never more than the public bounds.
function inView({data: {value}, curves}) {
  const drawn = [curves.without, curves.truth ?? [], ...curves.people.map(person => person.values)];
  const [low, high] = drawn.reduce(([least, most], row) => [Math.min(least, ...row), Math.max(most, ...row)], [Infinity, -Infinity]);
  const room = AROUND * (high - low), from = Math.max(value.low, low - room), to = Math.min(value.high, high + room);
  return to > from ? {low: from, high: to} : {low: value.low, high: value.high};
}

// Half-heights of the difference panel that show all of some rows, one per budget: they never grow with ε.
function limits(S, drawn, most) {
  const needs = S.data.epsilons.map((_, b) => Math.max(...drawn(b).map(furthest)));
  for (let b = needs.length - 2; b >= 0; b--) needs[b] = Math.max(needs[b], needs[b + 1]);
  return needs.map(need => rung(Math.min(Math.max(need, 1e-9), most)));
}

// Those that fit the fog over the middle of the time axis: a quarter more than half its width, and at
// least three quarters of how far it lies from the mean.
function fogLimits({curves: {fog}, data: {value}}) {
  return fog.map(ends => {
    const last = ends[0].length, end = Math.round(EDGE * last), most = row => furthest(row.subarray(end, last - end));
    const need = Math.max(ROOM * most(halfWidths(ends)), OFF * most(ends[0]), OFF * most(ends[3]), 1e-9);
    return rung(Math.min(need, (value.high - value.low) / 2));
  });
}

function rung(need) {
  const power = 10 ** Math.floor(Math.log10(need));
  return [1, 1.5, 2, 3, 4, 6, 8, 10].find(k => k * power >= need * 0.999) * power;
}

const halfWidths = ([low, , , high]) => high.map((y, k) => (y - low[k]) / 2);

function median(row) {
  const sorted = Float64Array.from(row).sort(), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

const blend = (from, to, mix) => mix ? from.map((y, k) => y + (to[k] - y) * mix) : from;

function between(times, values, t) {      // on straight lines between observations, constant beyond
  if (t <= times[0]) return values[0];
  const last = times.length - 1;
  if (t >= times[last]) return values[last];
  let k = 1;
  while (times[k] < t) k++;
  const share = (t - times[k - 1]) / (times[k] - times[k - 1] || 1);
  return values[k - 1] + share * (values[k] - values[k - 1]);
}

const dot = (a, b) => a.reduce((sum, y, k) => sum + y * b[k], 0);
