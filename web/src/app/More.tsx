// On a phone: the places that are not in the bar.
import { useContext } from "react";

import { Page } from "../parts/Page";
import { useSay } from "../words/words";
import { OTHER } from "./places";
import { Link } from "./router";
import { SheetOpener } from "./shortcuts";
import { words } from "./words";

export default function More() {
  const say = useSay(words);
  const openSheet = useContext(SheetOpener);
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
        <li>
          <button type="button" className="more-place" onClick={openSheet}>
            {say("sheet")}
          </button>
        </li>
      </ul>
    </Page>
  );
}
