import { Page } from "../parts/Page";

export default function Agents() {
  return <Page title="Agents">{null}</Page>;
}
