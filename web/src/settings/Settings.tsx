import { Page } from "../parts/Page";

export default function Settings() {
  return <Page title="Settings">{null}</Page>;
}
