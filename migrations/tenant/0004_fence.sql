CREATE TABLE `fence` (
	`id` integer PRIMARY KEY NOT NULL,
	`tenant_locator` text NOT NULL,
	`generation` integer NOT NULL,
	`state` text NOT NULL,
	`token_epoch` integer NOT NULL,
	`restores` integer NOT NULL
);
