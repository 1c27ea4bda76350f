import { type ArchiveFiles, exampleFiles } from './examples.ts'

const POLICY = 'products/private_motor/policy/policy.json'

type Plugins = Record<string, { path: string; enabled: boolean }>

/** The motor example with the named plugins of its own enabled. `scripts` replaces or adds scripts. */
export function pluginRated(
  enabled: readonly string[] = ['getPerilRates', 'getUnderwritingResult'],
  scripts: Record<string, string> = {},
  example: ArchiveFiles = exampleFiles('motor'),
): ArchiveFiles {
  const files: ArchiveFiles = { ...example }
  const text = files[POLICY]!
  const policy = JSON.parse(typeof text === 'string' ? text : new TextDecoder().decode(text)) as {
    plugins: Plugins
  }
  for (const name of enabled) policy.plugins[name]!.enabled = true
  files[POLICY] = JSON.stringify(policy)
  for (const [path, source] of Object.entries(scripts)) files[`scripts/${path}`] = source
  return files
}
