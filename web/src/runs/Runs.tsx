import { Page } from "../parts/Page";

export default function Runs() {
  return <Page title="Runs">{null}</Page>;
}
