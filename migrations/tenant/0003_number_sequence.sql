CREATE TABLE `number_sequence` (
	`id` integer PRIMARY KEY NOT NULL,
	`next` integer NOT NULL
);
