import { Page } from "../parts/Page";

export default function Session() {
  return <Page title="Session">{null}</Page>;
}
