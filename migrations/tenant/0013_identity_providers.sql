CREATE TABLE `account_identity` (
	`issuer` text NOT NULL,
	`subject` text NOT NULL,
	`account_locator` text NOT NULL,
	`closed_at` integer,
	PRIMARY KEY(`issuer`, `subject`)
);
--> statement-breakpoint
CREATE INDEX `account_identity_account` ON `account_identity` (`account_locator`);--> statement-breakpoint
CREATE TABLE `identity_provider` (
	`name` text PRIMARY KEY NOT NULL,
	`label` text NOT NULL,
	`issuer` text NOT NULL,
	`client_id` text NOT NULL,
	`sealed_secret` text,
	`audience` text NOT NULL,
	`scopes` text NOT NULL,
	`mappings` text NOT NULL,
	`replaces_passwords` integer NOT NULL,
	`revision` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `identity_provider_issuer` ON `identity_provider` (`issuer`);--> statement-breakpoint
CREATE TABLE `used_id_token` (
	`hash` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `used_id_token_expires` ON `used_id_token` (`expires_at`);