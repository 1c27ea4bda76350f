// Collects the statements with `json_each` that the test file sends, and checks how SQLite reads their parameters.
import { env } from 'cloudflare:workers'
import { poolBinding } from '../databases.ts'
import { atFileStart } from '../fresh-start/memory.ts'
import { type PlanRow, repeatedReads } from './judge.ts'

const sent = new Set<string>()
atFileStart(() => sent.clear())

/** Statements of all files of this runtime that passed. The schema is the same in each file, so a plan is requested once. */
const readOnce = new Set<string>()

type Preparing = { prepare(text: string): D1PreparedStatement }
const session = Object.getPrototypeOf(env.CONTROL.withSession()) as Preparing
const { prepare } = session
session.prepare = function (this: Preparing, text) {
  if (text.includes('json_each')) sent.add(text)
  return prepare.call(this, text)
}

async function planOf(database: D1Database, text: string): Promise<readonly PlanRow[] | undefined> {
  const nothing = Array.from(text.matchAll(/\?/g), () => null)
  try {
    const { results } = await database
      .prepare(`explain query plan ${text}`)
      .bind(...nothing)
      .all<PlanRow>()
    return results
  } catch (problem) {
    // The database lacks a table of the statement.
    if (String(problem).includes('no such table')) return undefined
    throw problem
  }
}

/** Returns the statements with `json_each` sent so far that read it more than once, and how. */
export async function statementsThatRepeat(): Promise<string[]> {
  const bindings = env as unknown as Record<string, D1Database>
  const problems: string[] = []
  for (const text of sent) {
    if (readOnce.has(text)) continue
    const plan = (await planOf(bindings[poolBinding(1)]!, text)) ?? (await planOf(env.CONTROL, text))
    if (!plan) continue
    const repeated = repeatedReads(text, plan)
    if (repeated.length === 0) readOnce.add(text)
    for (const step of repeated) problems.push(`${step} is read again for each row of another loop: ${text}`)
  }
  return problems
}
