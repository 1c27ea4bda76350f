// Calls a tenant's external service (resources brief 6.2–6.4). Every call is logged, even if the operation that made it fails.
import { createHash } from 'node:crypto'
import { Refusal, tooLarge } from '../../../kernel/errors.ts'
import { derivedUuid, newUuid, type Uuid } from '../../../kernel/locators.ts'
import { Memo } from '../../../kernel/maps.ts'
import { removeUnstorable, shortened } from '../../../kernel/text.ts'
import { type Instant, now } from '../../../kernel/time.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { utf8Text } from '../../../platform/http/body/bytes.ts'
import { DEEPEST_JSON, jsonDepth } from '../../../platform/http/body/json.ts'
import { maskedUrl, secretsOf, withoutSecrets } from '../../../platform/outbound/masking.ts'
import { resolveHeaders } from '../../../reference/secrets/sending.ts'
import type { Integration } from '../integration.ts'
import { CALL_TIMEOUT_MS, type Exchanged, exchange, isDown, LARGEST_BODY, notSent } from './exchange.ts'
import { type CallBodies, keepCall, type LoggedCall } from './log.ts'

/** Written to the log of calls. */
type CallPurpose = { readonly shard: number; readonly operation: string; readonly policyLocator?: string }

type IntegrationCall<T> = CallPurpose & {
  readonly input: unknown
  readonly read: Reader<T>
}

/**
 * Reads the parsed answer. Throws a Refusal (`integrationFailed` for an unusable answer) and reports ignored parts through `warn`.
 * Both are logged with the call.
 */
export type Reader<T> = (answer: unknown, warn: (warning: string) => void) => T

const nameOf = ({ type, name }: Pick<Integration, 'type' | 'name'>): string =>
  `${type === 'external_rater' ? 'External rater' : 'Service'} '${name}'`

/** A 502 that says why the service's answer was unusable. */
export function integrationFailed(
  integration: Pick<Integration, 'type' | 'name'>,
  reason: string,
  retryAfterSeconds?: number,
): Refusal {
  const code = integration.type === 'external_rater' ? 'externalRaterFailed' : 'integrationFailed'
  return new Refusal(code, `${nameOf(integration)} failed: ${reason}.`, {}, retryAfterSeconds)
}

/**
 * Calls the service and returns what `read` makes of its answer. Rejects with 502 if the circuit is open, or if the service is
 * unreachable, takes longer than 20 s in total, or does not answer with 2xx and at most 10 MB of JSON. Rejects with 413 input that
 * is too large. Also throws what `read` throws.
 */
export async function callIntegration<T>(
  context: RequestContext,
  integration: Integration,
  { input, ...call }: IntegrationCall<T>,
  show?: (bodies: CallBodies) => void,
): Promise<T> {
  const waitMs = circuitOf(circuitKey(integration)).admit(now())
  if (waitMs > 0) {
    const seconds = Math.ceil(waitMs / 1000)
    const reason = `it has failed several times in a row and will not be called again for ${seconds} s`
    throw integrationFailed(integration, reason, seconds)
  }
  const made = await makeCall(context, integration, { ...call, body: JSON.stringify(input) })
  context.later(
    keepCall(context, call.shard, made.logged, made.bodies).catch(problem =>
      console.error(
        JSON.stringify({ at: 'keepCall', requestId: context.requestId, problem: String(problem) }),
      ),
    ),
  )
  show?.(made.bodies)
  if ('refusal' in made) throw made.refusal
  return made.value
}

/** A completed call and what the log keeps of it. */
type MadeCall<T> = { readonly logged: LoggedCall; readonly bodies: CallBodies } & (
  | { readonly value: T }
  | { readonly refusal: Refusal }
)

/** Makes the call even if the circuit is open, but reports the result to it. Rejects with 413 input that is too large. */
export async function makeCall<T>(
  context: RequestContext,
  integration: Integration,
  { body, read, replayOf, ...purpose }: CallPurpose & { body: string; read: Reader<T>; replayOf?: Uuid },
): Promise<MadeCall<T>> {
  const requestBytes = Buffer.byteLength(body)
  if (requestBytes > LARGEST_BODY)
    throw tooLarge(
      `The request to ${nameOf(integration)} would have more than ${LARGEST_BODY} bytes; the policy is too large for it.`,
    )
  const requestHash = sha256(body)
  const locator = newUuid(purpose.shard)
  const key = derivedUuid(
    purpose.shard,
    replayOf ? locator : (context.idempotency?.key ?? context.requestId),
    integration.locator,
    requestHash,
  )
  const resolved = await resolveHeaders(context, integration.headers, integration.url)
  let exchanged: Exchanged
  let secrets = secretsOf(integration)
  if ('problem' in resolved) exchanged = notSent(resolved.problem)
  else {
    const sent = { ...integration, headers: resolved.headers }
    secrets = secretsOf(sent, resolved.values)
    exchanged = await exchange(context.env, sent, key, body)
    // A call that was never sent says nothing about the service.
    circuitOf(circuitKey(integration)).record(!isDown(exchanged.ending), now())
  }
  const shown = (text: string): string => withoutSecrets(removeUnstorable(text), secrets)
  const warnings: string[] = []
  const outcome = outcomeOf(integration, exchanged, shown, answer =>
    read(answer, warning => warnings.push(warning)),
  )
  const { ending } = exchanged
  const answered = ending.kind === 'answered' ? ending : undefined
  const logged: LoggedCall = {
    locator,
    createdAt: context.now,
    at: now(),
    integrationName: integration.name,
    type: integration.type,
    operation: purpose.operation,
    policyLocator: purpose.policyLocator ?? null,
    requestId: context.requestId,
    username: context.caller.username,
    url: maskedUrl(integration.url),
    attempts: exchanged.attempts,
    status: answered?.status ?? null,
    durationMs: exchanged.durationMs,
    requestBytes,
    requestHash,
    responseBytes: answered?.bytes.byteLength ?? null,
    responseHash: answered ? sha256(answered.bytes) : null,
    failure: 'refusal' in outcome ? shown(outcome.refusal.message) : null,
    warnings: warnings.map(warning => shortened(shown(warning), LONGEST_WARNING)),
    replayOf: replayOf ?? null,
  }
  const response = answered ? shown(new TextDecoder().decode(answered.bytes)) : null
  return { logged, bodies: { request: withoutSecrets(body, secrets), response }, ...outcome }
}

