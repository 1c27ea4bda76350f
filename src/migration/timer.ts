/** Kind of the timer that sees to it that a migration is worked on: whatever sets it going writes one in its batch. */
export const MIGRATION_TIMER = 'migration.run'
