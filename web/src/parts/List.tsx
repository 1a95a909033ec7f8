// A list that was asked for: on its way, failed, empty, or there, with a button for older ones where it comes page by page.
import type { ReactNode } from "react";

import { Link } from "../app/router";
import { useSay } from "../words/words";
import { Said } from "./Said";
import { Empty, Failure, Loading } from "./states";
import { words } from "./words";

/** How the question for it stands. */
interface Asked {
  error: Error | null;
  isPending: boolean;
  refetch: () => unknown;
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  fetchNextPage?: () => unknown;
}

interface ListProps<T> {
  asked: Asked;
  items: T[] | undefined;
  label: string;
  /** What stands there if there is none. */
  empty: ReactNode;
  className?: string;
  children: (item: T) => ReactNode;
}

export function List<T>({ asked, items, label, empty, className = "panel list", children }: ListProps<T>) {
  const say = useSay(words);
  return (
    <>
      {asked.error && <Failure error={asked.error} onAgain={() => void asked.refetch()} />}
      {asked.isPending && <Loading />}
      {items?.length === 0 && <Empty>{empty}</Empty>}
      {items && items.length > 0 && (
        <ul className={className} aria-label={label}>
          {items.map(children)}
        </ul>
      )}
      {asked.hasNextPage && (
        <p>
          <button type="button" className="button" disabled={asked.isFetchingNextPage} onClick={() => void asked.fetchNextPage?.()}>
            {say("older")}
          </button>
        </p>
      )}
    </>
  );
}

interface ItemProps {
  href: string;
  /** How it is. */
  status: ReactNode;
  title: string;
  facts: ReactNode;
  children?: ReactNode;
}

/** One of a list that leads to a page of its own; what else can be done or read stands below the link. */
export function Item({ href, status, title, facts, children }: ItemProps) {
  return (
    <li className="item">
      <Link href={href} className="item-link">
        {status}
        <Said text={title} className="strong item-title" />
        <span className="dim small">{facts}</span>
      </Link>
      {children}
    </li>
  );
}
