import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { newUuid, type Uuid } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import {
  LARGEST_ENTITY_BYTES,
  MOST_SUB_ENTITIES,
  newPolicyholder,
  updatedPolicyholder,
} from '../../src/policyholders/change.ts'
import { PolicyholderCreateRequest, PolicyholderUpdateRequest } from '../../src/policyholders/contract.ts'
import type { Policyholder } from '../../src/policyholders/values.ts'
import { BERLIN, field, NOW } from '../product/fields/definitions.ts'

const dictionary = {
  fields: [
    field('last_name', 'string', { maximumCount: 10 }),
    field('date_of_birth', 'date'),
    field('email', 'email'),
    field('contact', 'string', { repeatable: true }),
  ],
  timeZone: BERLIN,
}
const LOCATOR = newUuid(3)
const ACCOUNT = newUuid(0)
const LATER = (NOW + 60_000) as Instant

let made = 0
const newLocator = (): Uuid => {
  made += 1
  return `00000000-0000-4000-8000-${String(made).padStart(12, '0')}` as Uuid
}

const create = (wire: unknown): Policyholder =>
  newPolicyholder(
    PolicyholderCreateRequest.parse(wire),
    { locator: LOCATOR, accountLocator: ACCOUNT },
    { dictionary, now: NOW, newLocator },
  )

const update = (current: Policyholder, wire: object): Policyholder =>
  updatedPolicyholder(
    current,
    PolicyholderUpdateRequest.parse({
      locator: current.locator,
      version: current.version,
      completed: true,
      ...wire,
    }),
    { dictionary, now: LATER, newLocator },
  )

function refusal(action: () => unknown): Refusal {
  try {
    action()
  } catch (problem) {
    if (problem instanceof Refusal) return problem
    throw problem
  }
  throw new Error('It was not refused.')
}

const problems = (action: () => unknown): string[] => {
  const { code, details } = refusal(action)
  expect(code).toBe('policyholderValidation')
  return (details.fieldErrors as { ontologyUri: string; code: number }[]).map(
    one => `${one.ontologyUri}: ${one.code}`,
  )
}

const home = { completed: true, ontologyUri: 'contact', values: { street: 'Main' } }

describe('A new policyholder', () => {
  it('has version 1 and the account that created it, and its entity has the same locator', () => {
    expect(create({ completed: true, values: { last_name: 'Lovelace' } })).toEqual({
      locator: LOCATOR,
      accountLocator: ACCOUNT,
      version: 1,
      completed: true,
      entity: { locator: LOCATOR, values: { last_name: ['Lovelace'] }, subEntities: [] },
      createdAt: NOW,
      updatedAt: NOW,
    })
  })

  it('replaces a localId by the locator of the sub-entity, in the field of its kind only', () => {
    const { entity } = create({
      values: { contact: ['home', 'elsewhere'], last_name: 'home' },
      subEntities: [{ ...home, localId: 'home' }],
    })
    const { locator } = entity.subEntities[0]!
    expect(entity.values).toEqual({ contact: [locator, 'elsewhere'], last_name: ['home'] })
  })

  it('is rejected with every problem and its place', () => {
    expect(
      problems(() =>
        create({
          completed: true,
          values: { shoe_size: 43, last_name: 'Featherstonehaugh' },
          subEntities: [
            { ...home, localId: 'a' },
            { ...home, localId: 'a', values: { email: 'none', shoe_size: 43 } },
          ],
        }),
      ),
    ).toEqual(['subEntities[1].localId: 4', 'last_name: 4', 'shoe_size: 2', 'subEntities[1].values.email: 3'])
  })

  it('has at most 200 sub-entities, and its size is limited', () => {
    const many = (count: number) => create({ subEntities: Array.from({ length: count }, () => home) })
    expect(many(MOST_SUB_ENTITIES).entity.subEntities).toHaveLength(MOST_SUB_ENTITIES)
    expect(refusal(() => many(MOST_SUB_ENTITIES + 1)).code).toBe('tooLarge')

    const long = (letter: string) =>
      create({ subEntities: [{ ...home, values: { notes: Array(20).fill(letter.repeat(20_000)) } }] })
    expect(long('a').entity.subEntities).toHaveLength(1)
    expect(refusal(() => long('ä')).message).toContain(`at most ${LARGEST_ENTITY_BYTES} bytes`)
  })
})

describe('An update of a policyholder', () => {
  const current = create({ completed: false, values: { last_name: 'Byron' }, subEntities: [home, home] })
  const [first, second] = current.entity.subEntities.map(one => one.locator)

  it('creates the next version, with values replaced, removed and kept', () => {
    const after = update(current, { values: { email: 'ada@example.com', last_name: null } })
    expect(after).toMatchObject({ version: 2, completed: true, createdAt: NOW, updatedAt: LATER })
    expect(after.entity.values).toEqual({ email: ['ada@example.com'] })
    expect(update(after, {}).entity.values).toEqual({ email: ['ada@example.com'] })
  })

  it('adds, changes and deletes sub-entities, and leaves the others unchanged', () => {
    const after = update(current, {
      addSubEntities: [{ ...home, ontologyUri: 'agent' }],
      updateSubEntities: [
        {
          locator: second!.toUpperCase(),
          completed: false,
          ontologyUri: 'office',
          values: { street: null, floor: 3 },
        },
      ],
    })
    expect(after.entity.subEntities).toMatchObject([
      { locator: first, updatedAt: NOW, values: { street: ['Main'] } },
      {
        locator: second,
        completed: false,
        ontologyUri: 'office',
        updatedAt: LATER,
        values: { floor: ['3'] },
      },
      { ontologyUri: 'agent', createdAt: LATER },
    ])
    const fewer = update(after, {
      deleteSubEntities: [first],
      updateSubEntities: [{ ...home, locator: first }],
    })
    expect(fewer.entity.subEntities.map(one => one.ontologyUri)).toEqual(['office', 'agent'])
  })

  it('of an unknown sub-entity is rejected, and the message names it', () => {
    const stranger = newUuid(0)
    const action = () =>
      update(current, {
        updateSubEntities: [{ ...home, locator: stranger }],
        deleteSubEntities: [first, 'nobody'],
      })
    expect(problems(action)).toEqual(['updateSubEntities[0].locator: 4', 'deleteSubEntities[1]: 4'])
    expect(refusal(action).message).toContain(`no sub-entity '${stranger}'`)
  })

  it('of another version is rejected with the current version', () => {
    const { code, message } = refusal(() => update(current, { version: 7 }))
    expect(code).toBe('versionConflict')
    expect(message).toContain('is at version 1, not 7')
  })

  it('is not blocked by invalid stored values that it does not change, unless it completes a draft', () => {
    const overwritten = {
      ...current,
      entity: { ...current.entity, values: { date_of_birth: ['ERASED'], fax: ['1'] } },
    }
    const completed = { ...overwritten, completed: true }
    expect(update(completed, { values: { last_name: 'King' } }).entity.values).toEqual({
      date_of_birth: ['ERASED'],
      fax: ['1'],
      last_name: ['King'],
    })
    expect(update(overwritten, { completed: false }).version).toBe(2)
    expect(problems(() => update(overwritten, {}))).toEqual(['date_of_birth: 3'])
  })

  it('with an unknown field of a long name is rejected', () => {
    expect(problems(() => update(current, { values: { ['x'.repeat(150)]: '1' } }))).toHaveLength(1)
  })
})
