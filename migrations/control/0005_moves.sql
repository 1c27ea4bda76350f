ALTER TABLE `deployment` ADD `version` text;--> statement-breakpoint
ALTER TABLE `deployment` ADD `ready_moves` text DEFAULT '[]' NOT NULL;