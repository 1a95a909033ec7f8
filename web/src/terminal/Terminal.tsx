// What an agent prints, live. Loaded only where it is shown.
export default function Terminal({ session }: { session: string }) {
  return <p className="dim">{session}</p>;
}
