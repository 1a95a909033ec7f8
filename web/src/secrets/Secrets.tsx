import { Page } from "../parts/Page";

export default function Secrets() {
  return <Page title="Secrets">{null}</Page>;
}
