// Colours of a terminal that can be read on this page's ground, light or dark. The first sixteen are tokens; what is
// beyond them is moved towards black or white until there is enough contrast.
export type Rgb = readonly [number, number, number];

/** The grounds of the terminal, as in the tokens. */
const LIGHT: Rgb = [0xf0, 0xee, 0xe9];
const DARK: Rgb = [0x11, 0x11, 0x10];
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];
const CONTRAST_MIN = 4.5;

/** The first sixteen where they are a ground, and so have to be known. */
const SIXTEEN: readonly Rgb[] = [
  [0x33, 0x32, 0x2f], [0xb3, 0x3a, 0x3a], [0x3a, 0x7d, 0x48], [0x9a, 0x6a, 0x10],
  [0x2f, 0x62, 0xb0], [0x8a, 0x45, 0x96], [0x1a, 0x76, 0x86], [0xc9, 0xc6, 0xbf],
  [0x7b, 0x77, 0x6f], [0xe0, 0x6c, 0x66], [0x7c, 0xb8, 0x88], [0xd9, 0xa5, 0x4f],
  [0x7f, 0xa8, 0xe6], [0xc3, 0x8a, 0xcd], [0x6b, 0xbc, 0xcb], [0xff, 0xfe, 0xfc],
];

/** What a number of the palette of 256 stands for. */
export function palette(index: number): Rgb {
  const known = SIXTEEN[index];
  if (known) return known;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return [grey, grey, grey];
  }
  const level = (n: number) => (n === 0 ? 0 : 55 + n * 40);
  const cube = index - 16;
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)];
}

export function unpack(packed: number): Rgb {
  return [(packed >> 16) & 255, (packed >> 8) & 255, packed & 255];
}

function luminance([r, g, b]: Rgb): number {
  const linear = (value: number) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

export function contrast(one: Rgb, other: Rgb): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** Whichever of black and white can be read better. */
function farthest(ground: Rgb): Rgb {
  return contrast(BLACK, ground) > contrast(WHITE, ground) ? BLACK : WHITE;
}

/** A colour of the same kind that can be read on this ground. */
export function readable(colour: Rgb, ground: Rgb): Rgb {
  const target = farthest(ground);
  for (let part = 0; part < 1; part += 0.1) {
    const mixed = colour.map((value, index) => Math.round(value + ((target[index] ?? 0) - value) * part)) as unknown as Rgb;
    if (contrast(mixed, ground) >= CONTRAST_MIN) return mixed;
  }
  return target;
}

export function css([r, g, b]: Rgb): string {
  return `rgb(${r} ${g} ${b})`;
}

/** On the page's own ground, whichever that is. */
export function onPage(colour: Rgb): string {
  return `light-dark(${css(readable(colour, LIGHT))}, ${css(readable(colour, DARK))})`;
}

/** On a ground of its own; without a colour, whichever of black and white can be read. */
export function onGround(colour: Rgb | null, ground: Rgb): string {
  return css(colour === null ? farthest(ground) : readable(colour, ground));
}
