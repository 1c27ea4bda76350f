// What the command line says, and how much work that means.
import { parseArgs } from 'node:util'

export type Sizes = {
  /** Pairs of runs, service and floor, that count; one pair before them warms up. */
  rounds: number
  /** A run ends after so many requests, */
  requestsARun: number
  /** or when so many milliseconds have passed. Objects of the service leave memory after ten seconds without a call. */
  longestRunMs: number
  /** Processes that evaluate each bundle. */
  evaluations: number
  /** Rounds of calls of a plugin that count. */
  pluginRounds: number
  /** Rows of the table that look-ups are made in. */
  tableRows: number
  /** Accounts of the book that is migrated. */
  accounts: number
}

const SMALL: Sizes = {
  rounds: 5,
  requestsARun: 500,
  longestRunMs: 700,
  evaluations: 15,
  pluginRounds: 15,
  tableRows: 100_000,
  accounts: 500,
}
const FULL: Sizes = {
  rounds: 9,
  requestsARun: 4_000,
  longestRunMs: 2_500,
  evaluations: 31,
  pluginRounds: 45,
  tableRows: 1_000_000,
  accounts: 10_000,
}

/** Requests under way at any time. */
export const CONCURRENCY = 8

export type Options = {
  sizes: Sizes
  /** Only the start-up and the bundle, without any load. */
  onlyStartUp: boolean
  /** Only the call of a plugin. */
  onlyPlugin: boolean
  /** Only a thousand documents. */
  onlyDocuments: boolean
  /** Only look-ups in a table. */
  onlyTables: boolean
  /** Only deliveries to webhooks. */
  onlyWebhooks: boolean
  /** Only a book of business, of so many accounts. */
  migratedAccounts: number | undefined
  /** File for the figures, as JSON. */
  jsonFile: string | undefined
}

/** `[--full] [--start-up | --plugin | --documents | --tables | --webhooks | --migration [--accounts N]] [--json FILE]`; an Error says what is wrong. */
export function readOptions(words: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...words],
    options: {
      full: { type: 'boolean', default: false },
      'start-up': { type: 'boolean', default: false },
      plugin: { type: 'boolean', default: false },
      documents: { type: 'boolean', default: false },
      tables: { type: 'boolean', default: false },
      webhooks: { type: 'boolean', default: false },
      migration: { type: 'boolean', default: false },
      accounts: { type: 'string' },
      json: { type: 'string' },
    },
  })
  if (values.json === '') throw new Error('--json needs the name of a file.')
  const sizes = values.full ? FULL : SMALL
  const accounts = Number(values.accounts ?? sizes.accounts)
  if (!Number.isSafeInteger(accounts) || accounts < 10)
    throw new Error('--accounts needs a whole number of at least 10.')
  return {
    sizes,
    onlyStartUp: values['start-up'],
    onlyPlugin: values.plugin,
    onlyDocuments: values.documents,
    onlyTables: values.tables,
    onlyWebhooks: values.webhooks,
    migratedAccounts: values.migration ? accounts : undefined,
    jsonFile: values.json,
  }
}
