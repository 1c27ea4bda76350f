// Jurisdictions that config.json declares, and the policy field that names the jurisdiction of a policy.
import { describe, expect, test } from 'vitest'
import { compileWith, foundIn } from '../minimal-archive.ts'

type Policy = { jurisdictionField?: string; requiresJurisdiction?: boolean; fields?: object[] }

const compiled = (policy: Policy, jurisdictions?: object) =>
  compileWith({
    'config.json': { timezone: 'UTC', currency: 'EUR', ...(jurisdictions && { jurisdictions }) },
    'policy/policy.json': { fields: [], ...policy },
  })

const product = (policy: Policy) => compiled(policy).configuration?.products.boat
const field = (name: string, more: object = {}) => ({ name, type: 'string', ...more })
const STATES = { CA: { displayName: 'California' }, NY: {} }

describe('jurisdictions', () => {
  test('are declared by name in config.json, and a name with a leading space is rejected', () => {
    expect(compiled({}, STATES).configuration?.jurisdictions).toEqual(['CA', 'NY'])
    expect(compiled({}).configuration).not.toHaveProperty('jurisdictions')
    expect(foundIn(compiled({}, { ' CA': {} }))).toEqual(['ERROR badJurisdiction config.json:5'])
  })

  test('are read from jurisdictionField, or by default from a field named jurisdiction', () => {
    const state = field('state', { optional: true })
    expect(product({ jurisdictionField: 'state', fields: [state] })?.jurisdictionField).toBe('state')
    expect(product({ fields: [field('jurisdiction')] })?.jurisdictionField).toBe('jurisdiction')
    expect(product({ fields: [state] })).not.toHaveProperty('jurisdictionField')
    // A repeatable field that happens to have this name means something else.
    const others = [field('jurisdiction', { repeatable: true })]
    expect(product({ fields: others })).not.toHaveProperty('jurisdictionField')
    expect(foundIn(compiled({ fields: others }))).toEqual([])
  })

  test('make their field required when the product requires a jurisdiction', () => {
    const fields = [field('state', { optional: true }), field('other', { optional: true })]
    const required = { jurisdictionField: 'state', requiresJurisdiction: true, fields }
    expect(product(required)?.fields.map(({ name, optional }) => [name, optional])).toEqual([
      ['state', false],
      ['other', true],
    ])
  })

  test.each<[string, Policy]>([
    ['a field that there is not', { jurisdictionField: 'state' }],
    ['no field at all', { requiresJurisdiction: true }],
    ['a list', { jurisdictionField: 'state', fields: [field('state', { repeatable: true })] }],
    ['a number', { jurisdictionField: 'state', fields: [field('state', { type: 'number' })] }],
    [
      'a field that applies sometimes',
      {
        jurisdictionField: 'state',
        requiresJurisdiction: true,
        fields: [field('where', { optional: true }), field('state', { condition: { where: 'US' } })],
      },
    ],
  ])('cannot be read from %s', (_what, policy) => {
    expect(foundIn(compiled(policy))).toEqual([expect.stringMatching(/^ERROR badJurisdictionField policy/)])
  })

  test('cause a warning when the field offers a value that is not declared', () => {
    const fields = [field('state', { type: 'select', values: ['CA', 'TX'] })]
    const policy = { jurisdictionField: 'state', fields }
    expect(compiled(policy, STATES).findings.map(one => one.message)).toEqual([
      "'state' can be 'TX', which config.json does not declare under 'jurisdictions', so no resource can be in force there.",
    ])
    expect(compiled(policy).findings).toEqual([])
  })

  test('of bootstrap resources must be declared in config.json', () => {
    const bootstrap = (jurisdictions: string[]) =>
      foundIn(
        compileWith({
          'config.json': { timezone: 'UTC', currency: 'EUR', jurisdictions: STATES },
          'bootstrap/resources/config.json': {
            resourceInstances: { rates: { staticName: 'rates', jurisdictions } },
          },
          'bootstrap/resources/resourceFiles/tables/rates.csv': 'key,value\na,1\n',
        }),
      )
    expect(bootstrap(['NY'])).toEqual([])
    expect(bootstrap(['TX'])).toEqual([expect.stringContaining('ERROR badBootstrap')])
  })
})
