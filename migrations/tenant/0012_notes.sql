CREATE TABLE `note` (
	`locator` text NOT NULL,
	`policyholder_locator` text NOT NULL,
	`policy_locator` integer,
	`record_type` text NOT NULL,
	`record_locator` text NOT NULL,
	`text` text NOT NULL,
	`account_locator` text NOT NULL,
	`username` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`policyholder_locator`, `locator`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `note_locator` ON `note` (`locator`);