import type { ViewProps } from "../app/places";
import { Page } from "../parts/Page";

export function Inbox({ id }: ViewProps) {
  return <Page title="Inbox">{id}</Page>;
}
