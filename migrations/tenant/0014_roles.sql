CREATE TABLE `account_role` (
	`account_locator` text NOT NULL,
	`role` text NOT NULL,
	PRIMARY KEY(`account_locator`, `role`)
);
--> statement-breakpoint
CREATE INDEX `account_role_role` ON `account_role` (`role`);--> statement-breakpoint
CREATE TABLE `role` (
	`name` text PRIMARY KEY NOT NULL,
	`title` text,
	`permissions` text NOT NULL,
	`revision` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
