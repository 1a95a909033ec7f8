// A number of bytes as people say it.
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

export function bytesSaid(n: number): string {
  let unit = 0;
  let size = n;
  // What would be rounded up to a whole one is one.
  while (unit < UNITS.length - 1 && size >= 1023.95) {
    size /= 1024;
    unit++;
  }
  const isRound = unit === 0 || Number.isInteger(size) || size >= 100;
  return `${isRound ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`;
}

/** The server's own words, with large numbers of bytes in them said so that they can be read. */
export function withSizes(text: string): string {
  return text.replace(/\b(\d{4,15}) bytes\b/g, (_, n: string) => bytesSaid(Number(n)));
}
