ALTER TABLE `installment` ADD `replans` text;--> statement-breakpoint
ALTER TABLE `installment` ADD `paid_before` text;--> statement-breakpoint
ALTER TABLE `invoice` ADD `is_refund` integer;--> statement-breakpoint
ALTER TABLE `payment` ADD `offset_invoice_locator` text;