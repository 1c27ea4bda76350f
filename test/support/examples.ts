import encoded from 'virtual:example-files'
import { zipSync } from 'fflate'
import { callOk } from './api.ts'
import { administrator, signIn } from './sign-in.ts'

/** Files of an archive: path from its root, and text or bytes. */
export type ArchiveFiles = Record<string, string | Uint8Array>

const encoder = new TextEncoder()

const bytesOf = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), character => character.charCodeAt(0))

/**
 * Returns the files of `examples/<name>/configuration`, for a test to change. Without `strict`, since the rest of the product
 * does not use what a test adds. `strictExampleFiles` returns the files unchanged.
 */
export function exampleFiles(name: string): Record<string, Uint8Array> {
  const files = strictExampleFiles(name)
  for (const [path, content] of Object.entries(files))
    if (/^products\/[^/]+\/policy\/policy\.json$/.test(path))
      files[path] = encoder.encode(new TextDecoder().decode(content).replace('"strict": true,', ''))
  return files
}

export function strictExampleFiles(name: string): Record<string, Uint8Array> {
  const root = `${name}/configuration/`
  const files: Record<string, Uint8Array> = {}
  for (const [path, base64] of Object.entries(encoded))
    if (path.startsWith(root)) files[path.slice(root.length)] = bytesOf(base64)
  if (Object.keys(files).length === 0) throw new Error(`There is no example ${name}.`)
  return files
}

/** Zips the files. The same files always give the same bytes, so that a repeated request has the same body. */
export function archiveOf(files: ArchiveFiles): Uint8Array<ArrayBuffer> {
  const entries = Object.entries(files).map(([path, content]) => [
    path,
    typeof content === 'string' ? encoder.encode(content) : content,
  ])
  return new Uint8Array(zipSync(Object.fromEntries(entries), { mtime: '2026-01-01T00:00:00Z' }))
}

/** The multipart body of a deploy. */
export function deployForm(archive: Uint8Array<ArrayBuffer>, fields: Record<string, string>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('zipFile', new Blob([archive], { type: 'application/zip' }), 'configuration.zip')
  return form
}

export type DeployAnswer = {
  success: boolean
  hostname: string
  tenantName: string
  tenantLocator: string
  logfile: string
}

export type DeployedTenant = {
  hostname: string
  tenantName: string
  tenantLocator: string
  logfile: string
  /** Token of the first test user of the archive. */
  token: string
  /** Returns a token of any test user. */
  signIn(username: string): Promise<string>
}

type TestUser = { username: string; password: string }

const POLICY = 'products/private_motor/policy/'

/**
 * The motor example without documents, because generating them takes longer than everything else that most tests do with a
 * policy. Also without the underwriter, whom only one test needs: each password takes a tenth of a second.
 */
export function motorWithoutPapers(): ArchiveFiles {
  const bare: ArchiveFiles = { ...exampleFiles('motor') }
  bare['security/test_users.json'] = JSON.stringify(
    testUsers(bare).filter(({ username }) => username !== 'ulrich.underwriter'),
  )
  for (const path of Object.keys(bare))
    if (/\.template\.liquid$|\/static_documents\//.test(path)) delete bare[path]
  for (const name of ['policy', 'endorsements', 'renewals', 'cancellations']) {
    const path = `${POLICY}${name}.json`
    const text = new TextDecoder().decode(bare[path] as Uint8Array)
    bare[path] = JSON.stringify(
      JSON.parse(text, (key, value) => (key === 'documents' && Array.isArray(value) ? [] : value)),
    )
  }
  return bare
}

/** Like `motorWithoutPapers`, but also without grace periods: unpaid invoices change nothing, however far the clock moves. */
export function motorWithoutLapses(): ArchiveFiles {
  const files = motorWithoutPapers()
  const { lapse: _, ...policy } = JSON.parse(files[`${POLICY}policy.json`] as string)
  return { ...files, [`${POLICY}policy.json`]: JSON.stringify(policy) }
}

/**
 * Deploys an example by name, or a test's own files, to the test tenant with this suffix, and signs in there. If the service
 * rejects the deploy, the test fails with its log.
 */
export async function deployExample(example: string | ArchiveFiles, suffix: string): Promise<DeployedTenant> {
  const files = typeof example === 'string' ? strictExampleFiles(example) : example
  const token = await administrator()
  const answer = await callOk<DeployAnswer>('POST', '/configuration/deployTest', {
    token,
    body: deployForm(archiveOf(files), { tenantNameSuffix: suffix }),
  })
  if (!answer.success) throw new Error(`The deployment was rejected:\n${answer.logfile}`)
  const users = testUsers(files)
  const first = users[0]
  if (!first) throw new Error('The archive has no security/test_users.json to sign in with.')
  const { hostname, tenantName, tenantLocator, logfile } = answer
  const signInAs = async (username: string): Promise<string> => {
    const user = users.find(candidate => candidate.username === username)
    if (!user) throw new Error(`The archive has no test user ${username}.`)
    return signIn(tenantName, user.username, user.password)
  }
  return {
    hostname,
    tenantName,
    tenantLocator,
    logfile,
    token: await signInAs(first.username),
    signIn: signInAs,
  }
}

/** Deploys files as the next version of the tenant's configuration. Existing policies keep their version. */
export async function deployNextVersion(tenantName: string, files: ArchiveFiles): Promise<void> {
  const answer = await callOk<DeployAnswer>('POST', '/configuration/studio/deploy', {
    token: await administrator(),
    body: deployForm(archiveOf(files), { tenantName }),
  })
  if (!answer.success) throw new Error(`The deployment was rejected:\n${answer.logfile}`)
}

function testUsers(files: ArchiveFiles): TestUser[] {
  const content = files['security/test_users.json']
  if (content === undefined) return []
  const text = typeof content === 'string' ? content : new TextDecoder().decode(content)
  const users = JSON.parse(text) as TestUser[] | { users: TestUser[] }
  return Array.isArray(users) ? users : users.users
}
