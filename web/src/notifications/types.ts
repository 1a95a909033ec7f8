export interface NotifyChannelView {
  name: string;
  type: string;
  kinds: string[];
  state: string;
  pending: number;
  sent: number;
  last_error?: string | null;
  withdraws: boolean;
}
export interface NotificationsView {
  channels: NotifyChannelView[];
  problem?: string | null;
}
