CREATE TABLE `guard` (
	`name` text NOT NULL,
	CONSTRAINT "guard_policy_version" CHECK("guard"."name" <> 'guard_policy_version'),
	CONSTRAINT "guard_policyholder_version" CHECK("guard"."name" <> 'guard_policyholder_version'),
	CONSTRAINT "guard_policyholder_completed" CHECK("guard"."name" <> 'guard_policyholder_completed'),
	CONSTRAINT "guard_policyholder_credit" CHECK("guard"."name" <> 'guard_policyholder_credit'),
	CONSTRAINT "guard_configuration_hash" CHECK("guard"."name" <> 'guard_configuration_hash'),
	CONSTRAINT "guard_configuration_version" CHECK("guard"."name" <> 'guard_configuration_version'),
	CONSTRAINT "guard_aux_data" CHECK("guard"."name" <> 'guard_aux_data'),
	CONSTRAINT "guard_resource" CHECK("guard"."name" <> 'guard_resource'),
	CONSTRAINT "guard_webhook_version" CHECK("guard"."name" <> 'guard_webhook_version'),
	CONSTRAINT "guard_account" CHECK("guard"."name" <> 'guard_account'),
	CONSTRAINT "guard_migration_state" CHECK("guard"."name" <> 'guard_migration_state'),
	CONSTRAINT "guard_migration_account" CHECK("guard"."name" <> 'guard_migration_account')
);
--> statement-breakpoint
CREATE TABLE `timer` (
	`locator` text PRIMARY KEY NOT NULL,
	`due_at` integer NOT NULL,
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`payload` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `timer_due` ON `timer` (`due_at`);--> statement-breakpoint
CREATE INDEX `timer_subject` ON `timer` (`subject`);--> statement-breakpoint
CREATE TABLE `write` (
	`key` text PRIMARY KEY NOT NULL,
	`body_hash` text NOT NULL,
	`status` integer NOT NULL,
	`answer` text,
	`subject` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `write_at` ON `write` (`at`);--> statement-breakpoint
CREATE INDEX `write_subject` ON `write` (`subject`);--> statement-breakpoint
CREATE TABLE `account` (
	`locator` text PRIMARY KEY NOT NULL,
	`username` text NOT NULL,
	`name` text NOT NULL,
	`email` text,
	`type` text NOT NULL,
	`is_service` integer DEFAULT false NOT NULL,
	`password_hash` text,
	`former_hashes` text DEFAULT '[]' NOT NULL,
	`password_changed_at` integer,
	`failed_sign_ins` integer DEFAULT 0 NOT NULL,
	`locked_until` integer,
	`token_epoch` integer DEFAULT 0 NOT NULL,
	`disabled_at` integer,
	`deleted_at` integer,
	`source` text NOT NULL,
	`created_by` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `account_username` ON `account` (`username`) WHERE "account"."deleted_at" is null;--> statement-breakpoint
CREATE TABLE `auth_token` (
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
CREATE UNIQUE INDEX `auth_token_hash` ON `auth_token` (`hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `auth_token_name` ON `auth_token` (`account_locator`,`name`);--> statement-breakpoint
CREATE INDEX `auth_token_expires` ON `auth_token` (`expires_at`);--> statement-breakpoint
CREATE TABLE `password_rules` (
	`locator` text PRIMARY KEY NOT NULL,
	`rules` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `audit` (
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
CREATE INDEX `audit_created` ON `audit` (`created_at`,`locator`);--> statement-breakpoint
CREATE INDEX `audit_subject` ON `audit` (`subject`,`created_at`,`locator`);--> statement-breakpoint
CREATE TABLE `aux_data` (
	`locator` text NOT NULL,
	`key` text NOT NULL,
	`value` text NOT NULL,
	`ui_type` text NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`locator`, `key`)
);
--> statement-breakpoint
CREATE TABLE `installment` (
	`locator` text PRIMARY KEY NOT NULL,
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
	`write_off` integer
);
--> statement-breakpoint
CREATE INDEX `installment_policy` ON `installment` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `invoice` (
	`locator` text PRIMARY KEY NOT NULL,
	`display_id` integer NOT NULL,
	`policy_locator` integer NOT NULL,
	`policy_modification_locator` text NOT NULL,
	`installment_number` integer NOT NULL,
	`type` text NOT NULL,
	`start` integer NOT NULL,
	`end` integer NOT NULL,
	`due_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`statuses` text NOT NULL,
	`grace_end_at` integer
);
--> statement-breakpoint
CREATE INDEX `invoice_policy` ON `invoice` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `payment` (
	`locator` text PRIMARY KEY NOT NULL,
	`display_id` integer NOT NULL,
	`policy_locator` integer NOT NULL,
	`policyholder_locator` text NOT NULL,
	`invoice_locator` text NOT NULL,
	`source` text NOT NULL,
	`amount` integer NOT NULL,
	`credited` integer NOT NULL,
	`currency` text NOT NULL,
	`field_values` text NOT NULL,
	`posted_at` integer NOT NULL,
	`reversed_at` integer
);
--> statement-breakpoint
CREATE INDEX `payment_policy` ON `payment` (`policy_locator`);--> statement-breakpoint
CREATE INDEX `payment_credit` ON `payment` (`policyholder_locator`,`posted_at`,`locator`) WHERE credited > 0 or source = 'credit';--> statement-breakpoint
CREATE TABLE `configuration_version` (
	`version` integer PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`time_zone` text NOT NULL,
	`currency` text NOT NULL,
	`external_raters` text,
	`roles` text
);
--> statement-breakpoint
CREATE TABLE `deployment` (
	`locator` text PRIMARY KEY NOT NULL,
	`version` integer NOT NULL,
	`hash` text NOT NULL,
	`kind` text NOT NULL,
	`deployed_at` integer NOT NULL,
	`deployed_by` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `deployment_at` ON `deployment` (`deployed_at`);--> statement-breakpoint
CREATE TABLE `document_job` (
	`policy_locator` integer PRIMARY KEY NOT NULL,
	`attempts` integer NOT NULL,
	`due_at` integer NOT NULL,
	`lease_until` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `document_job_due` ON `document_job` (`due_at`);--> statement-breakpoint
CREATE TABLE `document` (
	`locator` text PRIMARY KEY NOT NULL,
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
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `document_policy` ON `document` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `delivery` (
	`webhook_locator` text NOT NULL,
	`event_sequence` integer NOT NULL,
	`line` text,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`asked` integer DEFAULT 0 NOT NULL,
	`due_at` integer NOT NULL,
	`outcome` text,
	`finished_at` integer,
	`diverted_at` integer,
	`log` text DEFAULT '[]' NOT NULL,
	PRIMARY KEY(`webhook_locator`, `event_sequence`)
);
--> statement-breakpoint
CREATE INDEX `delivery_due` ON `delivery` (`webhook_locator`,`due_at`,`event_sequence`) WHERE "delivery"."state" = 'pending';--> statement-breakpoint
CREATE INDEX `delivery_line` ON `delivery` (`webhook_locator`,`line`,`event_sequence`) WHERE "delivery"."finished_at" is null;--> statement-breakpoint
CREATE INDEX `delivery_diverted` ON `delivery` (`webhook_locator`,`event_sequence`) WHERE "delivery"."diverted_at" is not null;--> statement-breakpoint
CREATE INDEX `delivery_skipped` ON `delivery` (`webhook_locator`,`event_sequence`) WHERE "delivery"."state" = 'skipped';--> statement-breakpoint
CREATE INDEX `delivery_finished` ON `delivery` (`finished_at`) WHERE "delivery"."state" in ('sent', 'failed');--> statement-breakpoint
CREATE TABLE `event` (
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
);
--> statement-breakpoint
CREATE UNIQUE INDEX `event_locator` ON `event` (`locator`);--> statement-breakpoint
CREATE INDEX `event_request` ON `event` (`request_id`);--> statement-breakpoint
CREATE INDEX `event_type` ON `event` (`type`,`sequence`);--> statement-breakpoint
CREATE INDEX `event_newer_type` ON `event` (`newer_type`,`sequence`) WHERE "event"."newer_type" is not null;--> statement-breakpoint
CREATE INDEX `event_at` ON `event` (`at`);--> statement-breakpoint
CREATE INDEX `event_custom` ON `event` (`policy_locator`) WHERE "event"."type" like 'custom.%';--> statement-breakpoint
CREATE TABLE `webhook` (
	`locator` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`enabled` integer NOT NULL,
	`suspended_at` integer,
	`connections` text NOT NULL,
	`secret_names` text NOT NULL,
	`failure_handling` text,
	`event_types` text NOT NULL,
	`created_at` integer NOT NULL,
	`version` integer NOT NULL,
	`replay_version` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_name` ON `webhook` (`name`);--> statement-breakpoint
CREATE TABLE `integration_call` (
	`locator` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL,
	`at` integer NOT NULL,
	`integration_name` text NOT NULL,
	`type` text NOT NULL,
	`operation` text NOT NULL,
	`policy_locator` text,
	`request_id` text NOT NULL,
	`username` text NOT NULL,
	`url` text NOT NULL,
	`attempts` text NOT NULL,
	`status` integer,
	`duration_ms` integer NOT NULL,
	`request_bytes` integer NOT NULL,
	`request_hash` text NOT NULL,
	`response_bytes` integer,
	`response_hash` text,
	`failure` text,
	`warnings` text NOT NULL,
	`replay_of` text
);
--> statement-breakpoint
CREATE INDEX `integration_call_name` ON `integration_call` (`integration_name`,`created_at`,`locator`);--> statement-breakpoint
CREATE INDEX `integration_call_at` ON `integration_call` (`at`);--> statement-breakpoint
CREATE TABLE `integration` (
	`locator` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`connection` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `integration_name` ON `integration` (`name`);--> statement-breakpoint
CREATE TABLE `grace_period` (
	`locator` text PRIMARY KEY NOT NULL,
	`policy_locator` integer NOT NULL,
	`invoice_locator` text NOT NULL,
	`state` text NOT NULL,
	`start_at` integer NOT NULL,
	`end_at` integer NOT NULL,
	`cancel_effective_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`settled_at` integer,
	`cancellation_locator` integer
);
--> statement-breakpoint
CREATE INDEX `grace_period_policy` ON `grace_period` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `lapse_reinstatement` (
	`locator` text PRIMARY KEY NOT NULL,
	`policy_locator` integer NOT NULL,
	`lapse_locator` text NOT NULL,
	`statuses` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`effective_at` integer,
	`modification_locator` text
);
--> statement-breakpoint
CREATE INDEX `lapse_reinstatement_policy` ON `lapse_reinstatement` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `lapse` (
	`locator` text PRIMARY KEY NOT NULL,
	`policy_locator` integer NOT NULL,
	`grace_period_locator` text NOT NULL,
	`modification_locator` text NOT NULL,
	`lapsed_at` integer NOT NULL,
	`reinstatement_period_end_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `lapse_policy` ON `lapse` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `medium` (
	`locator` text PRIMARY KEY NOT NULL,
	`file_name` text NOT NULL,
	`mime_type` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `policy_medium` (
	`locator` text NOT NULL,
	`policy_locator` integer NOT NULL,
	`file_name` text NOT NULL,
	`mime_type` text NOT NULL,
	PRIMARY KEY(`policy_locator`, `locator`)
);
--> statement-breakpoint
CREATE TABLE `migrated_account` (
	`original_id` text PRIMARY KEY NOT NULL,
	`account_locator` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `migration_account` (
	`migration_locator` text NOT NULL,
	`ordinal` integer NOT NULL,
	`account_locator` text NOT NULL,
	`original_id` text NOT NULL,
	`state` text NOT NULL,
	`source` text NOT NULL,
	`start` integer NOT NULL,
	`length` integer NOT NULL,
	`total_items` integer NOT NULL,
	`processed_items` integer NOT NULL,
	`error_items` integer NOT NULL,
	`warnings` text NOT NULL,
	`tries` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`migration_locator`, `ordinal`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `migration_account_locator` ON `migration_account` (`migration_locator`,`account_locator`);--> statement-breakpoint
CREATE INDEX `migration_account_waiting` ON `migration_account` (`migration_locator`,`ordinal`) WHERE state in ('pending', 'processing');--> statement-breakpoint
CREATE TABLE `migration_failure` (
	`migration_locator` text NOT NULL,
	`account_locator` text NOT NULL,
	`kind` text NOT NULL,
	`original_id` text NOT NULL,
	`problems` text NOT NULL,
	PRIMARY KEY(`migration_locator`, `account_locator`, `kind`, `original_id`)
);
--> statement-breakpoint
CREATE TABLE `migration_mapping` (
	`account_locator` text NOT NULL,
	`kind` text NOT NULL,
	`original_id` text NOT NULL,
	`migration_locator` text NOT NULL,
	`locator` text NOT NULL,
	`children` text NOT NULL,
	`migrated_at` integer NOT NULL,
	PRIMARY KEY(`account_locator`, `kind`, `original_id`)
);
--> statement-breakpoint
CREATE INDEX `migration_mapping_migration` ON `migration_mapping` (`migration_locator`,`account_locator`);--> statement-breakpoint
CREATE TABLE `migration_slot` (
	`number` integer PRIMARY KEY NOT NULL,
	`migration_locator` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `migration_slot_migration` ON `migration_slot` (`migration_locator`);--> statement-breakpoint
CREATE TABLE `migration_run` (
	`locator` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`type` text NOT NULL,
	`validate_only` integer NOT NULL,
	`total_accounts` integer NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` text NOT NULL,
	`username` text NOT NULL,
	`updated_at` integer NOT NULL,
	`running_since` integer,
	`done_before` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `plugin_log` (
	`locator` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL,
	`at` integer NOT NULL,
	`plugin` text NOT NULL,
	`path` text NOT NULL,
	`product_name` text NOT NULL,
	`config_version` integer NOT NULL,
	`policy_locator` text,
	`request_id` text NOT NULL,
	`username` text NOT NULL,
	`failure` text,
	`lines` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `plugin_log_created` ON `plugin_log` (`created_at`,`locator`);--> statement-breakpoint
CREATE INDEX `plugin_log_at` ON `plugin_log` (`at`);--> statement-breakpoint
CREATE TABLE `cancellation` (
	`locator` integer PRIMARY KEY NOT NULL,
	`policy_locator` integer NOT NULL,
	`name` text NOT NULL,
	`state` text NOT NULL,
	`effective_at` integer NOT NULL,
	`conflict_handling` text NOT NULL,
	`category` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`issued_at` integer,
	`modification_locator` text
);
--> statement-breakpoint
CREATE INDEX `cancellation_policy` ON `cancellation` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `endorsement` (
	`locator` integer PRIMARY KEY NOT NULL,
	`policy_locator` integer NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`state` text NOT NULL,
	`start_at` integer NOT NULL,
	`end_at` integer,
	`changes` text NOT NULL,
	`touches` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`issued_at` integer,
	`underwriting` text,
	`modification_locator` text,
	`based_on` integer
);
--> statement-breakpoint
CREATE INDEX `endorsement_policy` ON `endorsement` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `exposure_run` (
	`locator` text PRIMARY KEY NOT NULL,
	`policy_locator` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`made_by` text NOT NULL,
	`replaced_by` text,
	`start` integer NOT NULL,
	`end` integer NOT NULL,
	`exposure_locator` text NOT NULL,
	`data` text NOT NULL,
	`cuts` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `exposure_run_policy` ON `exposure_run` (`policy_locator`,`exposure_locator`);--> statement-breakpoint
CREATE TABLE `exposure` (
	`locator` text PRIMARY KEY NOT NULL,
	`display_id` integer NOT NULL,
	`policy_locator` integer NOT NULL,
	`quote_locator` integer NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `exposure_policy` ON `exposure` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `fee` (
	`locator` text PRIMARY KEY NOT NULL,
	`policy_locator` integer NOT NULL,
	`quote_locator` integer NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`amount` integer NOT NULL,
	`made_by` text NOT NULL,
	`start` integer NOT NULL,
	`end` integer NOT NULL,
	`changes` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `fee_policy` ON `fee` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `modification` (
	`locator` text PRIMARY KEY NOT NULL,
	`display_id` integer NOT NULL,
	`policy_locator` integer NOT NULL,
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
	`new_payment_schedule_name` text
);
--> statement-breakpoint
CREATE INDEX `modification_policy` ON `modification` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `peril_run` (
	`locator` text PRIMARY KEY NOT NULL,
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
	`splits` text
);
--> statement-breakpoint
CREATE INDEX `peril_run_policy` ON `peril_run` (`policy_locator`,`peril_locator`);--> statement-breakpoint
CREATE TABLE `peril` (
	`locator` text PRIMARY KEY NOT NULL,
	`display_id` integer NOT NULL,
	`policy_locator` integer NOT NULL,
	`exposure_locator` text NOT NULL,
	`name` text NOT NULL,
	`renewal_group` text NOT NULL,
	`parent_locator` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `peril_policy` ON `peril` (`policy_locator`,`exposure_locator`);--> statement-breakpoint
CREATE INDEX `peril_display_id` ON `peril` (`display_id`);--> statement-breakpoint
CREATE TABLE `policy` (
	`locator` integer PRIMARY KEY NOT NULL,
	`policyholder_locator` text NOT NULL,
	`product_name` text NOT NULL,
	`config_version` integer NOT NULL,
	`upgrades` text,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`finalized_at` integer,
	`issued_at` integer,
	`discarded_at` integer,
	`original_start` integer NOT NULL,
	`original_end` integer NOT NULL,
	`effective_end` integer NOT NULL,
	`currency` text NOT NULL,
	`time_zone` text NOT NULL,
	`payment_schedule_name` text NOT NULL,
	`premium_report_name` text,
	`exposure_count` integer NOT NULL,
	`peril_count` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `policy_policyholder` ON `policy` (`policyholder_locator`);--> statement-breakpoint
CREATE INDEX `policy_created` ON `policy` (`created_at`,`locator`);--> statement-breakpoint
CREATE TABLE `policy_segment` (
	`locator` text PRIMARY KEY NOT NULL,
	`policy_locator` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`made_by` text NOT NULL,
	`replaced_by` text,
	`start` integer NOT NULL,
	`end` integer NOT NULL,
	`quote_locator` integer NOT NULL,
	`data` text NOT NULL,
	`predecessor` text
);
--> statement-breakpoint
CREATE INDEX `policy_segment_policy` ON `policy_segment` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `policy_term` (
	`field` text NOT NULL,
	`term` text NOT NULL,
	`policy_locator` integer NOT NULL,
	PRIMARY KEY(`field`, `term`, `policy_locator`)
);
--> statement-breakpoint
CREATE INDEX `policy_term_policy` ON `policy_term` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `quote` (
	`locator` integer PRIMARY KEY NOT NULL,
	`policy_locator` integer NOT NULL,
	`name` text NOT NULL,
	`state` text NOT NULL,
	`selected` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`issued_at` integer,
	`contract_start` integer NOT NULL,
	`contract_end` integer NOT NULL,
	`payment_schedule_name` text NOT NULL,
	`underwriting` text
);
--> statement-breakpoint
CREATE INDEX `quote_policy` ON `quote` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `reinstatement` (
	`locator` text PRIMARY KEY NOT NULL,
	`policy_locator` integer NOT NULL,
	`cancellation_locator` integer NOT NULL,
	`state` text NOT NULL,
	`effective_at` integer NOT NULL,
	`deadline_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`issued_at` integer,
	`modification_locator` text
);
--> statement-breakpoint
CREATE INDEX `reinstatement_policy` ON `reinstatement` (`policy_locator`);--> statement-breakpoint
CREATE TABLE `policyholder_term` (
	`field` text NOT NULL,
	`term` text NOT NULL,
	`policyholder_locator` text NOT NULL,
	PRIMARY KEY(`field`, `term`, `policyholder_locator`)
);
--> statement-breakpoint
CREATE INDEX `policyholder_term_policyholder` ON `policyholder_term` (`policyholder_locator`);--> statement-breakpoint
CREATE TABLE `policyholder_version` (
	`policyholder_locator` text NOT NULL,
	`version` integer NOT NULL,
	`completed` integer NOT NULL,
	`entity` text NOT NULL,
	`replaced_at` integer NOT NULL,
	PRIMARY KEY(`policyholder_locator`, `version`)
);
--> statement-breakpoint
CREATE TABLE `policyholder` (
	`locator` text PRIMARY KEY NOT NULL,
	`version` integer NOT NULL,
	`completed` integer NOT NULL,
	`account_locator` text NOT NULL,
	`entity` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `policyholder_created` ON `policyholder` (`created_at`,`locator`);--> statement-breakpoint
CREATE TABLE `quick_quote` (
	`locator` text PRIMARY KEY NOT NULL,
	`policyholder_locator` text NOT NULL,
	`config_version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`request` text NOT NULL,
	`answer` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `quick_quote_policyholder` ON `quick_quote` (`policyholder_locator`);--> statement-breakpoint
CREATE TABLE `resource_group_member` (
	`group_locator` text NOT NULL,
	`resource_name` text NOT NULL,
	PRIMARY KEY(`group_locator`, `resource_name`)
);
--> statement-breakpoint
CREATE INDEX `resource_group_member_resource` ON `resource_group_member` (`resource_name`);--> statement-breakpoint
CREATE TABLE `resource_group` (
	`locator` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`selection_start` integer NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` text NOT NULL,
	`retired` integer NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `resource_group_name_unique` ON `resource_group` (`name`);--> statement-breakpoint
CREATE INDEX `resource_group_created` ON `resource_group` (`created_at`,`locator`);--> statement-breakpoint
CREATE TABLE `resource_revision` (
	`locator` text PRIMARY KEY NOT NULL,
	`resource_name` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`hash` text NOT NULL,
	`media_type` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `resource_revision_resource` ON `resource_revision` (`resource_name`,`created_at`);--> statement-breakpoint
CREATE TABLE `resource` (
	`name` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`static_name` text NOT NULL,
	`jurisdictions` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` text NOT NULL,
	`revision` text NOT NULL,
	`template_format` text,
	`format` text
);
--> statement-breakpoint
CREATE INDEX `resource_static_name` ON `resource` (`static_name`);--> statement-breakpoint
CREATE INDEX `resource_created` ON `resource` (`created_at`,`name`);--> statement-breakpoint
CREATE TABLE `table_contents` (
	`number` integer PRIMARY KEY NOT NULL,
	`revision` text NOT NULL,
	`layout` text NOT NULL,
	`key_types` text NOT NULL,
	`row_count` integer NOT NULL,
	`state` text NOT NULL,
	`started_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `table_contents_revision` ON `table_contents` (`revision`,`state`);--> statement-breakpoint
CREATE TABLE `table_row` (
	`contents` integer NOT NULL,
	`key` text NOT NULL,
	`start` text NOT NULL,
	`end` text,
	`line` integer NOT NULL,
	`cells` text NOT NULL,
	PRIMARY KEY(`contents`, `key`, `start`)
);
--> statement-breakpoint
CREATE TABLE `table_use` (
	`policy_locator` integer NOT NULL,
	`modification_locator` text NOT NULL,
	`static_name` text NOT NULL,
	`name` text NOT NULL,
	`revision` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`policy_locator`, `modification_locator`, `revision`)
);
--> statement-breakpoint
CREATE TABLE `resource_bootstrap` (
	`ordinal` integer PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`type` text,
	`status` text NOT NULL,
	`message` text,
	`attempts` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `secret` (
	`resource_name` text PRIMARY KEY NOT NULL,
	`items` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `event_schedule` (
	`locator` text PRIMARY KEY NOT NULL,
	`policy_locator` integer NOT NULL,
	`type` text NOT NULL,
	`state` text NOT NULL,
	`failures` integer NOT NULL,
	`problem` text,
	`failed_time` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `event_schedule_created` ON `event_schedule` (`created_at`,`locator`);--> statement-breakpoint
CREATE TABLE `disbursement` (
	`locator` text PRIMARY KEY NOT NULL,
	`policyholder_locator` text NOT NULL,
	`type` text NOT NULL,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`data` text NOT NULL,
	`disbursed_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `disbursement_policyholder` ON `disbursement` (`policyholder_locator`,`disbursed_at`,`locator`);