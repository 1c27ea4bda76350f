-- Policies that were cancelled in one step had a modification alone. Each gets its cancellation, with the modification's
-- displayId as its locator: both are digits of one sequence. The cancellation takes over the documents of its own.
INSERT INTO `cancellation` (`locator`, `policy_locator`, `name`, `state`, `effective_at`, `conflict_handling`, `created_at`, `updated_at`, `issued_at`, `modification_locator`)
SELECT `display_id`, `policy_locator`, 'cancel', 'issued', `effective_at`, 'invalidate', `created_at`, `issued_at`, `issued_at`, `locator`
FROM `modification`
WHERE `kind` = 'cancellation' AND `transaction_locator` IS NULL AND `issued_at` IS NOT NULL;
--> statement-breakpoint
UPDATE `document` SET `subject` = 'cancellation', `subject_locator` = (SELECT cast(`display_id` AS text) FROM `modification` WHERE `locator` = `document`.`modification_locator`)
WHERE `subject` = 'policy' AND `modification_locator` IN (SELECT `locator` FROM `modification` WHERE `kind` = 'cancellation' AND `transaction_locator` IS NULL AND `issued_at` IS NOT NULL);
--> statement-breakpoint
UPDATE `modification` SET `transaction_locator` = cast(`display_id` AS text)
WHERE `kind` = 'cancellation' AND `transaction_locator` IS NULL AND `issued_at` IS NOT NULL;
