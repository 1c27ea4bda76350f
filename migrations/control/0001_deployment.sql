CREATE TABLE `allowed_origin` (
	`origin` text NOT NULL,
	`tenant_locator` text NOT NULL,
	PRIMARY KEY(`origin`, `tenant_locator`)
);
--> statement-breakpoint
CREATE INDEX `allowed_origin_tenant` ON `allowed_origin` (`tenant_locator`);--> statement-breakpoint
CREATE TABLE `deployment_resource` (
	`name` text PRIMARY KEY NOT NULL,
	`noted_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `deployment` (
	`environment` text PRIMARY KEY NOT NULL,
	`domain` text NOT NULL,
	`pepper_check` text,
	`sealing_check` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
INSERT INTO `allowed_origin` (`origin`, `tenant_locator`)
SELECT DISTINCT json_each.value, tenant.locator FROM `tenant`, json_each(tenant.allowed_origins) WHERE tenant.status = 'active';
