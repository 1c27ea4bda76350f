// Records of transactions that plugins read. Higher layers know them, and register them (src/wiring.ts).
import type { Uuid } from '../../kernel/locators.ts'
import type { PolicySelection } from '../../policy/store/aggregates.ts'
import type { Loaded } from '../../policy/surroundings.ts'

type RecordOf<Form, Locator> = {
  readonly form: Form
  /** The policy that has the record. */
  select(locator: Locator): PolicySelection
  /** Shows the record as its GET answers it. Refuses (404) where the policy has none of that locator. */
  show(locator: Locator): (loaded: Loaded) => unknown
}

/** A record of a policy that plugins read by its locator, of digits or a UUID. */
export type PluginRecord = RecordOf<'digits', number> | RecordOf<'uuid', Uuid>

/** By the name that plugins ask for such a record by. */
export type PluginRecords = Readonly<Record<string, PluginRecord>>

let load: () => Promise<PluginRecords> = async () => ({})

export function registerTransactionRecords(loadRecords: () => Promise<PluginRecords>): void {
  load = loadRecords
}

export const transactionRecords = (): Promise<PluginRecords> => load()
