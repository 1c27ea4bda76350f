// The tenant code of a configuration, prepared for a sandbox once for as long as the configuration is in memory.

import type { TenantScope } from '../../platform/tenancy.ts'
import type { LoadedConfiguration } from '../../product/cache.ts'
import { MAY_RETURN_NOTHING } from '../../product/configuration.ts'
import { LONGEST_AUX_NAME, LONGEST_AUX_VALUE } from '../auxdata/tables.ts'
import {
  LONGEST_EVENT_DATA,
  LONGEST_LOG,
  LONGEST_OUTPUT,
  MOST_GATHERED,
  MOST_LOG_LINES,
  MOST_RECORDS_GATHERED,
  MOST_TURNS,
  MOST_WRITES,
  MOST_WRITTEN,
} from './limits.ts'
import type { PluginProgram } from './runner.ts'
import type { RealmHost } from './sandbox/realm.ts'
import { type CompiledScript, compileScript } from './script.ts'

const compiled = new WeakMap<LoadedConfiguration, ReadonlyMap<string, CompiledScript>>()

export function pluginProgram(
  configuration: LoadedConfiguration,
  { locator, generation }: TenantScope,
  configVersion: number,
): PluginProgram {
  let scripts = compiled.get(configuration)
  if (!scripts) {
    const sources = Object.entries(configuration.configuration.scripts)
    scripts = new Map(sources.map(([path, source]) => [path, compileScript(path, source)]))
    compiled.set(configuration, scripts)
  }
  return { key: `${locator}/${generation}/${configVersion}/${configuration.hash}`, configuration, scripts }
}

/** The program's settings for the realm, as plain data. */
export const realmSettings = ({
  scripts,
}: PluginProgram): Pick<RealmHost, 'scripts' | 'entities' | 'mayReturnNothing' | 'limits'> => ({
  scripts: [...scripts].map(([path, { problem }]) => ({ path, problem })),
  entities: ENTITIES,
  mayReturnNothing: MAY_RETURN_NOTHING,
  limits: {
    output: LONGEST_OUTPUT,
    turns: MOST_TURNS,
    logLines: MOST_LOG_LINES,
    log: LONGEST_LOG,
    writes: MOST_WRITES,
    written: MOST_WRITTEN,
    auxName: LONGEST_AUX_NAME,
    auxValue: LONGEST_AUX_VALUE,
    eventData: LONGEST_EVENT_DATA,
    gathered: MOST_GATHERED,
    gatheredRecords: MOST_RECORDS_GATHERED,
  },
})

/** The records that `socotraApi.fetchByLocator` can fetch. */
const ENTITIES = [
  'Policy',
  'Policyholder',
  'Endorsement',
  'Renewal',
  'Cancellation',
  'Reinstatement',
  'Invoice',
] as const
