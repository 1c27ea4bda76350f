// What is filled in, put into what was asked; and which calls fill in.
import { describe, expect, it } from 'vitest'
import { callSequence, isOperationName } from '../../src/extension/integrations/autofill/sequence.ts'
import { merged, named, shownWords, withWords, wordsOf } from '../../src/transactions/autofill/words.ts'

describe('what is filled in', () => {
  it('wins field by field, and null takes a value away', () => {
    const asked = { fieldValues: { make: 'Volvo', model: 'old', year: '2019' } }
    expect(merged(asked, { fieldValues: { model: 'V60', year: null } })).toEqual({
      fieldValues: { make: 'Volvo', model: 'V60', year: null },
    })
  })

  it('takes the place of a list of additions, and of single words', () => {
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
    expect(merged(asked, filled)).toEqual(filled)
  })

  it('that is null leaves what was asked', () => {
    const asked = { fieldValues: { a: '1' }, addExposures: [{}], reprice: true }
    expect(merged(asked, { fieldValues: null, addExposures: null, reprice: undefined })).toEqual(asked)
  })

  it('of a time that is no number leaves what was asked', () => {
    const asked = { policyEndTimestamp: 2_082_758_400_000 }
    expect(
      merged(asked, wordsOf('policy', { policyEndTimestamp: 'NaN', paymentScheduleName: 'NaN' })),
    ).toEqual({
      ...asked,
      paymentScheduleName: 'NaN',
    })
  })

  it('changes the same exposure, peril and group where the request does, and others beside it', () => {
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
    expect(merged(asked, filled)).toEqual({
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

  it('comes to the later of two changes of the same exposure, and loses neither', () => {
    const change = (value: string) => ({ exposureLocator: 'e1', fieldValues: { a: value } })
    expect(
      merged({ updateExposures: [change('1'), change('2')] }, { updateExposures: [change('3')] }),
    ).toEqual({
      updateExposures: [change('1'), change('3')],
    })
  })

  it('of a wrong shape is left for the contract to refuse, and no name reaches a prototype', () => {
    expect(merged({ updateExposures: [], fieldValues: {} }, { updateExposures: 1, fieldValues: [] })).toEqual(
      {
        updateExposures: 1,
        fieldValues: [],
      },
    )
    const filled = JSON.parse(
      '{"fieldValues": {"__proto__": {"polluted": true}}, "__proto__": {"polluted": true}}',
    )
    const result = merged({ fieldValues: {} }, filled) as { fieldValues: object }
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype)
    expect(Object.getPrototypeOf(result.fieldValues)).toBe(Object.prototype)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('is named field by field', () => {
    expect(named({ fieldValues: { a: 1, b: 2 }, addExposures: [], reprice: null })).toBe(
      'fieldValues.a, fieldValues.b, addExposures',
    )
  })

  it('is counted where it is many fields', () => {
    const fieldValues = Object.fromEntries(Array.from({ length: 22 }, (_, at) => [`f${at}`, 1]))
    expect(named({ fieldValues })).toMatch(/^fieldValues\.f0, .*fieldValues\.f19 and 2 more$/)
  })
})

describe('the words', () => {
  it('of a creation are those of an update, there and back', () => {
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

  it('are shown with values as lists of text and numbers as text', () => {
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

  it('is what the request says, else the registered operation that fits best, else the plugin', () => {
    expect(callSequence(['vin'], registered(...all), filling, true)).toEqual(['vin'])
    expect(callSequence([], registered(...all), filling, true)).toEqual([])
    for (const [at, name] of all.entries())
      expect(callSequence(undefined, registered(...all.slice(at)), filling, true)).toEqual([`of ${name}`])
    const others = registered('auto.endorsement.update', 'auto.renewal.*', 'boat.*.*')
    expect(callSequence(undefined, others, filling, true)).toEqual(['internal'])
    expect(callSequence(undefined, others, filling, false)).toEqual([])
  })

  it('leaves the plugin out where a product has none, unless the request itself names it', () => {
    const both = { '*.*.*': { locator: 'x', callSequence: ['internal', 'vin'] } }
    expect(callSequence(undefined, both, filling, true)).toEqual(['internal', 'vin'])
    expect(callSequence(undefined, both, filling, false)).toEqual(['vin'])
    expect(() => callSequence(['internal'], both, filling, false)).toThrow(/does not switch on/)
  })

  it('is registered under names that can be found, whatever dots a product has', () => {
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
