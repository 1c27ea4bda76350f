CREATE TABLE `announced_migration` (
	`name` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`statements` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `pool_database` ADD `tried_at` integer;--> statement-breakpoint
ALTER TABLE `pool_database` ADD `tries` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `pool_database` ADD `problem` text;--> statement-breakpoint
CREATE INDEX `pool_database_migration` ON `pool_database` (`migration`);