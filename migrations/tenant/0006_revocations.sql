CREATE TABLE `revoked_account` (
	`account_locator` text NOT NULL,
	`epoch` integer NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`account_locator`, `epoch`)
);
