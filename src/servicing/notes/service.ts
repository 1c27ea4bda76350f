import { sql } from 'drizzle-orm'
import { forbidden, invalidParameter, notFound, Refusal, tooLarge } from '../../kernel/errors.ts'
import { orderedUuid, type PolicyLocator, readDigits, readUuid, type Uuid } from '../../kernel/locators.ts'
import {
  type AnswerBySubject,
  commit,
  GuardTripped,
  isBySubject,
  type JsonAnswer,
  jsonAnswer,
  retryOnConflict,
  storedAnswer,
  unlessRepeated,
} from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { readPagingToken, UUID_FORM, writePagingToken } from '../../platform/paging.ts'
import { recordPlace, shardDatabase, shardOfPolicy } from '../../platform/tenancy.ts'
import type { NoteCreateRequest, NoteListQuery, NoteListResponse, NoteResponse } from './contract.ts'
import * as store from './store.ts'
import { MOST_NOTES, type NotedRecord } from './tables.ts'

function requireNotes({ tenant }: RequestContext): void {
  if (tenant.keepsNotes) return
  const message = "The tenant's database is not migrated for notes yet; try again later."
  throw new Refusal('tenantBehind', message, {}, 60)
}

/**
 * Adds a note to a record. Throws 404 if there is no such record, 413 if its policyholder has `MOST_NOTES` notes, and 503 until
 * the tenant's databases are migrated.
 */
export async function createNote(
  context: RequestContext,
  { recordType, recordLocator, text }: NoteCreateRequest,
): Promise<NoteResponse> {
  requireNotes(context)
  const place = placeOf(context, recordType, recordLocator)
  const { database, shard, locator: subject } = place
  const [earlier, [owners]] = await Promise.all([
    storedAnswer(context, database),
    database.batch([store.ownerQuery(database, recordType, subject)]),
  ])
  if (earlier) return await readNote(place, earlier)
  const owner = owners[0]
  if (!owner) throw notFound(recordType, recordLocator)
  const note: store.Note = {
    locator: orderedUuid(shard),
    policyholderLocator: owner.holder,
    policyLocator: owner.policy,
    recordType,
    recordLocator: subject,
    text,
    accountLocator: context.caller.accountLocator,
    username: context.caller.username,
    createdAt: context.now,
  }
  try {
    // The text is stored only in its row, where an erasure finds it. A repeated request reads it from there.
    const committed = await commit(context, database, {
      shard,
      subject: note.locator,
      answer: jsonAnswer({ locator: note.locator }),
      guards: [store.roomGuard(owner.holder)],
      facts: store.newNoteQueries(database, note),
      events: [eventOf('note.create', note)],
    })
    return await readNote(place, committed, note)
  } catch (problem) {
    if (!(problem instanceof GuardTripped)) throw problem
    throw tooLarge(
      `The policyholder has ${MOST_NOTES} notes, including those of its policies. This is the limit. Delete notes that are not needed.`,
    )
  }
}

/** Returns the note of an answer: the new one, or the one that the same request created before. */
async function readNote(
  { database }: { database: Database },
  answer: JsonAnswer | AnswerBySubject,
  made?: store.Note,
): Promise<NoteResponse> {
  const locator = isBySubject(answer)
    ? answer.subject
    : (JSON.parse(answer.text) as { locator: string }).locator
  if (locator === made?.locator) return noteResponse(made)
  const [rows] = await database.batch([store.noteQuery(database, locator as Uuid)])
  if (!rows[0]) throw notFound('note', locator)
  return noteResponse(rows[0] as store.Note)
}

/**
 * Returns a page of the notes of a policy, or of a policyholder with those of its policies, oldest first. Throws 404 if the owner
 * does not exist, and 400 unless exactly one is named. Takes one round trip.
 */
