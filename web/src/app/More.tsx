// On a phone: the places that are not in the bar.
import { Page } from "../parts/Page";
import { useSay } from "../words/words";
import { OTHER } from "./places";
import { Link } from "./router";
import { words } from "./words";

export default function More() {
  const say = useSay(words);
  return (
    <Page title={say("more")}>
      <ul className="panel list">
        {OTHER.map(({ to, name }) => (
          <li key={to}>
            <Link href={to} className="more-place">
              {say(name)}
            </Link>
          </li>
        ))}
      </ul>
    </Page>
  );
}