/** A changed integration gets a new circuit, since its address may differ. */
const circuitKey = ({ locator, updatedAt }: Integration): string => `${locator}/${updatedAt}`

/** Returns the hash in hexadecimal. Text is hashed as UTF-8. */
export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

function outcomeOf<T>(
  integration: Integration,
  { ending }: Exchanged,
  shown: (text: string) => string,
  read: (answer: unknown) => T,
): { value: T } | { refusal: Refusal } {
  const failed = (reason: string) => ({ refusal: integrationFailed(integration, reason) })
  if (ending.kind === 'secretMissing') return failed(ending.reason)
  if (ending.kind !== 'answered') return failed(REASONS[ending.kind])
  const { status, bytes } = ending
  if (status >= 300 && status < 400)
    return failed(`it responded with ${status}, but redirects are not followed`)
  const parsed = parsedJson(bytes)
  if (status < 200 || status > 299) return failed(`it responded with ${status}${errorIn(parsed, shown)}`)
  if ('problem' in parsed) return failed(parsed.problem)
  try {
    return { value: read(parsed.value) }
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem
    return { refusal: new Refusal(problem.code, shown(problem.message), problem.details) }
  }
}

const REASONS = {
  timeout: `it did not respond within ${CALL_TIMEOUT_MS / 1000} seconds`,
  unreachable: 'it could not be reached',
  cutOff: 'its response was cut off',
  tooLarge: `its response is larger than ${LARGEST_BODY} bytes`,
  addressRefused: 'its address is not on the public internet',
} as const

type Parsed = { readonly value: unknown } | { readonly problem: string }

function parsedJson(bytes: Uint8Array): Parsed {
  const text = utf8Text(bytes)
  if (text === undefined) return { problem: 'its response is not UTF-8 text' }
  if (jsonDepth(bytes) > DEEPEST_JSON)
    return { problem: `its response nests lists and objects more than ${DEEPEST_JSON} levels deep` }
  try {
    return { value: JSON.parse(text, /__proto__|\\u005f/i.test(text) ? withoutProto : undefined) }
  } catch {
    return { problem: 'its response is not JSON' }
  }
}

/** Assigning this name would change an object's prototype. */
const withoutProto = (name: string, value: unknown): unknown => (name === '__proto__' ? undefined : value)

/** The longest part of a service's error message that is shown to a client, in characters. */
const LONGEST_SHOWN_ERROR = 300

/** In characters. An answer could contain names of megabytes, more than fits in a row. */
const LONGEST_WARNING = 1_000

/** Raters report a failure as `{"error": …}` (resources brief 6.3). */
function errorIn(parsed: Parsed, shown: (text: string) => string): string {
  const value = 'value' in parsed ? parsed.value : undefined
  const error = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined
  return typeof error === 'string' && error !== ''
    ? `: ${shown(error).slice(0, LONGEST_SHOWN_ERROR).toWellFormed()}`
    : ''
}

// Circuit breakers. After several failures in a row an integration's circuit opens and calls are refused immediately. After a while
// one trial call finds out whether the service is up again. Each isolate has its own circuits, which cost no round trip; the
// policies of a tenant run in a handful of isolates.

export const OPENING_FAILURES = 5

/** How long a circuit stays open before one call tries again. */
export const OPEN_MS = 30_000

/** A trial call counts as lost after this time. No call takes longer. */
const TRYING_MS = 25_000

export class Circuit {
  #failures = 0
  #opensUntil = 0
  #triesUntil = 0

  /** Returns for how many milliseconds calls are refused; 0 permits this call, whose result must then be recorded. */
  admit(at: Instant): number {
    if (this.#failures < OPENING_FAILURES) return 0
    const waitMs = Math.max(this.#opensUntil, this.#triesUntil) - at
    // A longer wait would be that of a clock that was set back.
    if (waitMs > 0 && waitMs <= OPEN_MS) return waitMs
    this.#triesUntil = at + TRYING_MS
    return 0
  }

  record(isUp: boolean, at: Instant): void {
    this.#triesUntil = 0
    if (isUp) this.#failures = 0
    else {
      this.#failures += 1
      this.#opensUntil = at + OPEN_MS
    }
  }
}

const MOST_CIRCUITS = 10_000

const circuits = new Memo<string, Circuit>(MOST_CIRCUITS)

/** Returns the circuit breaker of the key. Each isolate has its own. */
export const circuitOf = (key: string): Circuit => circuits.getOrMake(key, () => new Circuit())
