/** What a table may have (resources brief 1.2). */
export const LARGEST_TABLE_BYTES = 100 * 1_048_576
export const MOST_ROWS = 1_000_000
