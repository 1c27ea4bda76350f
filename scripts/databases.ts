// Opens the stores of the service from outside it. The local ones are the files that `npm start` serves.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bindingTarget, type MigrationTarget } from '../src/platform/database/target.ts'
import { prepareDataFolder } from './data-folder.ts'
import type { Environment } from './environments.ts'
import { controlFile } from './local-databases.ts'
import { type OpenStores, openLocalStores } from './local-stores.ts'
import { replaceFile } from './replace-file.ts'
import { joinedConfig, storesConfig } from './write-config.ts'

export type Stores = {
  env: Env
  /** Returns a bound database as the target of migrations. */
  target(binding: string): MigrationTarget
  close(): Promise<void>
}

/** Throws if the data folder has no databases yet. Opening them would create empty ones without tables. */
export function requireStarted(dataFolder: string): void {
  if (!existsSync(controlFile(dataFolder)))
    throw new Error(
      `There are no databases in ${dataFolder} yet. Run npm start to create them, or set BINDERY_DATA to another folder.`,
    )
}

/**
 * Opens the stores in the data folder or, with an environment, those at the provider. With `control`, opens only the control
 * database.
 */
export async function openStores(
  dataFolder: string,
  environment?: Environment,
  which: 'all' | 'control' = 'all',
): Promise<Stores> {
  prepareDataFolder(dataFolder)
  const config = storesConfig(joinedConfig(environment), which)
  const opened = environment
    ? await openRemoteStores(config, join(dataFolder, `stores.${environment.name}.toml`))
    : openLocalStores(config, dataFolder)
  const bound = opened.env as unknown as Record<string, D1Database | undefined>
  return {
    env: opened.env,
    target(binding) {
      const client = bound[binding]
      if (!client) throw new Error(`${binding} is not bound.`)
      return bindingTarget(binding, client)
    },
    close: opened.dispose,
  }
}

async function openRemoteStores(config: string, configPath: string): Promise<OpenStores> {
  replaceFile(configPath, config)
  // Takes a second to load, so it is imported only when needed.
  const { getPlatformProxy } = await import('wrangler')
  return await getPlatformProxy<Env>({ configPath, remoteBindings: true })
}
