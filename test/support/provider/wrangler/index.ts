// The stand-in's `getPlatformProxy`: the provider's stores are the files of the account, opened as the local stores are.
import { readFileSync } from 'node:fs'
import { openLocalStores } from '../../../../scripts/local-stores.ts'

export const getPlatformProxy = async ({ configPath }: { configPath: string }) =>
  openLocalStores(readFileSync(configPath, 'utf8'), process.env.PROVIDER_FOLDER!)
