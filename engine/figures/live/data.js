// What the server sent, decoded: curves, releases and their ranges.

function decode(data) {
  const value = text => numbers(text, ...data.scale);
  const without = value(data.without), points = data.points;
  const rows = (texts, scales) => texts.map((text, b) => split(numbers(text, ...scales[b]), points));
  return {
    times: numbers(data.times, data.time.low, data.time.high), without,
    truth: data.truth && onto(without, numbers(...data.truth)),
    people: singles(data, value(data.curve_values)),
    releases: rows(data.releases, data.scales),       // differences from the mean without privacy
    low: data.band && rows(data.band.low, data.band.scales).map(all => all.map(finer)),
    high: data.band && rows(data.band.high, data.band.scales).map(all => all.map(finer)),
    noise: data.noise.map((text, b) => numbers(text, ...data.noise_scales[b])),
  };
}

function finer(half) {                    // every second point was sent: the ones between, by a cubic
  const last = half.length - 1, at = k => half[Math.max(0, Math.min(last, k))];
  return Float64Array.from({length: 2 * last + 1}, (_, k) => k % 2 === 0 ? half[k / 2]
    : k === 1 || k === 2 * last - 1 ? (at((k - 1) / 2) + at((k + 1) / 2)) / 2
      : (9 * (at((k - 1) / 2) + at((k + 1) / 2)) - at((k - 3) / 2) - at((k + 3) / 2)) / 16);
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

const split = (all, points) => {          // bands come with every second point
  const length = all.length % points ? (points + 1) / 2 : points;
  return Array.from({length: all.length / length}, (_, k) => all.subarray(k * length, (k + 1) * length));
};

const furthest = row => row.reduce((most, y) => Math.max(most, Math.abs(y)), 0);

// What the value axis shows: the curves with room around them, and never more than the public bounds.
function inView({data: {value}, curves}) {
  const drawn = [curves.without, curves.truth ?? [], ...curves.people.map(person => person.values)];
  const [low, high] = drawn.reduce(([least, most], row) => [Math.min(least, ...row), Math.max(most, ...row)], [Infinity, -Infinity]);
  const room = AROUND * (high - low), from = Math.max(value.low, low - room), to = Math.min(value.high, high + room);
  return to > from ? {low: from, high: to} : {low: value.low, high: value.high};
}

// Half-heights of the difference panel, one per budget. They never grow with ε, come from a ladder
// so that the axis changes seldom, and end at half the value axis: beyond it curves leave the frame.
function limits(S, drawn, most = Infinity) {
  const {value} = S.data, needs = S.data.epsilons.map((_, b) => Math.max(...drawn(b).map(furthest)));
  for (let b = needs.length - 2; b >= 0; b--) needs[b] = Math.max(needs[b], needs[b + 1]);
  return needs.map(need => rung(Math.min(Math.max(need, 1e-9), most < Infinity ? most : (value.high - value.low) / 2)));
}

function rung(need) {
  const power = 10 ** Math.floor(Math.log10(need));
  return [1, 2, 3, 5, 10].find(k => k * power >= need * 0.999) * power;
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
