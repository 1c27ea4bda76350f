CREATE INDEX `invoice_owed` ON `invoice` (`due_at`,`locator`) WHERE json_extract(statuses, '$[#-1].status') = 'unfulfilled' and is_refund is null;--> statement-breakpoint
CREATE INDEX `document_failed` ON `document` (`updated_at`,`locator`) WHERE state in ('dataError', 'renderError', 'conversionError');--> statement-breakpoint
CREATE INDEX `cancellation_lapsed` ON `cancellation` (`issued_at`,`locator`) WHERE state = 'issued' and name = 'lapse';--> statement-breakpoint
CREATE INDEX `endorsement_application` ON `endorsement` (`updated_at`,`locator`) WHERE state = 'application';--> statement-breakpoint
CREATE INDEX `endorsement_quoted` ON `endorsement` (`updated_at`,`locator`) WHERE state = 'quoted';--> statement-breakpoint
CREATE INDEX `grace_period_open` ON `grace_period` (`end_at`,`locator`) WHERE settled_at is null;--> statement-breakpoint
CREATE INDEX `lapse_ending` ON `lapse` (`reinstatement_period_end_at`,`locator`);--> statement-breakpoint
CREATE INDEX `policy_ending` ON `policy` (`effective_end`,`locator`) WHERE issued_at is not null;--> statement-breakpoint
CREATE INDEX `quote_referred` ON `quote` (`updated_at`,`locator`) WHERE state = 'declined' and json_extract(underwriting, '$.decision') = 'none';--> statement-breakpoint
CREATE INDEX `quote_quoted` ON `quote` (`updated_at`,`locator`) WHERE state = 'quoted' and selected = 1;--> statement-breakpoint
CREATE INDEX `migration_created` ON `migration_run` (`created_at`,`locator`);--> statement-breakpoint
CREATE INDEX `migration_open` ON `migration_run` (`created_at`,`locator`) WHERE state <> 'finished';--> statement-breakpoint
CREATE INDEX `delivery_failed` ON `delivery` (`event_sequence`,`webhook_locator`) WHERE "delivery"."state" in ('failed', 'diverted');