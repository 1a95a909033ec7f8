import { Page } from "../parts/Page";

export default function Run() {
  return <Page title="Run">{null}</Page>;
}
