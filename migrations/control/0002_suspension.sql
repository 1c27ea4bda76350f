ALTER TABLE `shard` ADD `claimed_at` integer;--> statement-breakpoint
ALTER TABLE `tenant` ADD `suspension` text;--> statement-breakpoint
ALTER TABLE `tenant` ADD `restores` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `tenant` ADD `is_waking` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `tenant` ADD `operation` text;--> statement-breakpoint
CREATE INDEX `tenant_waking` ON `tenant` (`locator`) WHERE "tenant"."is_waking" = 1;