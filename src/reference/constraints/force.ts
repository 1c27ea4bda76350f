// Constraint tables in force for one transaction (resources brief 2 and 3).
import { inArray, sql } from 'drizzle-orm'
import { wrongState } from '../../kernel/errors.ts'
import { BoundedCache } from '../../kernel/maps.ts'
import type { Instant } from '../../kernel/time.ts'
import { statement } from '../../platform/database.ts'
import { homeDatabase, type TenantPlace } from '../../platform/tenancy.ts'
import type { Configuration } from '../../product/configuration.ts'
import type {
  ColumnType,
  ConstraintTableDeclaration,
  SelectionBasis,
  SelectionTimeBasis,
} from '../../product/resources.ts'
import { notInForce, type ResourceRevision, selectInForce } from '../resource.ts'
import { candidateQueries, candidatesOf } from '../store.ts'
import { resourceRevisions, resources } from '../tables.ts'
import { type Contents, openContents } from './contents.ts'
import { type ConstraintTable, type Question, type TableOf, TableScan } from './evaluation.ts'

export type TablesInForce = {
  /** Rejects with 404 (`resourceNotInForce`) a static name without a table in force. */
  readonly tableOf: TableOf
  readonly has: (staticName: string) => boolean
}

/** Returns the declaration of a constraint table, or undefined for a table that the configuration does not declare. */
export const declarationOf = (
  { resources: declared }: Pick<Configuration, 'resources'>,
  staticName: string,
): ConstraintTableDeclaration | undefined => {
  const tables = declared?.constraintTables ?? {}
  return Object.hasOwn(tables, staticName) ? tables[staticName] : undefined
}

/** Tables that are not declared are selected by the effective time of the transaction. */
const timeBasisOf = (declared: ConstraintTableDeclaration | undefined): SelectionTimeBasis =>
  declared?.selectionTimeBasis ?? 'transactionEffectiveTime'

/** The tables with these static names. Takes one round trip, and reads the file of each table that is not in memory. */
export async function tablesInForce(
  context: TenantPlace,
  configuration: Pick<Configuration, 'resources'>,
  staticNames: readonly string[],
  basis: SelectionBasis,
): Promise<TablesInForce> {
  const tables = new Map<string, ConstraintTable>()
  const { jurisdiction } = basis
  const timeFor = (name: string): Instant => basis[timeBasisOf(declarationOf(configuration, name))]
  if (staticNames.length > 0) {
    const database = homeDatabase(context)
    const [found, groupRows, members, revisionRows] = await database.batch([
      ...candidateQueries(database, staticNames),
      database.bind(REVISIONS, { names: JSON.stringify(staticNames) }),
    ])
    const { resources: candidates, groups } = candidatesOf([found, groupRows, members])
    const revisions = revisionRows as ResourceRevision[]
    await Promise.all(
      staticNames.map(async name => {
        const ofName = candidates.filter(
          candidate => candidate.staticName === name && candidate.type === 'constraintTable',
        )
        const { chosen } = selectInForce(ofName, groups, { at: timeFor(name), jurisdiction })
        const revision = revisions.find(one => one.locator === chosen?.resource.revision)
        if (!chosen || !revision) return
        const contents = await openContents(context, chosen.resource.revision, revision.sizeBytes)
        tables.set(name, constraintTable(chosen.resource.name, contents, declarationOf(configuration, name)))
      }),
    )
  }
  return {
    has: name => tables.has(name),
    tableOf: name => {
      const table = tables.get(name)
      if (!table) throw notInForce(name, { at: timeFor(name), jurisdiction })
      return table
    },
  }
}

/** Returns a function that reads tables for one attempt at a transaction, whose steps may read the same ones. */
export function tableReader(context: TenantPlace) {
  const reads = new Map<string, Promise<TablesInForce>>()
  return (
    configuration: Pick<Configuration, 'resources'>,
    staticNames: readonly string[],
    basis: SelectionBasis,
  ): Promise<TablesInForce> => {
    const readKey = JSON.stringify([staticNames, basis])
    const read = reads.get(readKey) ?? tablesInForce(context, configuration, staticNames, basis)
    reads.set(readKey, read)
    return read
  }
}

/** The revisions of the resources with these static names. */
const REVISIONS = statement(build =>
  build
    .select()
    .from(resourceRevisions)
    .where(
      inArray(
        resourceRevisions.locator,
        build
          .select({ revision: resources.revision })
          .from(resources)
          .where(sql`${resources.staticName} in (select value from json_each(${sql.placeholder('names')}))`),
      ),
    ),
)

/** The spelling of a column in the file: an exact match, or else one that ignores case. */
export const columnIn = (columns: readonly string[], name: string): string | undefined =>
  columns.includes(name) ? name : columns.find(column => column.toLowerCase() === name.toLowerCase())

function constraintTable(
  instance: string,
  { key, columns, rows }: Contents,
  declared: ConstraintTableDeclaration | undefined,
): ConstraintTable {
  const typeOf = (name: string): ColumnType =>
    declared?.columns.find(column => column.name.toLowerCase() === name.toLowerCase())?.dataType ?? 'string'
  const columnName = (name: string): string => {
    const column = columnIn(columns, name)
    if (column !== undefined) return column
    throw wrongState(
      `The constraint table '${instance}' has no column '${name}', which the constraint of a field uses; it has ${columns.map(one => `'${one}'`).join(', ')}. Replace its contents, or correct the constraint.`,
    )
  }
  return {
    typeOf,
    ask: async questions => {
      const inItsColumns = questions.map(({ column, by, where }) => ({
        column: columnName(column),
        by,
        where: where.map(one => ({ ...one, column: columnName(one.column) })),
      }))
      return await readAnswers(key, inItsColumns, async unknown => {
        const scan = new TableScan(columns, unknown)
        for await (const piece of rows()) for (const cells of piece) scan.take(cells)
        return scan.answers()
      })
    },
  }
}

type Answer = readonly string[]

/**
 * Answers by contents and question, sized by their characters. The contents of a revision never change, so a table of a million
 * rows is read only once for each question.
 */
const answerCache = new BoundedCache<Answer>(2 * 1_048_576)
/** The longest answer that is cached, in characters. */
const LONGEST_ANSWER = 64 * 1_024

/** The answers in the order of the questions. Those that are not cached are read together. */
async function readAnswers(
  contents: string,
  questions: readonly Question[],
  ask: (unknown: readonly Question[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  const names = questions.map(question => `${contents}/${JSON.stringify(question)}`)
  const cachedAnswers = names.map(name => answerCache.get(name))
  const unknown = questions.filter((_, at) => cachedAnswers[at] === undefined)
  const newAnswers = unknown.length === 0 ? [] : [...(await ask(unknown))].reverse()
  return cachedAnswers.map((answer, at) => {
    if (answer) return answer
    const newAnswer = newAnswers.pop()!
    const size = newAnswer.reduce((sum, text) => sum + text.length + 20, 100 + names[at]!.length)
    if (size <= LONGEST_ANSWER) answerCache.set(names[at]!, newAnswer, size)
    return newAnswer
  })
}

export type ReadTables = (
  configuration: Configuration,
  staticNames: readonly string[],
  basis: SelectionBasis,
) => Promise<TablesInForce>
