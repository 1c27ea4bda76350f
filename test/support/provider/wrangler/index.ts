// `getPlatformProxy` of the stand-in: the provider's stores are the files that the real one serves as those of this machine.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getPlatformProxy as realProxy } from 'wrangler'

type Options = { configPath: string; persist: { path: string }; remoteBindings: boolean }

export function getPlatformProxy(options: Options) {
  if (!options.remoteBindings) return realProxy(options)
  const configPath = `${options.configPath}.provider.toml`
  writeFileSync(configPath, readFileSync(options.configPath, 'utf8').replaceAll('remote = true\n', ''))
  return realProxy({
    configPath,
    persist: { path: join(process.env.PROVIDER_FOLDER!, 'v3') },
    remoteBindings: false,
  })
}
