// The statements with `json_each` that the test file sent, and how SQLite reads their parameters.
import { env } from 'cloudflare:workers'
import { poolBinding } from '../databases.ts'
import { atFileStart } from '../fresh-start/memory.ts'
import { type PlanRow, repeatedReads } from './judge.ts'

const sent = new Set<string>()
atFileStart(() => sent.clear())

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
    // Of a table that the database lacks.
    if (String(problem).includes('no such table')) return undefined
    throw problem
  }
}

/** The statements with `json_each` that were sent so far, and how they read it more than once. */
export async function statementsThatRepeat(): Promise<{ checked: number; problems: string[] }> {
  const bindings = env as unknown as Record<string, D1Database>
  const problems: string[] = []
  let checked = 0
  for (const text of sent) {
    const plan = (await planOf(bindings[poolBinding(1)]!, text)) ?? (await planOf(env.CONTROL, text))
    if (!plan) continue
    checked += 1
    for (const step of repeatedReads(text, plan))
      problems.push(`${step} is read again for each row of another loop: ${text}`)
  }
  return { checked, problems }
}
