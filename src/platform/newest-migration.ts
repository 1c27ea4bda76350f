// drizzle-kit's own list of the migrations, so that nobody has to repeat the name of the newest.
import journal from '../../migrations/tenant/meta/_journal.json' with { type: 'json' }

/** Newest migration of tenant databases that this code knows; names sort in the order they apply. */
export const NEWEST_TENANT_MIGRATION: string = journal.entries.at(-1)!.tag
