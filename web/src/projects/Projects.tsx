import { Page } from "../parts/Page";

export default function Projects() {
  return <Page title="Projects">{null}</Page>;
}
