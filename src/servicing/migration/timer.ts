/** Kind of the timer that sees to it that a migration is worked on: whatever sets it going writes one in its batch. */
export const MIGRATION_TIMER = 'migration.run'

/** Kind of the timer for what was sent of a migration, to be deleted unless the migration was recorded. */
export const MIGRATION_FILE_TIMER = 'migration.file.unrecorded'
