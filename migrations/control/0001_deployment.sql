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
