ALTER TABLE `shard` ADD `closes_at` integer;--> statement-breakpoint
ALTER TABLE `shard` ADD `bytes` integer;