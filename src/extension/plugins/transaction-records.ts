// Records of transactions that plugins can read. Higher layers register them (src/wiring.ts).
import type { Uuid } from '../../kernel/locators.ts'
import type { PolicySelection } from '../../policy/store/aggregates.ts'
import type { Loaded } from '../../policy/surroundings.ts'

type RecordOf<Form, Locator> = {
  readonly form: Form
  select(locator: Locator): PolicySelection
  /** Shows the record as its GET does. Throws 404 if the policy has no record with that locator. */
  show(locator: Locator): (loaded: Loaded) => unknown
}

/** A record that plugins read by its locator, which is a number or a UUID. */
export type PluginRecord = RecordOf<'digits', number> | RecordOf<'uuid', Uuid>

/** By the name that plugins use for the kind of record. */
export type PluginRecords = Readonly<Record<string, PluginRecord>>

let load: () => Promise<PluginRecords> = async () => ({})

/** Registers the records, which are loaded at the first call that reads one. */
export function registerTransactionRecords(loadRecords: () => Promise<PluginRecords>): void {
  load = loadRecords
}

/** Returns the registered records by the names that plugins use. */
export const transactionRecords = (): Promise<PluginRecords> => load()
