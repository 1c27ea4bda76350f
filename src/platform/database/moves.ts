// Migrations that give tables other keys or indexes while tenants write to them ("expand, move, contract"). Triggers mirror each
// write of a table T into T_moved while the rows of T are copied there. T_moved is then renamed to T, and the rows left behind are
// deleted. Tables move one after the other, so a database needs room for only one more table.
//
// Each step is a batch that fails unless the table is at the stage of the step, and records its progress. A run can therefore be
// interrupted anywhere, and two runs can overlap: if both do the same step, one fails and starts again from the recorded stage.
import type { MigrationTarget } from './target.ts'

export type Move = {
  /** Empty for a migration that only has to wait. */
  readonly tables: readonly string[]
  /** Statements that create T_moved with its indexes, for each table T. */
  readonly making: readonly string[]
  /** Statements to run when all tables have moved. */
  readonly atEnd: readonly string[]
}

/** Number of batches that a run may still send. */
export type Steps = { left: number }

const MOVES = 'moves: '
const AT_THE_END = 'at the end'
/** First line of a migration without moves that changes what is written: it, too, waits until no earlier release is serving. */
const AFTER_RELEASE = 'after its release'

/**
 * Turns the comment lines that mark a move into separate statements. They are not valid SQL, so a release that does not know moves
 * fails on them and does not record half a move as applied.
 */
export const withMarks = (text: string, breakpoint: string): string =>
  text.replace(
    new RegExp(`^-- (${MOVES}.+|${AT_THE_END}|${AFTER_RELEASE})$`, 'gm'),
    `${breakpoint}\n$1\n${breakpoint}`,
  )

/** Returns undefined for a migration of plain statements. */
export function moveOf({ statements }: { readonly statements: readonly string[] }): Move | undefined {
  const [first = '', ...rest] = statements
  if (first === AFTER_RELEASE) return { tables: [], making: [], atEnd: rest }
  const tables = first.startsWith(MOVES) && first.slice(MOVES.length).split(/,\s*/)
  if (!tables) return undefined
  const end = [...rest, AT_THE_END].indexOf(AT_THE_END)
  return { tables, making: rest.slice(0, end), atEnd: rest.slice(end + 1) }
}

/** A table that exists while a move is under way. */
const PROGRESS = `create table migration_move (
  table_name text primary key not null, stage text not null, reached integer not null, until integer not null
)`

const ROWS_A_STEP = 2_000

/** Maximum number of steps between two reads of the progress. */
const MOST_BETWEEN_LOOKS = 16

/**
 * Continues the move of the migration `name` until it is done, which `record` records, or until no steps are left. Returns whether
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
    // The new tables get their final names directly: SQLite reads the whole schema again for each table that it renames.
    const moved = new RegExp(`\\b(${tables.join('|')})_moved\\b`, 'g')
    const makes = making.map(statement => statement.replace(moved, '$1'))
    await target.execute([ifFree, ...drops, ...makes, ...atEnd, record])
    return true
  }
  if (!state.is_begun) {
    // Another run may have finished since this one listed the missing migrations. Nothing may be moved twice.
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

/** Fails the batch at any other stage: every column of the progress table is NOT NULL. */
const requireStage = (table: string, ...stages: Stage[]): string =>
  `insert into migration_move select null, null, null, null
   where not exists (select 1 from ${place(table)} and stage in (${stages.map(stage => `'${stage}'`).join()}))`

const setStage = (table: string, stage: Stage | 'done', where = 'true'): string =>
  `update migration_move set stage = '${stage}' where table_name = '${table}' and ${where}`

type Batch = (table: string, target: MigrationTarget) => string[] | Promise<string[]>

/** The batch of each stage of a table. A run may repeat it, and it does no harm when nothing is left to do. */
const STEPS: Readonly<Record<Stage, Batch>> = {
  made: async (table, target) => [
    requireStage(table, 'made'),
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
      requireStage(table, 'copying', 'copied'),
      `insert into "${table}_moved" (${columnList(columns)}) select ${columnList(columns)} from (${next(columnList(columns))}) as here
       where not exists (select 1 from "${table}_moved" as there where ${keysAreEqual(key, 'there', 'here')})`,
      `update migration_move set (reached, stage) =
         (select coalesce(max(id), reached), iif(count(*) < ${ROWS_A_STEP}, 'copied', 'copying')
          from (${next('rowid as id')})) where table_name = '${table}'`,
    ]
  },
  copied: table => [
    requireStage(table, 'copied'),
    ...WRITES.map(write => `drop trigger "${table}_moving_${write}"`),
    `alter table "${table}" rename to "${table}_left"`,
    `alter table "${table}_moved" rename to "${table}"`,
    setStage(table, 'swapped'),
  ],
  swapped: table => [
    requireStage(table, 'swapped', 'emptied'),
    `delete from "${table}_left" where rowid in (select rowid from "${table}_left" limit ${ROWS_A_STEP})`,
    setStage(table, 'emptied', `not exists (select 1 from "${table}_left")`),
  ],
  emptied: table => [requireStage(table, 'emptied'), `drop table "${table}_left"`, setStage(table, 'done')],
}

/** The shape of T_moved. The columns include `rowid` unless a column is the row id or the table has none. */
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

const columnList = (columns: readonly string[], of = ''): string =>
  columns.map(column => `${of}"${column}"`).join(', ')

const keysAreEqual = (key: readonly string[], a: string, b: string): string =>
  key.map(column => `${a}."${column}" = ${b}."${column}"`).join(' and ')

const WRITES = ['insert', 'update', 'delete'] as const

/**
 * Builds the triggers. T_moved has no row that T does not have, so a row inserted into T is new in T_moved as well, unless the
 * statement that fires the trigger replaces rows: the statements of the trigger then replace them too. An update deletes the row
 * and inserts it again, because in SQLite a trigger cannot replace rows by itself.
 */
function mirrors(table: string, { columns, key }: Shape): string[] {
  const insert = `insert into "${table}_moved" (${columnList(columns)})`
  const put = `${insert} values (${columnList(columns, 'new.')});`
  const remove = `delete from "${table}_moved" where ${keysAreEqual(key, `"${table}_moved"`, 'old')};`
  const actions = { insert: put, update: `${remove} ${put}`, delete: remove }
  return [
    // The highest number may belong to a row that was deleted. Inserting and deleting a row makes T_moved continue after it.
    `${insert} select ${columns.map(column => (column === key[0] ? 'seq' : '0')).join()} from sqlite_sequence where name = '${table}'`,
    `delete from "${table}_moved"`,
    ...WRITES.map(
      write =>
        `create trigger "${table}_moving_${write}" after ${write} on "${table}" begin ${actions[write]} end`,
    ),
  ]
}
