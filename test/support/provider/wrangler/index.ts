// `getPlatformProxy` of the stand-in: the provider's stores are the files of the account, opened as those of this machine are.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openLocalStores } from '../../../../scripts/databases.ts'

export const getPlatformProxy = ({ configPath }: { configPath: string }) =>
  openLocalStores(readFileSync(configPath, 'utf8'), join(process.env.PROVIDER_FOLDER!, 'v3'))
