// What packed.py packs, in a browser.

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const block = new Uint8Array(await new Response(stream).arrayBuffer());
  const end = 4 + new DataView(block.buffer).getUint32(0, true), count = (block.length - end) / 2;
  const run = (first, length) => {        // second differences, summed up twice, modulo 2^16
    const values = new Int16Array(length);
    let slope = 0, value = 0;
    for (let k = 0; k < length; k++) {
      slope += block[end + first + k] | block[end + count + first + k] << 8;
      values[k] = value += slope;
      [slope, value] = [slope & 65535, value & 65535];
    }
    return values;
  };
  return JSON.parse(new TextDecoder().decode(block.subarray(4, end)),
    (_, value) => Array.isArray(value?.['@']) ? run(...value['@']) : value);
}
