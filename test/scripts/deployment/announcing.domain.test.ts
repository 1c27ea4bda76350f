// Which migrations a deployment tells the Worker of that serves: a move of tables only when that Worker is ready for it.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabaseFile } from '../../../scripts/local-databases.ts'
import { prepareControl } from '../../../scripts/prepare-databases.ts'
import { announceable, noteReadyMoves } from '../../../scripts/upgrades.ts'
import { AFTER_MOVE, BEFORE_MOVE, WITH_MOVE } from '../../support/made-up-move.ts'

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
  (await announceable(control, migrations, serving, required)).map(({ name }) => name)

/** A release with these migrations is deployed, and answers. */
async function deploy(name: string, migrations: typeof AFTER_MOVE): Promise<void> {
  await control.execute([
    `insert into deployment_resource (name, noted_at) values ('Worker bindery-eu1', 1) on conflict do nothing`,
  ])
  version = name
  await noteReadyMoves(control, serving, migrations)
}

const ALL = ['0000_first', '0001_keys', '0002_later']

test('all, where nothing serves yet', async () => {
  expect(await announced(AFTER_MOVE, LATER)).toEqual(ALL)
})

test('those before the move, in the deployment that brings it; the move, in the next', async () => {
  await deploy('one', BEFORE_MOVE)
  expect(await announced(WITH_MOVE, FIRST)).toEqual(['0000_first'])
  await deploy('two', WITH_MOVE)
  expect(await announced(WITH_MOVE, FIRST)).toEqual(['0000_first', '0001_keys'])
  expect(await announced(AFTER_MOVE, LATER)).toEqual(ALL)
})

test('none, where the release between was left out', async () => {
  await deploy('one', BEFORE_MOVE)
  await expect(announced(AFTER_MOVE, LATER)).rejects.toThrow(
    'Deploy the release that brought 0001_keys first, and then this one.',
  )
  expect(await announced(AFTER_MOVE, FIRST)).toEqual(['0000_first'])
})

test('none, where a release serves that is from before moves', async () => {
  await control.execute([`insert into deployment_resource (name, noted_at) values ('Worker bindery-eu1', 1)`])
  await expect(announced(WITH_MOVE, '0001_keys')).rejects.toThrow(
    'not known to be ready for the move 0001_keys',
  )
})

test('no move, after another version was put in the place of the ready one', async () => {
  await deploy('two', WITH_MOVE)
  for (const other of ['one again, by its own tool', undefined]) {
    version = other
    expect(await announced(WITH_MOVE, FIRST)).toEqual(['0000_first'])
  }
  version = 'two'
  expect(await announced(WITH_MOVE, FIRST)).toEqual(['0000_first', '0001_keys'])
})

test('a move that was announced stays so', async () => {
  await deploy('two', WITH_MOVE)
  await control.execute([
    `insert into announced_migration (name, hash, statements) values ('0001_keys', 'h', '[]')`,
  ])
  version = 'another'
  expect(await announced(AFTER_MOVE, LATER)).toEqual(ALL)
})
