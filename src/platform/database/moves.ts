// A migration that gives tables other keys or indexes while tenants write to them ("expand, move, contract"). Triggers mirror each
// write of a table T into T_moved while its rows are copied there. Then T_moved takes its name, and the rows left behind are
// deleted. One table follows the other, so a database needs room for one more table only.
//
// Each step is a batch that fails unless the table is at the step's stage, and records how far it comes. So a run may be interrupted
// anywhere, and two may overlap: of two that do the same, one fails and begins again with what is there.
import type { MigrationTarget } from './target.ts'

export type Move = {
  /** None: a migration that only has to wait. */
  readonly tables: readonly string[]
  /** Make T_moved with its indexes, for each table T. */
  readonly making: readonly string[]
  /** For when all tables have moved. */
  readonly atEnd: readonly string[]
}

/** Batches that a run may still send. */
export type Steps = { left: number }

const MOVES = 'moves: '
const AT_THE_END = 'at the end'
/** First line of a migration that moves nothing, but changes what is written: it too waits until no earlier release serves. */
const AFTER_RELEASE = 'after its release'

/**
 * Comment lines that mark a move become statements of their own. They are no SQL: a release that knows no moves fails with them, where it
 * would else record half a move as applied.
 */
export const withMarks = (text: string, breakpoint: string): string =>
  text.replace(
    new RegExp(`^-- (${MOVES}.+|${AT_THE_END}|${AFTER_RELEASE})$`, 'gm'),
    `${breakpoint}\n$1\n${breakpoint}`,
  )

/** Undefined for a migration of plain statements. */
export function moveOf({ statements }: { readonly statements: readonly string[] }): Move | undefined {
  const [first = '', ...rest] = statements
  if (first === AFTER_RELEASE) return { tables: [], making: [], atEnd: rest }
  const tables = first.startsWith(MOVES) && first.slice(MOVES.length).split(/,\s*/)
  if (!tables) return undefined
  const end = [...rest, AT_THE_END].indexOf(AT_THE_END)
  return { tables, making: rest.slice(0, end), atEnd: rest.slice(end + 1) }
}

/** Exists while a move is under way. */
const PROGRESS = `create table migration_move (
  table_name text primary key not null, stage text not null, reached integer not null, until integer not null
)`

const ROWS_A_STEP = 2_000

/** Steps between two looks at the progress. */
const MOST_BETWEEN_LOOKS = 16

/**
 * Goes on with the move of the migration `name` until it is done, which `record` notes, or until no steps are left; returns whether
 * it is done.
 */
export async function carryOutMove(
  target: MigrationTarget,
  name: string,
  { tables, making, atEnd }: Move,
  record: string,
  steps: Steps,
): Promise<boolean> {
  if (tables.length === 0) {
    await target.execute([...atEnd, record])
    return true
  }
  const isBegun = `exists (select 1 from sqlite_master where name = 'migration_move')`
  const isUsed = [
    isBegun,
    'exists (select 1 from fence)',
    `exists (select 1 from sqlite_sequence where name in (${tables.map(table => `'${table}'`).join()}))`,
    ...tables.map(table => `exists (select 1 from "${table}")`),
  ].join(' or ')
  const [state] = await target.query(`select ${isBegun} as is_begun, ${isUsed} as is_used`)
  if (!state?.is_used) {
    const ifFree = `insert into migration (name, hash, applied_at) select null, '', 0 where ${isUsed}`
    const drops = tables.map(table => `drop table "${table}"`)
    // Made under their own names at once: SQLite reads the whole schema again for each that it renames.
    const moved = new RegExp(`\\b(${tables.join('|')})_moved\\b`, 'g')
    const makes = making.map(statement => statement.replace(moved, '$1'))
    await target.execute([ifFree, ...drops, ...makes, ...atEnd, record])
    return true
  }
  if (!state.is_begun) {
    // Another run may have come to the end since this one looked what is missing: nothing is moved twice.
    const ifMissing = `insert into migration (name, hash, applied_at)
      select null, '', 0 where exists (select 1 from migration where name = '${name}')`
    const places = tables.map(table => `insert into migration_move values ('${table}', 'made', 0, 0)`)
    await target.execute([ifMissing, PROGRESS, ...making, ...places])
  }
  for (const table of tables) if (!(await moveTable(target, table, steps))) return false
  await target.execute([...atEnd, 'drop table migration_move', record])
  return true
}

async function moveTable(target: MigrationTarget, table: string, steps: Steps): Promise<boolean> {
  let former = ''
  for (let times = 1; ; ) {
    const [row] = await target.query(`select stage from migration_move where table_name = '${table}'`)
    const stage = String(row?.stage) as Stage | 'done'
    if (stage === 'done') return true
    times = stage === former ? Math.min(2 * times, MOST_BETWEEN_LOOKS) : 1
    former = stage
    const statements = await STEPS[stage](table, target)
    for (let time = 0; time < times; time += 1) {
      if (steps.left <= 0) return false
      steps.left -= 1
      await target.execute(statements)
    }
  }
}

type Stage = 'made' | 'copying' | 'copied' | 'swapped' | 'emptied'

const place = (table: string): string => `migration_move where table_name = '${table}'`

