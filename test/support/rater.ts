import { inject } from 'vitest'
import { callOk } from './api.ts'
import { type ArchiveFiles, motorWithoutPapers } from './examples.ts'
import type { Motor } from './motor.ts'
import type { RaterBehaviour, RaterCall } from './rater-server.ts'

/** A test's own rater, over HTTP. */
export type Rater = {
  readonly url: string
  /** Sets the responses from now on. The last behaviour stays for all further calls. */
  answers(...behaviours: RaterBehaviour[]): Promise<void>
  /** The requests received so far, in order. */
  calls(): Promise<RaterCall[]>
}

let opened = 0

/** Opens a rater that responds with these behaviours. By default every peril costs 120 a year. */
export async function openRater(...behaviours: RaterBehaviour[]): Promise<Rater> {
  opened += 1
  const url = `http://127.0.0.1:${inject('raterPort')}/${crypto.randomUUID()}-${opened}`
  const rater: Rater = {
    url,
    async answers(...told) {
      await fetch(url, { method: 'PUT', body: JSON.stringify(told) })
    },
    calls: async () => await (await fetch(url)).json(),
  }
  if (behaviours.length > 0) await rater.answers(...behaviours)
  return rater
}

const POLICY = 'products/private_motor/policy/policy.json'

/** The motor example, rated by the external rater of that name if the tenant has registered it. */
export function externallyRated(name: string, from: ArchiveFiles = motorWithoutPapers()): ArchiveFiles {
  const content = from[POLICY]!
  const text = typeof content === 'string' ? content : new TextDecoder().decode(content)
  return { ...from, [POLICY]: JSON.stringify({ ...JSON.parse(text), externalRater: name }) }
}

/** Registers the rater with the tenant. */
export async function register(motor: Motor, name: string, rater: Rater, more: object = {}): Promise<void> {
  const token = await motor.signIn('anna.admin')
  await callOk('POST', '/integrations', { token, body: { name, url: rater.url, ...more } })
}
