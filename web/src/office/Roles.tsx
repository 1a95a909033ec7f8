// Everybody of the office in a list: the same as the picture, for keys and for who hears it.
import { Said } from "../parts/Said";
import { Mark } from "../parts/status";
import { useLanguage, useSay } from "../words/words";
import type { InsideProps } from "./Picture";
import { personFacts, personState } from "./said";
import { words } from "./words";

export function Roles({ seen, chosen, onOpen }: InsideProps) {
  const say = useSay(words);
  const language = useLanguage();
  return (
    <section className="stack">
      <h2>{say("roles")}</h2>
      <ul className="panel list" aria-label={say("roles")}>
        {seen.people.map((person) => (
          <li key={person.name}>
            <button type="button" className="office-row" data-person={person.name} aria-pressed={person.name === chosen} onClick={() => onOpen(person.name)}>
              <span className="strong">
                <Said text={person.name} />
              </span>
              <Mark status={personState(say, language, person)} />
              <span className="small dim office-row-facts">
                {personFacts(say, person).map((fact) => (
                  <Said key={fact} text={fact} />
                ))}
                {person.role?.description != null && <Said text={person.role.description} />}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
