// The options of the command line, and the amount of work that they mean.
import { parseArgs } from 'node:util'

export type Sizes = {
  /** Counted pairs of runs, service and floor. One pair before them warms up. */
  rounds: number
  /** A run ends after this many requests, */
  requestsARun: number
  /** or after this many milliseconds. Objects of the service leave memory after ten seconds without a call. */
  longestRunMs: number
  /** Processes that evaluate each bundle. */
  evaluations: number
  /** Counted rounds of calls of a plugin. */
  pluginRounds: number
  /** Rows of the table for look-ups. */
  tableRows: number
  /** Accounts of the book in the separate migration benchmark. */
  accounts: number
  /** Requests over which the heap is watched. */
  heapRequests: number
}

const SMALL: Sizes = {
  rounds: 5,
  requestsARun: 500,
  longestRunMs: 700,
  evaluations: 15,
  pluginRounds: 15,
  tableRows: 100_000,
  accounts: 500,
  heapRequests: 100_000,
}
const FULL: Sizes = {
  rounds: 9,
  requestsARun: 4_000,
  longestRunMs: 2_500,
  evaluations: 31,
  pluginRounds: 45,
  tableRows: 1_000_000,
  accounts: 10_000,
  heapRequests: 1_000_000,
}

/**
 * Accounts of the book in the reference. It is migrated in ten requests, six of which wait some seconds in total for their turn,
 * so with a book of a hundred accounts more than half of the time would be waiting.
 */
export const REFERENCE_ACCOUNTS = 500

/** Requests in progress at any time. */
export const CONCURRENCY = 8

/** Parts that can be measured separately. */
export const PARTS = [
  'start-up',
  'plugin',
  'liquid',
  'documents',
  'tables',
  'webhooks',
  'migration',
  'reports',
  'heap',
] as const
export type Part = (typeof PARTS)[number]

export type Options = {
  sizes: Sizes
  /** Measures only this part. Undefined: everything in the reference. */
  part: Part | undefined
  /** Another commit, whose service is measured instead of the floor. */
  against: string | undefined
  /** Names of operations. Undefined: all. */
  only: readonly string[] | undefined
  /** A commit whose plans become those of the floor. */
  floorOf: string | undefined
  /** Whether the reference, or the result of --heap or --reports, is written to docs/measured.md. */
  recorded: boolean
  /** A file for the figures as JSON. */
  jsonFile: string | undefined
}

/**
 * Parses `[--full] [--PART | --against COMMIT | --record-floor COMMIT] [--record] [--only NAME,…] [--accounts N] [--requests N]
 * [--json FILE]`. Throws an Error that describes what is wrong.
 */
export function readOptions(words: readonly string[]): Options {
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    args: [...words],
    options: {
      full: flag,
      ...(Object.fromEntries(PARTS.map(part => [part, flag])) as Record<Part, typeof flag>),
      record: flag,
      against: { type: 'string' },
      'record-floor': { type: 'string' },
      only: { type: 'string' },
      accounts: { type: 'string' },
      requests: { type: 'string' },
      json: { type: 'string' },
    },
  })
  if (values.json === '') throw new Error('--json needs the name of a file.')
  for (const name of ['against', 'record-floor'] as const)
    if (values[name] === '') throw new Error(`--${name} needs a commit.`)
  const floorOf = values['record-floor']
  const parts = PARTS.filter(part => values[part])
  const others = [values.against, floorOf].filter(commit => commit !== undefined)
  if (parts.length + others.length > 1)
    throw new Error('Give only one of the parts, --against and --record-floor.')
  if (values.record && (others.length > 0 || parts.some(part => part !== 'heap' && part !== 'reports')))
    throw new Error('--record can only be combined with --heap or --reports, or used alone.')
  // One operation has a comma between digits in its name.
  const only = values.only?.split(/,(?!\d)/).map(name => name.trim())
  if (only && (parts.length > 0 || values.record || floorOf !== undefined))
    throw new Error(
      '--only chooses operations. It cannot be combined with a part, --record or --record-floor.',
    )
  const sizes = values.full ? FULL : SMALL
  const accounts = Number(values.accounts ?? sizes.accounts)
  if (!Number.isSafeInteger(accounts) || accounts < 10)
    throw new Error('--accounts needs a whole number of at least 10.')
  const heapRequests = Number(values.requests ?? sizes.heapRequests)
  if (!Number.isSafeInteger(heapRequests) || heapRequests < 1_000)
    throw new Error('--requests needs a whole number of at least 1,000.')
  return {
    sizes: { ...sizes, accounts, heapRequests },
    part: parts[0],
    against: values.against,
    floorOf,
    only,
    recorded: values.record,
    jsonFile: values.json,
  }
}
