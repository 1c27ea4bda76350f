// The limits of tenant code count, since the clock stands still in production while code runs.

/** QuickJS asks whether to go on after every 10,000 jumps and calls; this many times take about a second. */
export const MOST_INTERRUPTS = 10_000

/** Bytes of memory under QuickJS; a production isolate has 128 MiB. */
export const MOST_MEMORY_BYTES = 96 * 1024 * 1024

export const MOST_STACK_BYTES = 256 * 1024

/** Promise jobs that QuickJS runs in one call. */
export const MOST_JOBS = 100_000

/** CPU time of one call in an isolate, and its requests. */
export const ISOLATE_LIMITS = { cpuMs: 4_000, subRequests: 0 } as const

/** The limit of a call with all rounds, measured outside the sandbox without fetches: a client must have an answer within 5 s. */
export const LONGEST_CALL_MS = 4_200

/** Extra time for the plugin runner's answer after it has ended a call. */
export const ANSWER_MS = 400

/** Bytes of a call, and of a program, on the way to the plugin runner. */
export const LONGEST_SENT_CALL = 32 * 1024 * 1024
export const LONGEST_SENT_PROGRAM = 32 * 1024 * 1024

/** Characters of a call's result, as JSON. */
export const LONGEST_OUTPUT = 4 * 1024 * 1024

/** Turns in which a returned promise must settle. */
export const MOST_TURNS = 10_000

/** The log of one call; the rest is cut off. */
export const MOST_LOG_LINES = 1_000
export const LONGEST_LOG = 64 * 1024

/** Writes of auxiliary data and custom events of one call, and their characters together. */
export const MOST_WRITES = 1_000
export const MOST_WRITTEN = 2 * 1024 * 1024

/** Characters of the data of a custom event, as JSON. */
export const LONGEST_EVENT_DATA = 16 * 1024

/** What a call explains where somebody asks: look-ups and notes, each once, and the characters of the notes together. */
export const MOST_EXPLAINED_LOOKUPS = 2_000
export const MOST_EXPLAINED_NOTES = 500
export const LONGEST_EXPLANATION = 64 * 1024

/** How often a call may stop to fetch missing values. */
export const MOST_ROUNDS = 20

/** The most values in a round; and the most records, each a separate read. */
export const MOST_GATHERED = 1_000
export const MOST_RECORDS_GATHERED = 50

/** Characters of a table, as JSON, that is sent with its program; rows of a larger one are fetched. */
export const LARGEST_TRAVELLING_TABLE = 1024 * 1024

/** Characters of all tables that are sent with a program. */
export const MOST_TRAVELLING = 8 * 1024 * 1024

/** Characters of a reason that is shown. */
export const LONGEST_REASON = 500
