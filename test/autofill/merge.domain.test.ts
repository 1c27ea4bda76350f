// How filled-in values are merged into a request, and which calls fill it in.
import { describe, expect, it } from 'vitest'
import { callSequence, isOperationName } from '../../src/extension/integrations/autofill/sequence.ts'
import {
  listNames,
  mergeFilled,
  shownWords,
  withWords,
  wordsOf,
} from '../../src/transactions/autofill/words.ts'

describe('filled-in values', () => {
  it('replace requested values field by field, and null removes a value', () => {
    const asked = { fieldValues: { make: 'Volvo', model: 'old', year: '2019' } }
    expect(mergeFilled(asked, { fieldValues: { model: 'V60', year: null } })).toEqual({
      fieldValues: { make: 'Volvo', model: 'V60', year: null },
    })
  })

  it('replace a list of additions and single values', () => {
    const asked = {
      addExposures: [{ exposureName: 'vehicle' }],
      paymentScheduleName: 'monthly',
      reprice: true,
    }
    const filled = {
      addExposures: [{ exposureName: 'trailer' }],
      paymentScheduleName: 'annually',
      reprice: false,
    }
    expect(mergeFilled(asked, filled)).toEqual(filled)
  })

  it('that are null leave the requested values unchanged', () => {
    const asked = { fieldValues: { a: '1' }, addExposures: [{}], reprice: true }
    expect(mergeFilled(asked, { fieldValues: null, addExposures: null, reprice: undefined })).toEqual(asked)
  })

  it('that are not a number leave a requested time unchanged', () => {
    const asked = { policyEndTimestamp: 2_082_758_400_000 }
    expect(
      mergeFilled(asked, wordsOf('policy', { policyEndTimestamp: 'NaN', paymentScheduleName: 'NaN' })),
    ).toEqual({
      ...asked,
      paymentScheduleName: 'NaN',
    })
  })

  it('are merged into the requested change of the same exposure, peril or group, and others are added', () => {
    const asked = {
      updateExposures: [
        {
          exposureLocator: 'e1',
          fieldValues: { a: '1', b: '1' },
          addPerils: [{ name: 'theft' }],
          endPerils: ['p1'],
        },
        {
          exposureLocator: 'e2',
          updatePerils: [{ perilLocator: 'p2', fieldValues: { x: '1' }, deductible: '500' }],
          updateFieldGroups: [{ fieldGroupLocator: 'g1', fieldValues: { n: '1', m: '1' } }],
        },
      ],
      endExposures: ['e9'],
    }
    const filled = {
      updateExposures: [
        { exposureLocator: 'e3', fieldValues: { a: '3' } },
        { exposureLocator: 'e1', fieldValues: { b: '2' }, endPerils: ['p1', 'p7'] },
        {
          exposureLocator: 'e2',
          updatePerils: [{ perilLocator: 'p2', deductible: 300 }, { perilLocator: 'p3' }],
          updateFieldGroups: [{ fieldGroupLocator: 'g1', fieldValues: { m: '2' } }],
        },
      ],
      endExposures: ['e8'],
    }
    expect(mergeFilled(asked, filled)).toEqual({
      updateExposures: [
        {
          exposureLocator: 'e1',
          fieldValues: { a: '1', b: '2' },
          addPerils: [{ name: 'theft' }],
          endPerils: ['p1', 'p7'],
        },
        {
          exposureLocator: 'e2',
          updatePerils: [
            { perilLocator: 'p2', fieldValues: { x: '1' }, deductible: 300 },
            { perilLocator: 'p3' },
          ],
          updateFieldGroups: [{ fieldGroupLocator: 'g1', fieldValues: { n: '1', m: '2' } }],
        },
        { exposureLocator: 'e3', fieldValues: { a: '3' } },
      ],
      endExposures: ['e9', 'e8'],
    })
  })

  it('are merged into the last of several changes of an exposure, without losing the others', () => {
    const change = (value: string) => ({ exposureLocator: 'e1', fieldValues: { a: value } })
    expect(
      mergeFilled({ updateExposures: [change('1'), change('2')] }, { updateExposures: [change('3')] }),
    ).toEqual({
      updateExposures: [change('1'), change('3')],
    })
  })

  it('of a wrong type are left for the contract to reject, and no name reaches a prototype', () => {
    expect(
      mergeFilled({ updateExposures: [], fieldValues: {} }, { updateExposures: 1, fieldValues: [] }),
    ).toEqual({
      updateExposures: 1,
      fieldValues: [],
    })
    const filled = JSON.parse(
      '{"fieldValues": {"__proto__": {"polluted": true}}, "__proto__": {"polluted": true}}',
    )
    const result = mergeFilled({ fieldValues: {} }, filled) as { fieldValues: object }
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype)
    expect(Object.getPrototypeOf(result.fieldValues)).toBe(Object.prototype)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('are named field by field in messages', () => {
    expect(listNames({ fieldValues: { a: 1, b: 2 }, addExposures: [], reprice: null })).toBe(
      'fieldValues.a, fieldValues.b, addExposures',
    )
  })

  it('are counted in messages after the first 20 fields', () => {
    const fieldValues = Object.fromEntries(Array.from({ length: 22 }, (_, at) => [`f${at}`, 1]))
    expect(listNames({ fieldValues })).toMatch(/^fieldValues\.f0, .*fieldValues\.f19 and 2 more$/)
  })
})

describe('the input of fillers', () => {
  it('has a creation in the form of an update, and can be converted back', () => {
    const request = {
      productName: 'p',
      policyholderLocator: 'h',
      finalize: false,
      exposures: [{ exposureName: 'e' }],
      fieldGroups: [],
      fieldValues: {},
      policyStartTimestamp: undefined,
    }
    const words = wordsOf('newPolicy', request)
    expect(words).toEqual({ addExposures: request.exposures, addFieldGroups: [], fieldValues: {} })
    expect(withWords('newPolicy', request, words)).toEqual(request)
  })

  it('has values as lists of text, and numbers as text', () => {
    expect(
      shownWords({
        fieldValues: { a: 1, b: ['x', 2.5], c: null, d: true },
        addExposures: [
          { exposureName: 'e', fieldValues: { n: 3 }, perils: [{ name: 'p', deductible: '500' }] },
        ],
        startTimestamp: 1_700_000_000_000,
        reprice: false,
      }),
    ).toEqual({
      fieldValues: { a: ['1'], b: ['x', '2.5'], c: [], d: ['true'] },
      addExposures: [
        { exposureName: 'e', fieldValues: { n: ['3'] }, perils: [{ name: 'p', deductible: '500' }] },
      ],
      startTimestamp: '1700000000000',
      reprice: false,
    })
  })
})

describe('the call sequence', () => {
  const filling = { productName: 'auto', operation: 'endorsement', operationType: 'create' } as const
  const registered = (...names: string[]) =>
    Object.fromEntries(names.map(name => [name, { locator: name, callSequence: [`of ${name}`] }]))
  const all = ['auto.endorsement.create', 'auto.endorsement.*', 'auto.*.*', '*.*.*']

  it('is that of the request, or of the registered operation that fits best, or the plugin', () => {
    expect(callSequence(['vin'], registered(...all), filling, true)).toEqual(['vin'])
    expect(callSequence([], registered(...all), filling, true)).toEqual([])
    for (const [at, name] of all.entries())
      expect(callSequence(undefined, registered(...all.slice(at)), filling, true)).toEqual([`of ${name}`])
    const others = registered('auto.endorsement.update', 'auto.renewal.*', 'boat.*.*')
    expect(callSequence(undefined, others, filling, true)).toEqual(['internal'])
    expect(callSequence(undefined, others, filling, false)).toEqual([])
  })

  it('omits the plugin if the product has none, and a request that names it is rejected', () => {
    const both = { '*.*.*': { locator: 'x', callSequence: ['internal', 'vin'] } }
    expect(callSequence(undefined, both, filling, true)).toEqual(['internal', 'vin'])
    expect(callSequence(undefined, both, filling, false)).toEqual(['vin'])
    expect(() => callSequence(['internal'], both, filling, false)).toThrow(
      /does not enable it; leave it out\.$/,
    )
  })

  it('is registered only under names that can match, even if the name of a product has dots', () => {
    for (const name of [...all, 'a.b.newBusiness.update', 'a.b.*.*', 'auto.renewal.*'])
      expect([name, isOperationName(name)]).toEqual([name, true])
    for (const name of [
      '',
      'auto',
      'auto.*',
      '*.newBusiness.create',
      '*.endorsement.*',
      'auto.*.create',
      '.*.*',
    ])
      expect([name, isOperationName(name)]).toEqual([name, false])
  })
})
