// Limits of tenant code. They count work, because in production the clock stands still while code runs.

/** QuickJS calls its interrupt handler after every 10,000 jumps and calls; this many take about a second. */
export const MOST_INTERRUPTS = 10_000

/** Bytes of memory under QuickJS. An isolate in production has 128 MiB. */
export const MOST_MEMORY_BYTES = 96 * 1024 * 1024

export const MOST_STACK_BYTES = 256 * 1024

/** The most promise jobs that QuickJS runs in one call. */
export const MOST_JOBS = 100_000

/** CPU milliseconds of one call in an isolate, and the subrequests it may make. */
export const ISOLATE_LIMITS = { cpuMs: 4_000, subRequests: 0 } as const

/**
 * The limit of one call with all its rounds, in milliseconds, measured outside the sandbox and without the fetches between rounds:
 * a client must have an answer within 5 s.
 */
export const LONGEST_CALL_MS = 4_200

/** How much longer to wait, in milliseconds, for the plugin runner's answer after it has stopped a call. */
export const ANSWER_MS = 400

/** The largest call, and the largest program, that can be sent to the plugin runner, in bytes. */
export const LONGEST_SENT_CALL = 32 * 1024 * 1024
export const LONGEST_SENT_PROGRAM = 32 * 1024 * 1024

/** The longest result of a call as JSON, in characters. */
export const LONGEST_OUTPUT = 4 * 1024 * 1024

/** The turns within which a returned promise must settle. */
export const MOST_TURNS = 10_000

/** Lines and characters in the log of one call; the rest is cut off. */
export const MOST_LOG_LINES = 1_000
export const LONGEST_LOG = 64 * 1024

/** How many writes of auxiliary data and custom events one call may make, and how many characters in total. */
export const MOST_WRITES = 1_000
export const MOST_WRITTEN = 2 * 1024 * 1024

/** The longest data of a custom event as JSON, in characters. */
export const LONGEST_EVENT_DATA = 16 * 1024

/** What a call explains if an explanation is requested: how many look-ups and notes, and the characters of all notes together. */
export const MOST_EXPLAINED_LOOKUPS = 2_000
export const MOST_EXPLAINED_NOTES = 500
export const LONGEST_EXPLANATION = 64 * 1024

/** How often a call may stop so that missing values are fetched. */
export const MOST_ROUNDS = 20

/** The most values fetched in a round, and the most records, because each is a separate read. */
export const MOST_GATHERED = 1_000
export const MOST_RECORDS_GATHERED = 50

/** The largest table, in characters of JSON, that is sent with its program. Rows of a larger one are fetched. */
export const LARGEST_TRAVELLING_TABLE = 1024 * 1024

/** The most characters of all tables sent with a program. */
export const MOST_TRAVELLING = 8 * 1024 * 1024

/** The longest reason that is shown, in characters. */
export const LONGEST_REASON = 500
