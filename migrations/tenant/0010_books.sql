CREATE TABLE `book_closing` (
	`until` integer PRIMARY KEY NOT NULL,
	`closed_at` integer NOT NULL,
	`username` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `book_summary` (
	`day` integer NOT NULL,
	`product_name` text NOT NULL,
	`currency` text NOT NULL,
	`account` text NOT NULL,
	`debit` integer NOT NULL,
	`credit` integer NOT NULL,
	PRIMARY KEY(`day`, `product_name`, `currency`, `account`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `books` (
	`id` integer PRIMARY KEY NOT NULL,
	`closed_until` integer NOT NULL,
	`summarized_to` integer NOT NULL,
	`brought_in_to` integer NOT NULL,
	`brought_in_at` integer
);
--> statement-breakpoint
CREATE TABLE `journal` (
	`id` integer PRIMARY KEY NOT NULL,
	`policy_locator` integer,
	`policyholder_locator` text NOT NULL,
	`product_name` text,
	`currency` text NOT NULL,
	`kind` text NOT NULL,
	`at` integer NOT NULL,
	`effective_at` integer NOT NULL,
	`modification_locator` text,
	`segment_locator` text,
	`closed_until` integer NOT NULL,
	`entries` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `journal_policy` ON `journal` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `report_schedule` (
	`locator` text PRIMARY KEY NOT NULL,
	`report_name` text NOT NULL,
	`parameters` text NOT NULL,
	`calendar` text NOT NULL,
	`next_at` integer NOT NULL,
	`last_report_locator` text,
	`created_at` integer NOT NULL,
	`username` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `report` (
	`locator` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`state` text NOT NULL,
	`parameters` text NOT NULL,
	`known_at` integer NOT NULL,
	`schedule_locator` text,
	`expected` integer NOT NULL,
	`processed` integer NOT NULL,
	`rows_read` integer NOT NULL,
	`shard` integer NOT NULL,
	`after` integer NOT NULL,
	`portions` integer NOT NULL,
	`totals` text NOT NULL,
	`steps` integer NOT NULL,
	`files` text,
	`problem` text,
	`tries` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`finished_at` integer,
	`username` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `report_created` ON `report` (`created_at`,`locator`);