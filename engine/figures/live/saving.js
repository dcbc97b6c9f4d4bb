// The figure as a file.

const KEPT = ['fill', 'fill-opacity', 'stroke', 'stroke-opacity', 'stroke-width', 'stroke-dasharray',
  'stroke-linecap', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'paint-order'];

function save(S, asked) {
  if (!S.data.downloads) return;
  const {whole, width, height} = picture(S, caption(S)), text = new XMLSerializer().serializeToString(whole);
  if (asked.split('-')[1] === 'svg') return downloadText(S, text);
  drawn({text, width, height}, 2, canvas => download(S, canvas.toDataURL('image/png'), 'png'));
}

function downloadText(S, text) {
  const url = URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'}));
  download(S, url, 'svg');
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function drawn({text, width, height}, times, use) {       // a picture as pixels, so many times as large
  const image = new Image();
  image.onload = () => {
    const canvas = Object.assign(document.createElement('canvas'), {width: times * width, height: times * height});
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    use(canvas);
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

const behind = () => getComputedStyle(document.querySelector('[data-testid=stApp]') || document.body).backgroundColor;

function picture(S, told) {               // all plots with their colours written in, below what is told
  const box = S.q('#figure'), ink = getComputedStyle(box).color, top = 18 * told.length + 12;
  const plots = plotsOf(S), width = S.width + 16, height = top + Math.max(...plots.map(plot => plot.y + plot.height)) + 8;
  const whole = svg('svg', {xmlns: SVG, width, height, viewBox: `-8 0 ${width} ${height}`},
    svg('rect', {x: -8, y: 0, width, height, fill: behind()}),
    ...told.map((line, k) => svg('text', {x: 4, y: 18 * (k + 1), fill: ink, 'font-family': 'sans-serif', 'font-size': '13px'}, line)));
  for (const P of plots) {
    const copy = P.svg.cloneNode(true), seen = P.svg.querySelectorAll('*');
    if (P.name) whole.append(svg('text', {x: P.x, y: top + P.y - 6, fill: ink, 'font-family': 'sans-serif', 'font-size': '13px'}, P.name));
    copy.querySelectorAll('*').forEach((node, k) => {
      const style = getComputedStyle(seen[k]);
      if (/^(path|line|rect|text|circle)$/.test(node.tagName)) {
        for (const name of KEPT) node.setAttribute(name, style.getPropertyValue(name).replaceAll('"', "'"));
      }
    });
    copy.querySelectorAll('.grip').forEach(node => node.remove());
    copy.querySelectorAll('[class]').forEach(node => node.removeAttribute('class'));
    for (const name of ['id', 'role', 'style']) copy.removeAttribute(name);
    for (const [name, value] of Object.entries({x: P.x, y: top + P.y, width: P.width, height: P.height})) copy.setAttribute(name, value);
    whole.append(copy);
  }
  return {whole, width, height};
}

function plotsOf(S) {                     // of the view on screen, each with its place
  if (S.picked.view === 'theory' && S.theory) return [{svg: S.rates.svg, x: 0, y: 0, width: S.rates.width, height: S.rates.height}];
  if (S.picked.view === 'methods' && S.methods) {
    const box = S.q('#tiles').getBoundingClientRect();
    return [...S.tiles.values()].map(({node, tile, numbersLine}) => {
      const {left, top, width, height} = node.getBoundingClientRect();
      return {svg: node, x: left - box.left, y: top - box.top, width, height, name: `${tile.querySelector('strong').textContent}: ${numbersLine.textContent}`};
    });
  }
  return [S.main, S.difference].filter(P => P.height).map((P, k) => ({svg: P.svg, x: 0, y: k * S.main.height, width: S.width, height: P.height}));
}

function caption(S) {                     // sentences, broken into lines that fit
  const {title, epsilons, source, errors} = S.data, {budget} = S.picked;
  return lines(S, `${title}. ε = ${epsilons[budget]}, ${errors[budget][2]}. ${S.answer ? `${S.answer} ` : ''}${source}.`, S.width - 8);
}

function download(S, url, ending) {
  const link = document.createElement('a');
  link.href = url;
  link.download = `privacy-curves-epsilon-${S.data.epsilons[S.picked.budget]}.${ending}`;
  link.click();
}
