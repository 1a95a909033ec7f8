import { Page } from "../parts/Page";

export default function NewRun() {
  return <Page title="NewRun">{null}</Page>;
}
