CREATE INDEX `plugin_log_policy` ON `plugin_log` (`policy_locator`,`created_at`,`locator`);--> statement-breakpoint
CREATE INDEX `invoice_number` ON `invoice` (`display_id`,`locator`);--> statement-breakpoint
CREATE INDEX `event_schedule_policy` ON `event_schedule` (`policy_locator`);