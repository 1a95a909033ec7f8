import { Page } from "../parts/Page";

export default function Notifications() {
  return <Page title="Notifications">{null}</Page>;
}
