// The provider's command line tool, and access to databases through it.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { MigrationTarget } from '../src/platform/database/target.ts'
import type { Environment } from './environments.ts'
import { configFile } from './write-config.ts'

const run = promisify(execFile)

/** Runs a command of the tool. Resolves to its output. */
export type Tool = (...command: string[]) => Promise<string>

/**
 * Returns the tool for an environment. It runs in this checkout or in a copy of it (`checkout`), with the environment's generated
 * configuration. Its errors contain everything that it printed.
 */
export const toolFor =
  (environment: Environment, checkout = '.'): Tool =>
  async (...command) => {
    try {
      const { stdout } = await run(
        process.execPath,
        [resolve('node_modules/wrangler/bin/wrangler.js'), ...command, '--config', configFile(environment)],
        {
          cwd: checkout,
          maxBuffer: 64 * 1024 * 1024,
          env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
        },
      )
      return stdout
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
      throw new Error(`wrangler ${command.slice(0, 3).join(' ')}: ${stderr.trim()}\n${stdout.trim()}`, {
        cause: error,
      })
    }
  }

type Outcome = { results?: Record<string, unknown>[]; success?: boolean }

/** Parses the response of a command with --json. Lines before the JSON are notices. */
export function jsonOf<Value>(output: string): Value {
  const start = output.search(/^[[{]/m)
  if (start < 0) throw new Error(`wrangler did not print JSON:\n${output}`)
  return JSON.parse(output.slice(start)) as Value
}

/** Returns the ids of the databases at the provider, by name. */
export async function databasesMade(tool: Tool): Promise<Map<string, string>> {
  const list = jsonOf<{ name: string; uuid: string }[]>(await tool('d1', 'list', '--json'))
  return new Map(list.map(({ name, uuid }) => [name, uuid]))
}

/** Returns the id of the database of that name. Creates it unless `made` contains it; `options` determine the place. */
export async function databaseAtProvider(
  tool: Tool,
  name: string,
  made: ReadonlyMap<string, string>,
  ...options: string[]
): Promise<string> {
  const present = made.get(name)
  if (present) return present
  const output = await tool('d1', 'create', name, ...options)
  // The tool prints lines to add to a configuration.
  const id = output.match(/"?database_id"?\s*[:=]\s*"([^"]+)"/)?.[1]
  if (!id) throw new Error(`${name} was created, but the provider did not return its id. Run this again.`)
  return id
}

/** The binding of the control database. */
const CONTROL = 'CONTROL'

/**
 * The provider's control database as a migration target, through `wrangler d1 execute`. Statements are sent as one file, which is
 * applied completely or not at all.
 */
export function remoteControl(tool: Tool): MigrationTarget {
  const execute = async (...what: string[]): Promise<Outcome[]> =>
    jsonOf<Outcome[]>(await tool('d1', 'execute', CONTROL, '--remote', '--yes', '--json', ...what))
  return {
    name: CONTROL,
    async execute(statements) {
      const folder = mkdtempSync(join(tmpdir(), 'bindery-'))
      const file = join(folder, 'statements.sql')
      try {
        writeFileSync(file, statements.map(statement => `${statement};\n`).join(''))
        await execute('--file', file)
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
    async query(statement) {
      const [outcome] = await execute('--command', statement)
      return outcome?.results ?? []
    },
  }
}
