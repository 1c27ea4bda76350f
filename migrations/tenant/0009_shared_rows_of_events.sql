-- after its release
DROP INDEX `event_custom_of`;
