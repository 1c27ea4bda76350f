CREATE TABLE `administration_audit` (
	`locator` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL,
	`action` text NOT NULL,
	`subject` text NOT NULL,
	`details` text NOT NULL,
	`account_locator` text NOT NULL,
	`username` text NOT NULL,
	`request_id` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `administration_audit_created` ON `administration_audit` (`created_at`,`locator`);--> statement-breakpoint
CREATE TABLE `administration_token` (
	`locator` text PRIMARY KEY NOT NULL,
	`account_locator` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`permissions` text NOT NULL,
	`tenants` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `administration_token_hash` ON `administration_token` (`hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `administration_token_name` ON `administration_token` (`account_locator`,`name`);--> statement-breakpoint
CREATE TABLE `administrator` (
	`locator` text PRIMARY KEY NOT NULL,
	`username` text NOT NULL,
	`name` text NOT NULL,
	`password_hash` text NOT NULL,
	`failed_sign_ins` integer DEFAULT 0 NOT NULL,
	`locked_until` integer,
	`token_epoch` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `administrator_username` ON `administrator` (`username`);--> statement-breakpoint
CREATE TABLE `pool_database` (
	`binding` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`migration` text NOT NULL,
	`place` text DEFAULT '' NOT NULL,
	`returned_at` integer,
	`former_tenant` text,
	`former_generation` integer
);
--> statement-breakpoint
CREATE INDEX `pool_database_state` ON `pool_database` (`state`);--> statement-breakpoint
CREATE TABLE `revocation` (
	`account_locator` text PRIMARY KEY NOT NULL,
	`tenant_locator` text NOT NULL,
	`epoch` integer NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `revocation_tenant` ON `revocation` (`tenant_locator`);--> statement-breakpoint
CREATE TABLE `shard` (
	`tenant_locator` text NOT NULL,
	`number` integer NOT NULL,
	`binding` text NOT NULL,
	`opens_at` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`tenant_locator`, `number`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shard_binding` ON `shard` (`binding`);--> statement-breakpoint
CREATE TABLE `tenant` (
	`locator` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`host_name` text NOT NULL,
	`type` text NOT NULL,
	`status` text NOT NULL,
	`generation` integer NOT NULL,
	`token_epoch` integer NOT NULL,
	`versioned` integer NOT NULL,
	`clock_offset_ms` integer DEFAULT 0 NOT NULL,
	`autofill` text DEFAULT '{}' NOT NULL,
	`has_tables` integer DEFAULT false NOT NULL,
	`allowed_origins` text DEFAULT '[]' NOT NULL,
	`quotas` text DEFAULT '{}' NOT NULL,
	`place` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tenant_name` ON `tenant` (`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `tenant_host_name` ON `tenant` (`host_name`);