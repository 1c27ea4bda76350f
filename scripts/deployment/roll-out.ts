// Gives new code a growing share of the requests (`npm run deploy -- --gradual`), and returns to the former code if the new code
// does not respond.
import { setTimeout as sleep } from 'node:timers/promises'
import { jsonOf, type Tool } from '../wrangler.ts'
import type { Said } from './steps.ts'

/** Shares of the requests, in per cent, that the new code gets in turn. */
const SHARES = [10, 50, 100] as const

/** How often `/ready` must respond with 200 at each share. */
const LOOKS = 12
const PAUSE_MS = 5_000

/** Objects keep the former code until they are idle, for at most 30 s, so that a deploy does not interrupt a transaction. */
export const OBJECT_UPDATES = ['--durable-objects-code-update-mode', 'deferred 30s'] as const

type RollOut = {
  readonly secretsFile: string
  isReady(): Promise<boolean>
  readonly say: Said
  readonly pauseMs?: number
}

type Deployed = {
  readonly versions?: readonly { readonly version_id: string; readonly percentage: number }[]
}

const readDeployedVersions = async (tool: Tool): Promise<NonNullable<Deployed['versions']>> =>
  jsonOf<Deployed>(await tool('deployments', 'status', '--json')).versions ?? []

const versionWithAllRequests = (versions: Deployed['versions']): string | undefined =>
  versions?.find(({ percentage }) => percentage === 100)?.version_id

/** Returns the version that now has all requests. Undefined if several versions share them. */
export const servingVersion = async (tool: Tool): Promise<string | undefined> =>
  versionWithAllRequests(await readDeployedVersions(tool))

/** Returns the serving version. Throws if there is none, or if an earlier roll-out stopped half-way. */
async function formerVersion(tool: Tool): Promise<string> {
  const versions = await readDeployedVersions(tool)
  const former = versionWithAllRequests(versions)
  if (former !== undefined) return former
  throw new Error(
    versions.length === 0
      ? 'nothing is deployed yet. Deploy without --gradual first.'
      : `requests are split between ${versions.map(({ version_id: id, percentage }) => `${id} (${percentage} %)`).join(' and ')}. Deploy without --gradual to send all requests to one version.`,
  )
}

/** Uploads the code as a version without requests. Resolves to its id. */
async function upload(tool: Tool, secretsFile: string): Promise<string> {
  const output = await tool('versions', 'upload', '--secrets-file', secretsFile)
  const id = output.match(/Version ID:\s*([0-9a-f-]{36})/)?.[1]
  if (!id) throw new Error(`the output of the provider names no version:\n${output}`)
  return id
}

/**
 * Moves the requests to the code of this build, share by share. If it does not respond, returns all requests to the former code
 * and throws.
 */
export async function rollOut(
  tool: Tool,
  { secretsFile, isReady, say, pauseMs = PAUSE_MS }: RollOut,
): Promise<void> {
  const former = await formerVersion(tool)
  const fresh = await upload(tool, secretsFile)
  for (const share of SHARES) {
    const shares = share === 100 ? [`${fresh}@100`] : [`${fresh}@${share}`, `${former}@${100 - share}`]
    await tool('versions', 'deploy', ...shares, ...OBJECT_UPDATES, '--yes')
    say(`${share} % of the requests go to version ${fresh}`)
    for (let look = 0; look < LOOKS; look += 1) {
      await sleep(pauseMs)
      if (await isReady()) continue
      await tool('versions', 'deploy', `${former}@100`, '--yes')
      throw new Error(
        `version ${fresh} did not respond to /ready. Version ${former} gets all requests again.`,
      )
    }
  }
}
