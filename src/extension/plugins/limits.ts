// What tenant code may use. Everything is counted; in production the clock stands still while code runs.

/** QuickJS asks every 10,000 jumps and calls whether to go on: so often it may, about a second's work. */
export const MOST_INTERRUPTS = 10_000

/** Bytes that code may hold at once under QuickJS; a production isolate has 128 MiB. */
export const MOST_MEMORY_BYTES = 96 * 1024 * 1024

/** Bytes of its stack under QuickJS. */
export const MOST_STACK_BYTES = 256 * 1024

/** Jobs of promises that QuickJS carries out in one call. */
export const MOST_JOBS = 100_000

/** CPU time of one call in an isolate, and requests that it may make. */
export const ISOLATE_LIMITS = { cpuMs: 4_000, subRequests: 0 } as const

/**
 * How long a call may take, seen from outside the sandbox, with all of its rounds; what the rounds fetch does not count.
 * A client has its answer within five seconds, whatever a script does.
 */
export const LONGEST_CALL_MS = 4_200

/** How much later than that the plugin runner may answer: the call was ended, and its answer is on the way. */
export const ANSWER_MS = 400

/** Bytes of a call, and of a program, on the way to the plugin runner. */
export const LONGEST_SENT_CALL = 32 * 1024 * 1024
export const LONGEST_SENT_PROGRAM = 32 * 1024 * 1024

/** Characters of what a call gives back, as JSON. */
export const LONGEST_OUTPUT = 4 * 1024 * 1024

/** Turns that a returned promise has to settle. */
export const MOST_TURNS = 10_000

/** Of the log of one call; what is more is cut off. */
export const MOST_LOG_LINES = 1_000
export const LONGEST_LOG = 64 * 1024

/** Writes of auxiliary data and custom events of one call, and their characters together. */
export const MOST_WRITES = 1_000
export const MOST_WRITTEN = 2 * 1024 * 1024

/** Characters of the data of a custom event, as JSON. */
export const LONGEST_EVENT_DATA = 16 * 1024

/** How often a call may be stopped to fetch what it asks for. */
export const MOST_ROUNDS = 20

/** What a round may ask for at once; and how many records, each of which is a reading of its own. */
export const MOST_GATHERED = 1_000
export const MOST_RECORDS_GATHERED = 50

/** Characters of a table, as JSON, that travels with its program; of a larger one the rows asked for are fetched. */
export const LARGEST_TRAVELLING_TABLE = 1024 * 1024

/** Characters of all tables that travel with a program. */
export const MOST_TRAVELLING = 8 * 1024 * 1024

/** Characters of a reason that is told. */
export const LONGEST_REASON = 500