export async function listNotes(
  context: RequestContext,
  { policyLocator, policyholderLocator, recordType, recordLocator, pageSize, pagingToken }: NoteListQuery,
): Promise<NoteListResponse> {
  requireNotes(context)
  if ((policyLocator === undefined) === (policyholderLocator === undefined))
    throw invalidParameter("Send either 'policyLocator' or 'policyholderLocator'.")
  const place = policyLocator
    ? placeOf(context, 'policy', policyLocator)
    : placeOf(context, 'policyholder', policyholderLocator!)
  const { database } = place
  const policy = policyLocator === undefined ? undefined : (Number(place.locator) as PolicyLocator)
  const position = readPagingToken(pagingToken, UUID_FORM)[0]
  const policyholder = policy ? store.holderOfPolicy(policy) : sql`${place.locator}`
  const [owners, rows] = await database.batch([
    store.ownerQuery(database, policy ? 'policy' : 'policyholder', place.locator),
    store.notesQuery(
      database,
      // As notes store it: a UUID in lower case.
      {
        policyholder,
        policy,
        recordType,
        recordLocator: recordLocator?.toLowerCase(),
        after: position?.locator,
      },
      pageSize + 1,
    ),
  ])
  if (!owners[0]) throw notFound(policy ? 'policy' : 'policyholder', place.locator)
  const page = (rows as store.Note[]).slice(0, pageSize)
  const isLast = rows.length <= pageSize
  const last = page.at(-1)
  return {
    items: page.map(noteResponse),
    ...(!isLast &&
      last && {
        pagingToken: writePagingToken(
          [{ createdAt: last.createdAt as typeof context.now, locator: last.locator }],
          UUID_FORM,
        ),
      }),
    listCompleted: isLast,
  }
}

/** Deletes a note. Throws 404 if there is none, and 403 for callers other than its author. */
export async function deleteNote(context: RequestContext, text: string): Promise<void> {
  requireNotes(context)
  const { database, shard, locator } = recordPlace(context, text, 'note')
  const remove = async () => {
    const [rows] = await database.batch([store.noteQuery(database, locator)])
    const note = rows[0] as store.Note | undefined
    if (!note) throw notFound('note', text)
    if (note.accountLocator !== context.caller.accountLocator)
      throw forbidden(`${note.username} wrote the note. Only its author may delete it.`)
    await commit(context, database, {
      shard,
      subject: note.locator,
      guards: [store.isThereGuard(note)],
      facts: [store.deleteNoteQuery(database, note)],
      events: [eventOf('note.delete', note)],
    })
  }
  await unlessRepeated(
    context,
    database,
    () => retryOnConflict('The note', remove),
    () => {},
  )
}

function placeOf(context: RequestContext, type: NotedRecord, text: string) {
  if (type === 'policyholder') {
    if (!readUuid(text)) throw notFound(type, text)
    return recordPlace(context, text, type)
  }
  const digits = readDigits(text)
  if (digits === undefined) throw notFound(type, text)
  const { env, tenant, calls } = context
  const shard = shardOfPolicy(tenant, digits as PolicyLocator)
  return { locator: String(digits), shard, database: shardDatabase(env, tenant, shard, calls) }
}

const eventOf = (type: 'note.create' | 'note.delete', note: store.Note): NewEvent => ({
  type,
  data: {
    noteLocator: note.locator,
    referenceType: note.recordType,
    referenceLocator: note.recordLocator,
    policyholderLocator: note.policyholderLocator,
    ...(note.policyLocator !== null && { policyLocator: String(note.policyLocator) }),
  },
  policyholderLocator: note.policyholderLocator,
  ...(note.policyLocator !== null && { policyLocator: note.policyLocator as PolicyLocator }),
})

const noteResponse = (note: store.Note): NoteResponse => ({
  locator: note.locator,
  recordType: note.recordType,
  recordLocator: note.recordLocator,
  policyholderLocator: note.policyholderLocator,
  ...(note.policyLocator !== null && { policyLocator: String(note.policyLocator) }),
  text: note.text,
  username: note.username,
  createdTimestamp: String(note.createdAt),
})
