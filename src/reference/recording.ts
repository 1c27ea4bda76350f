// Writes resources and groups: once for each Idempotency-Key, and deciding again if what was read has changed.
import { alreadyExists, invalidParameter } from '../kernel/errors.ts'
import { newUuid } from '../kernel/locators.ts'
import {
  type Commit,
  commit,
  isBySubject,
  type JsonAnswer,
  retryOnConflict,
  returnStored,
  unlessRepeated,
} from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Database } from '../platform/database.ts'
import { type JsonText, jsonText } from '../platform/http/route.ts'
import { HOME_SHARD } from '../platform/tenancy.ts'
import { newestConfiguration } from '../product/cache.ts'
import type { ResourceType } from '../product/resources.ts'
import { forgetTables } from './data-tables/record-store.ts'
import type { Resource, ResourceRevision } from './resource.ts'
import { contentsGuard, nameTakenBy, newNameGuard, resourceRows } from './store.ts'

/** Many uploads to one tenant often arrive at the same time. */
const ATTEMPTS = 5

/** What a write commits, and its answer. A deletion has no answer. */
export type Write = Pick<Commit, 'guards' | 'facts' | 'timers' | 'subject'> & { readonly answer?: object }

/**
 * Commits what `decide` returns. A repeated request gets the first answer; `show` makes it again if it was too long to store. Calls
 * `onCommit` if this request committed and was not a repeat.
 */
export async function recordOnce(
  context: RequestContext,
  database: Database,
  decide: () => Promise<Write>,
  show: (subject: string) => Promise<object>,
  onCommit: () => void = () => {},
): Promise<JsonText> {
  const attempt = async () => {
    const { answer: shown, ...write } = await decide()
    const answer: JsonAnswer = { status: 200, text: shown ? JSON.stringify(shown) : '' }
    const committed = await commit(context, database, { shard: HOME_SHARD, ...write, answer })
    if (committed === answer) onCommit()
    return committed
  }
  const record = () => retryOnConflict('The resource', attempt, { attempts: ATTEMPTS })
  const answer = await unlessRepeated(context, database, record, returnStored)
  forgetTables(context.tenant)
  if (!isBySubject(answer)) return jsonText(answer)
  return jsonText({ status: answer.status, text: JSON.stringify(await show(answer.subject)) })
}

/** A resource with new contents. `before` is undefined for a new resource. */
export type Change = { readonly before: Resource | undefined; readonly resource: Resource }

/** Builds the parts of a commit that store new contents. The guard fails if the resource, or its name, was written since. */
export const resourceWrite = (
  database: Database,
  { before, resource }: Change,
  contents: Pick<ResourceRevision, 'sizeBytes' | 'hash' | 'mediaType'>,
  { now, caller }: RequestContext,
) => ({
  guards: [before ? contentsGuard(before) : newNameGuard(resource)],
  facts: resourceRows(database, resource, {
    locator: resource.revision,
    resourceName: resource.name,
    createdAt: now,
    createdBy: caller.accountLocator,
    ...contents,
  }),
  subject: resource.name,
})

export type NewResource = {
  readonly name: string
  readonly staticName: string
  readonly jurisdiction?: readonly string[] | undefined
}

/**
 * Prepares a new resource. Rejects with 409 a name that is taken, or a static name of another type, and with 400 jurisdictions that
 * the newest configuration does not declare, if it declares any (resources brief 0.4). Takes one round trip, and another for
 * jurisdictions.
 */
export async function newResource(
  type: ResourceType,
  { name, staticName, jurisdiction = [] }: NewResource,
  context: RequestContext,
  database: Database,
): Promise<Resource> {
  const jurisdictions = [...new Set(jurisdiction)]
  const [taken] = await Promise.all([
    nameTakenBy(database, { name, staticName }),
    assertDeclared(context, jurisdictions),
  ])
  if (taken.some(one => one.name === name))
    throw alreadyExists(
      `There is already a resource '${name}'; choose another name, or replace its contents with PATCH.`,
    )
  const other = taken.find(one => one.type !== type)
  if (other)
    throw alreadyExists(
      `The static name '${staticName}' is used by the ${other.type} '${other.name}', and a static name has only one type. Choose another.`,
    )
  const { now: createdAt, caller } = context
  const revision = newUuid(HOME_SHARD)
  return { name, type, staticName, jurisdictions, createdAt, createdBy: caller.accountLocator, revision }
}

async function assertDeclared(context: RequestContext, jurisdictions: readonly string[]): Promise<void> {
  if (jurisdictions.length === 0) return
  const declared = (await newestConfiguration(context))?.jurisdictions
  if (!declared) return
  const unknown = jurisdictions.filter(jurisdiction => !declared.includes(jurisdiction))
  if (unknown.length > 0)
    throw invalidParameter(
      `config.json does not declare the jurisdictions ${quotedNames(unknown)}; it has ${quotedNames(declared)}. Correct them, or declare them under 'jurisdictions'.`,
    )
}

const MOST_LISTED = 50

/** The first 50 names, in quotes. */
export const quotedNames = (names: readonly string[]): string => {
  const shown = names.slice(0, MOST_LISTED).map(name => `'${name}'`)
  return shown.join(', ') + (names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : '')
}
