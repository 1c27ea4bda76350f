-- moves: timer, installment, invoice, payment, document, modification, policy_segment, exposure, exposure_run, peril, peril_run, fee, reinstatement, grace_period, lapse, lapse_reinstatement, policy_term, policyholder_term, aux_data, migration_mapping, event
CREATE TABLE `timer_moved` (
	`locator` text NOT NULL,
	`due_at` integer NOT NULL,
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`payload` text NOT NULL,
	PRIMARY KEY(`subject`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE INDEX `timer_due_at` ON `timer_moved` (`due_at`);--> statement-breakpoint
CREATE TABLE `installment_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`modification_locator` text NOT NULL,
	`number` integer NOT NULL,
	`start` integer NOT NULL,
	`end` integer NOT NULL,
	`issue_at` integer NOT NULL,
	`due_at` integer NOT NULL,
	`periods` text NOT NULL,
	`carries_below` integer,
	`absorbed_by` text NOT NULL,
	`takes_over` text,
	`leaves_out` text,
	`items` text,
	`fees` text,
	`write_off` integer,
	`replans` text,
	`paid_before` text,
	PRIMARY KEY(`policy_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE TABLE `invoice_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`display_id` integer NOT NULL,
	`policy_modification_locator` text NOT NULL,
	`installment_number` integer NOT NULL,
	`type` text NOT NULL,
	`start` integer NOT NULL,
	`end` integer NOT NULL,
	`due_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`statuses` text NOT NULL,
	`grace_end_at` integer,
	`is_refund` integer,
	PRIMARY KEY(`policy_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE INDEX `invoice_older` ON `invoice_moved` (`locator`) WHERE substr(locator, 15, 1) <> '8';--> statement-breakpoint
CREATE TABLE `payment_moved` (
	`locator` text NOT NULL,
	`display_id` integer NOT NULL,
	`policy_locator` integer NOT NULL,
	`policyholder_locator` text NOT NULL,
	`invoice_locator` text NOT NULL,
	`source` text NOT NULL,
	`offset_invoice_locator` text,
	`amount` integer NOT NULL,
	`credited` integer NOT NULL,
	`currency` text NOT NULL,
	`field_values` text NOT NULL,
	`posted_at` integer NOT NULL,
	`reversed_at` integer,
	PRIMARY KEY(`policy_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE INDEX `payment_older` ON `payment_moved` (`locator`) WHERE substr(locator, 15, 1) <> '8';--> statement-breakpoint
CREATE INDEX `payment_of_credit` ON `payment_moved` (`policyholder_locator`,`posted_at`,`locator`) WHERE credited > 0 or source = 'credit';--> statement-breakpoint
CREATE TABLE `document_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`subject` text NOT NULL,
	`subject_locator` text NOT NULL,
	`modification_locator` text,
	`display_name` text NOT NULL,
	`file_name` text NOT NULL,
	`type` text NOT NULL,
	`template_name` text,
	`page_layout` text,
	`made_at` text,
	`sources` text,
	`deletes_sources` integer,
	`document_type` text,
	`state` text NOT NULL,
	`failure` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`policy_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE INDEX `document_older` ON `document_moved` (`locator`) WHERE substr(locator, 15, 1) <> '8';--> statement-breakpoint
CREATE TABLE `modification_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`display_id` integer NOT NULL,
	`kind` text NOT NULL,
	`quote_locator` integer,
	`number` integer NOT NULL,
	`name` text NOT NULL,
	`effective_at` integer NOT NULL,
	`policy_end` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`accepted_at` integer,
	`issued_at` integer,
	`invalidated_at` integer,
	`underwriting` text,
	`premium_change` integer,
	`proration` text,
	`transaction_locator` text,
	`undoes` text,
	`holdbacks` text,
	`cancellation_name` text,
	`new_payment_schedule_name` text,
	PRIMARY KEY(`policy_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE INDEX `modification_older` ON `modification_moved` (`locator`) WHERE substr(locator, 15, 1) <> '8';--> statement-breakpoint
CREATE TABLE `policy_segment_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`made_by` text NOT NULL,
	`replaced_by` text,
	`start` integer NOT NULL,
	`end` integer NOT NULL,
	`quote_locator` integer NOT NULL,
	`data` text NOT NULL,
	`predecessor` text,
	PRIMARY KEY(`policy_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE TABLE `exposure_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`display_id` integer NOT NULL,
	`quote_locator` integer NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`policy_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE TABLE `exposure_run_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`made_by` text NOT NULL,
	`replaced_by` text,
	`start` integer NOT NULL,
	`end` integer NOT NULL,
	`exposure_locator` text NOT NULL,
	`data` text NOT NULL,
	`cuts` text NOT NULL,
	PRIMARY KEY(`policy_locator`, `exposure_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE TABLE `peril_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`display_id` integer NOT NULL,
	`exposure_locator` text NOT NULL,
	`name` text NOT NULL,
	`renewal_group` text NOT NULL,
	`parent_locator` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`policy_locator`, `exposure_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE INDEX `peril_older` ON `peril_moved` (`locator`) WHERE substr(locator, 15, 1) <> '8';--> statement-breakpoint
CREATE INDEX `peril_number` ON `peril_moved` (`display_id`);--> statement-breakpoint
CREATE TABLE `peril_run_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`made_by` text NOT NULL,
	`replaced_by` text,
	`start` integer NOT NULL,
	`end` integer NOT NULL,
	`peril_locator` text NOT NULL,
	`data` text NOT NULL,
	`amounts` text NOT NULL,
	`cuts` text NOT NULL,
	`month_premium` text,
	`premium` integer,
	`price` text,
	`splits` text,
	PRIMARY KEY(`policy_locator`, `peril_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE TABLE `fee_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`quote_locator` integer NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`amount` integer NOT NULL,
	`made_by` text NOT NULL,
	`start` integer NOT NULL,
	`end` integer NOT NULL,
	`changes` text NOT NULL,
	PRIMARY KEY(`policy_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE TABLE `reinstatement_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`cancellation_locator` integer NOT NULL,
	`state` text NOT NULL,
	`effective_at` integer NOT NULL,
	`deadline_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`issued_at` integer,
	`modification_locator` text,
	PRIMARY KEY(`policy_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE INDEX `reinstatement_older` ON `reinstatement_moved` (`locator`) WHERE substr(locator, 15, 1) <> '8';--> statement-breakpoint
CREATE TABLE `grace_period_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`invoice_locator` text NOT NULL,
	`state` text NOT NULL,
	`start_at` integer NOT NULL,
	`end_at` integer NOT NULL,
	`cancel_effective_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`settled_at` integer,
	`cancellation_locator` integer,
	PRIMARY KEY(`policy_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE INDEX `grace_period_older` ON `grace_period_moved` (`locator`) WHERE substr(locator, 15, 1) <> '8';--> statement-breakpoint
CREATE TABLE `lapse_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`grace_period_locator` text NOT NULL,
	`modification_locator` text NOT NULL,
	`lapsed_at` integer NOT NULL,
	`reinstatement_period_end_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`policy_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE INDEX `lapse_older` ON `lapse_moved` (`locator`) WHERE substr(locator, 15, 1) <> '8';--> statement-breakpoint
CREATE TABLE `lapse_reinstatement_moved` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`lapse_locator` text NOT NULL,
	`statuses` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`effective_at` integer,
	`modification_locator` text,
	PRIMARY KEY(`policy_locator`, `locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE INDEX `lapse_reinstatement_older` ON `lapse_reinstatement_moved` (`locator`) WHERE substr(locator, 15, 1) <> '8';--> statement-breakpoint
CREATE TABLE `policy_term_moved` (
	`field` text NOT NULL,
	`term` text NOT NULL,
	`policy_locator` integer NOT NULL,
	PRIMARY KEY(`field`, `term`, `policy_locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE INDEX `policy_term_of` ON `policy_term_moved` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `policyholder_term_moved` (
	`field` text NOT NULL,
	`term` text NOT NULL,
	`policyholder_locator` text NOT NULL,
	PRIMARY KEY(`field`, `term`, `policyholder_locator`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE INDEX `policyholder_term_of` ON `policyholder_term_moved` (`policyholder_locator`);--> statement-breakpoint
CREATE TABLE `aux_data_moved` (
	`locator` text NOT NULL,
	`key` text NOT NULL,
	`value` text NOT NULL,
	`ui_type` text NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`locator`, `key`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE TABLE `migration_mapping_moved` (
	`account_locator` text NOT NULL,
	`kind` text NOT NULL,
	`original_id` text NOT NULL,
	`migration_locator` text NOT NULL,
	`locator` text NOT NULL,
	`children` text NOT NULL,
	`migrated_at` integer NOT NULL,
	PRIMARY KEY(`account_locator`, `kind`, `original_id`)
) WITHOUT ROWID;--> statement-breakpoint
CREATE TABLE `event_moved` (
	`sequence` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`locator` text NOT NULL,
	`request_id` text NOT NULL,
	`type` text NOT NULL,
	`newer_type` text,
	`at` integer NOT NULL,
	`data` text NOT NULL,
	`account_locator` text NOT NULL,
	`username` text NOT NULL,
	`policyholder_locator` text,
	`policy_locator` integer
);--> statement-breakpoint
CREATE UNIQUE INDEX `event_id` ON `event_moved` (`locator`);--> statement-breakpoint
CREATE INDEX `event_older_request` ON `event_moved` (`request_id`) WHERE substr(locator, 1, 24) <> substr(request_id, 1, 24);--> statement-breakpoint
CREATE INDEX `event_of_type` ON `event_moved` (`type`,`sequence`);--> statement-breakpoint
CREATE INDEX `event_custom_of` ON `event_moved` (`policy_locator`) WHERE "event_moved"."type" like 'custom.%';
-- at the end
DROP INDEX `write_at`;
