// Reads a configuration by its author's name for it: a folder, an archive, or a version of a tenant.
import { readFileSync, statSync } from 'node:fs'
import { readArchive } from '../src/product/archive/read.ts'
import { compileArchive } from '../src/product/compile.ts'
import type { Configuration } from '../src/product/configuration.ts'
import type { Files } from '../src/product/difference/configurations.ts'
import { EXIT, Failure, usage } from './exit.ts'
import { countsText, findingsText, shownFindings } from './findings.ts'
import { packFolder } from './folder.ts'
import { signedIn } from './sign-ins.ts'
import { type Run, say } from './terminal.ts'

export type ReadConfiguration = {
  readonly configuration: Configuration
  /** The name that the user gave. For a version, which one it is. */
  readonly name: string
  /** The files of the archive. Read on demand, because few callers need them. */
  files(): Files
}

/** `tenant@3`, or `tenant@latest`. */
const VERSION = /^([a-z0-9][a-z0-9.-]*)@(\d{1,9}|latest)$/i

/**
 * Reads and checks the configuration in a folder, in a zip file, or in a version of a tenant (`tenant@3`, `tenant@latest`),
 * which needs an administrator's sign-in. Fails with the findings if it has mistakes, because such a configuration cannot be
 * compared.
 */
export async function readConfiguration(source: string, run: Run): Promise<ReadConfiguration> {
  const { zip, root, name } = await archiveOf(source, run)
  const { configuration, findings } = await compileArchive(zip)
  if (configuration)
    return {
      configuration,
      name,
      files: () => readArchive(zip).files.map(({ path, bytes }) => ({ path, bytes: bytes() })),
    }
  const errors = findings.filter(({ severity }) => severity === 'ERROR')
  say(run, `${findingsText(shownFindings(errors, root), run.terminal)}\n`)
  throw new Failure(EXIT.refused, `${name} has mistakes: ${countsText(errors)}. Correct them first.`)
}

async function archiveOf(
  source: string,
  run: Run,
): Promise<{ zip: Uint8Array<ArrayBuffer>; root: string; name: string }> {
  const stat = statSync(source, { throwIfNoEntry: false })
  if (stat?.isFile()) return { zip: new Uint8Array(readFileSync(source)), root: '', name: source }
  if (stat) {
    const { zip, root, findings } = packFolder(source)
    const [first] = findings
    if (first) throw new Failure(EXIT.refused, `${source}: ${first.message}`)
    return { zip, root, name: source }
  }
  const [, tenantName, version] = VERSION.exec(source) ?? []
  if (tenantName === undefined)
    throw usage(
      `'${source}' is neither a folder, nor a file, nor a version of a tenant such as 'motor-test@3'.`,
    )
  return await deployedArchive(tenantName, version!, run)
}

async function deployedArchive(
  tenantName: string,
  version: string,
  run: Run,
): Promise<{ zip: Uint8Array<ArrayBuffer>; root: string; name: string }> {
  const { api } = signedIn('administration', run.terminal)
  const query = { tenantName }
  const known =
    version === 'latest' ? await api.get('/deployments/status', { params: { query } }) : { version }
  if (known.version === undefined)
    throw new Failure(EXIT.refused, `The tenant '${tenantName}' has no configuration yet.`)
  const { url } = await api.get('/deployments/{configVersion}', {
    params: { path: { configVersion: known.version }, query },
  })
  const answer = await fetch(url, { signal: run.terminal.interrupted })
  if (!answer.ok)
    throw new Failure(
      EXIT.unreachable,
      `The archive of ${tenantName}@${known.version} could not be downloaded: the service responded with ${answer.status}.`,
    )
  const zip = new Uint8Array(await answer.arrayBuffer())
  return { zip, root: '', name: `${tenantName}@${known.version}` }
}
