// The motor example without documents, with plugins of the test.
import { type ArchiveFiles, motorWithoutPapers } from './examples.ts'

const POLICY = 'products/private_motor/policy/policy.json'

/** Enables every function of `scripts`, with its script as main/<function>.js. */
export function withPlugins(
  scripts: Record<string, string>,
  files: ArchiveFiles = motorWithoutPapers(),
): ArchiveFiles {
  const text = files[POLICY]!
  const policy = JSON.parse(typeof text === 'string' ? text : new TextDecoder().decode(text)) as {
    plugins: object
  }
  const plugins = Object.keys(scripts).map(name => [name, { path: `main/${name}.js`, enabled: true }])
  return {
    ...files,
    [POLICY]: JSON.stringify({ ...policy, plugins: { ...policy.plugins, ...Object.fromEntries(plugins) } }),
    ...Object.fromEntries(
      Object.entries(scripts).map(([name, script]) => [`scripts/main/${name}.js`, script]),
    ),
  }
}
