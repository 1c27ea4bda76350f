CREATE TABLE `deployment_log` (
	`locator` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL,
	`kind` text NOT NULL,
	`version` integer,
	`summary` text NOT NULL,
	`steps` text NOT NULL,
	`findings` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `deployment_log_created` ON `deployment_log` (`created_at`,`locator`);--> statement-breakpoint
CREATE INDEX `deployment_log_version` ON `deployment_log` (`version`,`created_at`,`locator`);