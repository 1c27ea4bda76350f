// The limits of tenant code. They count; in production the clock stands still while code runs.

/** QuickJS asks every 10,000 jumps and calls whether to go on: this many times, about a second's work. */
export const MOST_INTERRUPTS = 10_000

/** Bytes of memory under QuickJS; a production isolate has 128 MiB. */
export const MOST_MEMORY_BYTES = 96 * 1024 * 1024

export const MOST_STACK_BYTES = 256 * 1024

/** Promise jobs that QuickJS carries out in one call. */
export const MOST_JOBS = 100_000

/** CPU time of one call in an isolate, and requests that it may make. */
export const ISOLATE_LIMITS = { cpuMs: 4_000, subRequests: 0 } as const

/**
 * The time limit of a call with all of its rounds, seen from outside the sandbox; what the rounds fetch does not count. A
 * client has its answer within five seconds, whatever a script does.
 */
export const LONGEST_CALL_MS = 4_200

/** How much later the plugin runner may answer: it has ended the call, and the answer is on the way. */
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

/** How often a call may stop to fetch what it asks for. */
export const MOST_ROUNDS = 20

/** How much a round may ask for at once; and how many records, each of which is a separate read. */
export const MOST_GATHERED = 1_000
export const MOST_RECORDS_GATHERED = 50

/** Characters of a table, as JSON, that is sent with its program; of a larger one the requested rows are fetched. */
export const LARGEST_TRAVELLING_TABLE = 1024 * 1024

/** Characters of all tables that are sent with a program. */
export const MOST_TRAVELLING = 8 * 1024 * 1024

/** Characters of a reason that is shown. */
export const LONGEST_REASON = 500
