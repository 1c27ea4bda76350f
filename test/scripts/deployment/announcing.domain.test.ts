// Which migrations a deployment announces to the serving Worker: a move of tables only when that Worker is ready for it.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabaseFile } from '../../../scripts/local-databases.ts'
import { prepareControl } from '../../../scripts/prepare-databases.ts'
import { announceableMigrations, noteReadyMoves } from '../../../scripts/upgrades.ts'
import { AFTER_MOVE, BEFORE_MOVE, WITH_MOVE } from '../../support/sample-move.ts'

let control: ReturnType<typeof openDatabaseFile>
let version: string | undefined

beforeEach(async () => {
  control = openDatabaseFile('CONTROL', ':memory:')
  version = 'first'
  await prepareControl(control)
  await control.execute([
    `insert into deployment (environment, domain, created_at) values ('eu1', 'example.com', 1)`,
    `insert into deployment_resource (name, noted_at) values ('queue bindery-eu1-upgrades', 1)`,
  ])
})
afterEach(() => control.close())

const FIRST = '0000_first'
const LATER = '0002_later'

const serving = async (): Promise<string | undefined> => version

const announced = async (migrations: typeof AFTER_MOVE, required: string): Promise<string[]> =>
  (await announceableMigrations(control, migrations, serving, required)).map(({ name }) => name)

/** Deploys a release with these migrations, which then responds. */
async function deploy(name: string, migrations: typeof AFTER_MOVE): Promise<void> {
  await control.execute([
    `insert into deployment_resource (name, noted_at) values ('Worker bindery-eu1', 1) on conflict do nothing`,
  ])
  version = name
  await noteReadyMoves(control, serving, migrations)
}

const ALL = ['0000_first', '0001_keys', '0002_later']

test('announces all migrations when no Worker serves yet', async () => {
  expect(await announced(AFTER_MOVE, LATER)).toEqual(ALL)
})

test('announces a move only in the deployment after the one that brought it', async () => {
  await deploy('one', BEFORE_MOVE)
  expect(await announced(WITH_MOVE, FIRST)).toEqual(['0000_first'])
  await deploy('two', WITH_MOVE)
  expect(await announced(WITH_MOVE, FIRST)).toEqual(['0000_first', '0001_keys'])
  expect(await announced(AFTER_MOVE, LATER)).toEqual(ALL)
})

test('rejects a deployment that skips the release which brought a move it requires', async () => {
  await deploy('one', BEFORE_MOVE)
  await expect(announced(AFTER_MOVE, LATER)).rejects.toThrow(
    'First deploy the release that introduced 0001_keys, and then this one.',
  )
  expect(await announced(AFTER_MOVE, FIRST)).toEqual(['0000_first'])
})

test('rejects a required move while a release from before moves is serving', async () => {
  await control.execute([`insert into deployment_resource (name, noted_at) values ('Worker bindery-eu1', 1)`])
  await expect(announced(WITH_MOVE, '0001_keys')).rejects.toThrow('not known to support the move 0001_keys')
})

test('does not announce a move after another version has replaced the ready one', async () => {
  await deploy('two', WITH_MOVE)
  for (const other of ['one again, by its own tool', undefined]) {
    version = other
    expect(await announced(WITH_MOVE, FIRST)).toEqual(['0000_first'])
  }
  version = 'two'
  expect(await announced(WITH_MOVE, FIRST)).toEqual(['0000_first', '0001_keys'])
})

test('keeps announcing a move that was announced once', async () => {
  await deploy('two', WITH_MOVE)
  await control.execute([
    `insert into announced_migration (name, hash, statements) values ('0001_keys', 'h', '[]')`,
  ])
  version = 'another'
  expect(await announced(AFTER_MOVE, LATER)).toEqual(ALL)
})
