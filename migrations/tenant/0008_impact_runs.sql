CREATE TABLE `impact_run` (
	`locator` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`question` text NOT NULL,
	`against` text NOT NULL,
	`fields` text NOT NULL,
	`expected` integer NOT NULL,
	`shard` integer NOT NULL,
	`after` integer NOT NULL,
	`portions` integer NOT NULL,
	`totals` text NOT NULL,
	`tries` integer NOT NULL,
	`created_at` integer NOT NULL,
	`username` text NOT NULL,
	`updated_at` integer NOT NULL
);
