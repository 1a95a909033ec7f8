import { Page } from "../parts/Page";

export default function Trust() {
  return <Page title="Trust">{null}</Page>;
}