/** Fails the batch at any other stage: no column of the progress is null. */
const hold = (table: string, ...stages: Stage[]): string =>
  `insert into migration_move select null, null, null, null
   where not exists (select 1 from ${place(table)} and stage in (${stages.map(stage => `'${stage}'`).join()}))`

const goOn = (table: string, stage: Stage | 'done', where = 'true'): string =>
  `update migration_move set stage = '${stage}' where table_name = '${table}' and ${where}`

type Batch = (table: string, target: MigrationTarget) => string[] | Promise<string[]>

/** What a table has to do at each stage. Those that a run repeats do no harm when there is nothing left to do. */
const STEPS: Readonly<Record<Stage, Batch>> = {
  made: async (table, target) => [
    hold(table, 'made'),
    ...mirrors(table, await shapeOf(target, table)),
    `update migration_move set (stage, reached, until) =
       (select 'copying', coalesce(min(rowid), 1) - 1, coalesce(max(rowid), 0) from "${table}") where table_name = '${table}'`,
  ],
  copying: async (table, target) => {
    const { columns, key } = await shapeOf(target, table)
    const next = (what: string): string =>
      `select ${what} from "${table}" where rowid > (select reached from ${place(table)})
         and rowid <= (select until from ${place(table)}) order by rowid limit ${ROWS_A_STEP}`
    return [
      hold(table, 'copying', 'copied'),
      `insert into "${table}_moved" (${listed(columns)}) select ${listed(columns)} from (${next(listed(columns))}) as here
       where not exists (select 1 from "${table}_moved" as there where ${same(key, 'there', 'here')})`,
      `update migration_move set (reached, stage) =
         (select coalesce(max(id), reached), iif(count(*) < ${ROWS_A_STEP}, 'copied', 'copying')
          from (${next('rowid as id')})) where table_name = '${table}'`,
    ]
  },
  copied: table => [
    hold(table, 'copied'),
    ...WRITES.map(write => `drop trigger "${table}_moving_${write}"`),
    `alter table "${table}" rename to "${table}_left"`,
    `alter table "${table}_moved" rename to "${table}"`,
    goOn(table, 'swapped'),
  ],
  swapped: table => [
    hold(table, 'swapped', 'emptied'),
    `delete from "${table}_left" where rowid in (select rowid from "${table}_left" limit ${ROWS_A_STEP})`,
    goOn(table, 'emptied', `not exists (select 1 from "${table}_left")`),
  ],
  emptied: table => [hold(table, 'emptied'), `drop table "${table}_left"`, goOn(table, 'done')],
}

/** Of T_moved. The columns include `rowid` unless a column is the row id, or there is none. */
type Shape = { readonly columns: readonly string[]; readonly key: readonly string[] }

async function shapeOf(target: MigrationTarget, table: string): Promise<Shape> {
  const rows = await target.query(
    `select there.name, there.type, there.pk, l.wr, (select count(*) from pragma_table_info('${table}')) as here,
       there.name in (select name from pragma_table_info('${table}')) as is_here
     from pragma_table_info('${table}_moved') as there join pragma_table_list as l on l.name = '${table}_moved' and l.schema = 'main'
     order by there.pk`,
  )
  if (rows.some(row => !row.is_here || row.here !== rows.length) || rows.length === 0)
    throw new Error(`${table}_moved must have the columns of ${table}.`)
  const names = rows.map(({ name }) => String(name))
  const key = names.filter((_, at) => Number(rows[at]!.pk) > 0)
  const isRowId = key.length === 1 && String(rows.at(-1)!.type).toLowerCase() === 'integer'
  return {
    columns: rows[0]!.wr || isRowId ? names : ['rowid', ...names],
    key: key.length > 0 ? key : ['rowid'],
  }
}

const listed = (columns: readonly string[], of = ''): string =>
  columns.map(column => `${of}"${column}"`).join(', ')

const same = (key: readonly string[], a: string, b: string): string =>
  key.map(column => `${a}."${column}" = ${b}."${column}"`).join(' and ')

const WRITES = ['insert', 'update', 'delete'] as const

/**
 * T_moved has no row that T has not, so a row that comes is new there, or the statement that fires the trigger replaces rows:
 * then so do those of the trigger. A changed row is removed and put again, since SQLite lets no trigger replace rows of itself.
 */
function mirrors(table: string, { columns, key }: Shape): string[] {
  const insert = `insert into "${table}_moved" (${listed(columns)})`
  const put = `${insert} values (${listed(columns, 'new.')});`
  const remove = `delete from "${table}_moved" where ${same(key, `"${table}_moved"`, 'old')};`
  const actions = { insert: put, update: `${remove} ${put}`, delete: remove }
  return [
    // A number may be given out whose row is gone: a row that is deleted at once has T_moved count on behind it.
    `${insert} select ${columns.map(column => (column === key[0] ? 'seq' : '0')).join()} from sqlite_sequence where name = '${table}'`,
    `delete from "${table}_moved"`,
    ...WRITES.map(
      write =>
        `create trigger "${table}_moving_${write}" after ${write} on "${table}" begin ${actions[write]} end`,
    ),
  ]
}
