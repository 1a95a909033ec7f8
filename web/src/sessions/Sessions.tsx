import { Page } from "../parts/Page";

export default function Sessions() {
  return <Page title="Sessions">{null}</Page>;
}
