import { describe, expect, test } from 'vitest'
import { processorClock } from '../../../support/scaling.ts'
import type { ArchiveContent } from '../../archive-maker.ts'
import { compileWith, foundIn, minimal } from '../../minimal-archive.ts'

type Changes = Record<string, ArchiveContent[string] | undefined>

const found = (changes: Changes): string[] => foundIn(compileWith(changes))
const policyWith = (properties: object): Changes => ({ 'policy/policy.json': { fields: [], ...properties } })
const premium = 'policy/exposures/hull/perils/sinking.premium.liquid'
const setPremium = '{{ 100 | set_year_premium }}'

describe('compiling a product', () => {
  test('fills in the defaults of a minimal product', () => {
    const { configuration, findings } = compileWith({})
    expect(findings).toEqual([])
    expect(configuration?.products.boat).toEqual({
      name: 'boat',
      displayName: 'Boat',
      locator: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      fields: [expect.objectContaining({ name: 'harbour', title: 'Home harbour' })],
      exposures: [
        {
          name: 'hull',
          displayName: 'Hull',
          fields: [],
          perils: [
            {
              name: 'sinking',
              displayName: 'Sinking',
              fields: [],
              defaults: {},
              premium: { path: `products/boat/${premium}`, source: '{{ 100 | set_year_premium }}' },
            },
          ],
        },
      ],
      documents: [],
      paymentSchedules: [{ type: 'total', name: 'upfront', displayName: 'Upfront' }],
      defaultPaymentTerms: { amount: 0, unit: 'day' },
      lapse: {},
      invoicing: { generatingEvent: 'issue' },
      legacyCancellationProration: 'monthly',
      endReminders: [],
      endorsements: [],
      renewals: { documents: [] },
      fees: [],
      taxes: [],
      templates: {},
      staticDocuments: [],
      plugins: {},
      tables: {},
    })
  })

  test('reads every property of a complete product', () => {
    const document = { fileName: 'endorsement.pdf', templateName: 'endt.template.liquid' }
    const { configuration, findings } = compileWith({
      ...policyWith({
        documents: [
          {
            displayName: 'Schedule',
            fileName: 'schedule.html',
            templateName: 'schedule',
            type: 'html',
            generatingEvent: 'Accept',
            pageLayout: { marginTop: 2, orientation: 'landscape' },
          },
        ],
        paymentSchedules: [
          { type: 'monthly', name: 'by month', displayName: 'By month' },
          { type: 'every_two_weeks', name: 'fortnightly' },
        ],
        defaultPaymentTerms: { amount: '14', unit: 'day' },
        lapse: { gracePeriodDays: 30, reinstatementPeriodDays: 0 },
        invoicing: { generatingEvent: 'accept' },
        cancellations: { proration: 'actualMilliseconds' },
        reminders: { enabled: true, from: 'policy.end', name: 'Renew', offset: '-2w' },
        endReminders: [{ name: 'Ends', daysBefore: 7 }],
        searchSummary: ['harbour'],
      }),
      'policy/schedule.template.liquid': 'schedule',
      'policy/endt.template.liquid': 'endorsement',
      'policy/invoice.template.liquid': 'invoice',
      'policy/lapse.template.liquid': 'lapse',
      'policy/exposures/hull/perils/sinking.json': {
        name: 'sinking',
        indemnityPerItem: 100000,
        indemnityInAggregate: 'Unlimited',
        deductible: '250.50',
      },
      'policy/endorsements.json': {
        endorsements: [{ name: 'generic', reprice: 'always', documents: [document] }],
      },
      'policy/renewals.json': { documents: [document] },
      'policy/cancellations.json': {
        cancellationTypes: [
          {
            name: 'lapse',
            title: 'Not paid',
            documents: [],
            reinstatement: { defaultDeadlineDays: 60, documents: [document] },
            cancellationCategories: 'eligible',
          },
        ],
      },
      'policy/fees.json': { fees: [{ name: 'setup', proration: 'flat' }, { name: 'plate' }] },
      'policy/taxes/taxes.json': { taxes: [{ name: 'vat', displayName: 'VAT' }] },
      'policy/taxes/vat.premium.liquid': '{{ 1 | set_peril_tax }}',
      'policy/policy.calculations.liquid': '{{ 10 | add_fee: "setup" }}',
      'policy/underwriting.guidelines.liquid': '{{ "accept" | set_underwriting_decision }}',
      'policy/static_documents/terms.pdf': new Uint8Array([0x25, 0x50, 0x44, 0x46]),
    })
    expect(findings).toEqual([])
    const product = configuration!.products.boat!
    expect(product.documents).toEqual([
      {
        displayName: 'Schedule',
        fileName: 'schedule.html',
        templateName: 'schedule.template.liquid',
        type: 'html',
        generatingEvent: 'accept',
        trigger: 'accepted',
        pageLayout: { marginTop: '2', orientation: 'landscape' },
      },
    ])
    expect(product.paymentSchedules).toEqual([
      { type: 'monthly', name: 'by month', displayName: 'By month' },
      { type: 'every_two_weeks', name: 'fortnightly', displayName: 'Fortnightly' },
    ])
    expect(product).toMatchObject({
      defaultPaymentTerms: { amount: 14, unit: 'day' },
      lapse: { gracePeriodDays: 30, reinstatementPeriodDays: 0 },
      invoicing: { generatingEvent: 'accept' },
      legacyCancellationProration: 'linear',
      endReminders: [
        { name: 'Ends', daysBefore: 7 },
        { name: 'Renew', daysBefore: 14 },
      ],
      endorsements: [
        {
          name: 'generic',
          displayName: 'Generic',
          reprice: 'always',
          documents: [{ generatingEvent: 'accept' }],
        },
      ],
      renewals: { documents: [{ generatingEvent: 'accept', type: 'pdf' }] },
      cancellationTypes: [
        {
          name: 'lapse',
          title: 'Not paid',
          cancellationCategories: ['eligible'],
          reinstatement: { defaultDeadlineDays: 60 },
        },
      ],
      fees: [
        { name: 'setup', displayName: 'Setup', proration: 'flat' },
        { name: 'plate', displayName: 'Plate', proration: 'proratable' },
      ],
      taxes: [{ name: 'vat', displayName: 'VAT', premium: { source: '{{ 1 | set_peril_tax }}' } }],
      calculations: { source: '{{ 10 | add_fee: "setup" }}' },
      underwriting: { path: 'products/boat/policy/underwriting.guidelines.liquid' },
      staticDocuments: ['terms.pdf'],
    })
    expect(product.exposures[0]!.perils[0]!.defaults).toEqual({
      indemnityPerItem: '100000',
      indemnityInAggregate: 'unlimited',
      deductible: '250.5',
    })
    expect(Object.keys(product.templates)).toEqual([
      'endt.template.liquid',
      'invoice.template.liquid',
      'lapse.template.liquid',
      'schedule.template.liquid',
    ])
  })

  test('keeps the locator of a product when its configuration changes', () => {
    const one = compileWith({}).configuration!.products.boat!.locator
    const other = compileWith(policyWith({})).configuration!.products.boat!.locator
    expect(other).toBe(one)
  })
})

describe('incomplete products', () => {
  test('rejects an archive without products', () => {
    const nothing = Object.fromEntries(Object.keys(minimal).map(path => [path, undefined]))
    expect(found({ ...nothing, 'config.json': minimal['config.json'] })).toContain(
      'ERROR noProducts products',
    )
  })

  test('names the folder of the products if it is too deep in the archive', () => {
    const deeper = Object.fromEntries(
      Object.keys(minimal).flatMap(path => [
        [path, undefined],
        [`release 3/all/boats/${path}`, minimal[path]],
      ]),
    ) as Record<string, string>
    expect(compileWith(deeper).findings.find(({ code }) => code === 'noProducts')?.message).toBe(
      "The archive has no product. There are products in the folder 'release 3/all/boats/'. Put the contents of that folder into the zip.",
    )
  })

  test('says in which format to save tables of spreadsheets and scripts in TypeScript', () => {
    const { findings } = compileWith({
      'policy/tables/rates.xlsx': 'x',
      'scripts/main/rater.ts': 'export const a: number = 1',
    })
    expect(
      findings.map(({ severity, code, path, message }) => `${severity} ${code} ${path}: ${message}`),
    ).toEqual([
      'WARNING unknownFile products/boat/policy/tables/rates.xlsx: Tables are CSV files, so this file is ignored. Save it as .csv, with commas, in UTF-8.',
      'WARNING unknownFile scripts/main/rater.ts: Plugins are JavaScript, so this file is ignored. Compile it to .js, and put the result in its place.',
    ])
  })

  test('says how to write a file that has only the list', () => {
    const messages = (name: string, content: object) =>
      compileWith({ [`policy/${name}.json`]: content }).findings.map(({ message }) => message)
    expect(messages('fees', [{ name: 'setup' }])).toEqual([
      'The file must be an object, not a list. Write {"fees": [ … ]}.',
    ])
    expect(messages('exposures/hull/exposure', [])).toEqual(['The file must be an object, not a list.'])
  })

  test('rejects a product without policy.json, and does not report what depends on that file', () => {
    expect(found({ 'policy/policy.json': undefined, [premium]: undefined })).toEqual([
      'ERROR missingFile policy/policy.json',
    ])
  })

  test('rejects an exposure without exposure.json', () => {
    expect(found({ 'policy/exposures/hull/exposure.json': undefined })).toEqual([
      'ERROR missingFile policy/exposures/hull/exposure.json',
    ])
  })

  test.each(['bo$t', 'boat: big', 'boat#1', 'boat\u{1f6a4}', 'a{b}', 'a|b', 'what?'])(
    'rejects the product name %s',
    name => {
      const renamed: ArchiveContent = {}
      for (const [path, content] of Object.entries(minimal))
        renamed[path.replace('products/boat', `products/${name}`)] = content
      const kept = Object.fromEntries(Object.keys(minimal).map(path => [path, renamed[path]]))
      expect(found({ ...kept, ...renamed })).toEqual([`ERROR badName products/${name}`])
    },
  )
})

describe('warnings about parts without effect', () => {
  test('warns about a premium script that sets no premium and a tax script that sets no tax', () => {
    const taxes = (source: string) => ({
      'policy/taxes/taxes.json': { taxes: [{ name: 'vat' }] },
      'policy/taxes/vat.premium.liquid': source,
    })
    const nothing =
      '{% comment %}{{ 1 | set_year_premium }}{% endcomment %}{{ 1 | set_year_technical_premium }}'
    expect(found({ [premium]: nothing, ...taxes('{{ 5 | set_year_premium }}') })).toEqual([
      `WARNING scriptSetsNothing ${premium}`,
      'WARNING scriptSetsNothing policy/taxes/vat.premium.liquid',
    ])
    for (const filter of ['set_year_premium', 'set_month_premium', 'set_peril_premium', 'add_premium'])
      expect(found({ [premium]: `{% if true %}{{ 5 |${filter}}}{% endif %}` })).toEqual([])
    for (const filter of ['set_peril_tax: "State"', 'add_tax'])
      expect(found(taxes(`{{ 5 | ${filter} }}`))).toEqual([])
  })

  test('warns about a product whose perils are in a folder with another name', () => {
    const perils = 'policy/exposures/hull/perils'
    const { findings } = compileWith({
      [`${perils}/sinking.json`]: undefined,
      [`${perils}/sinking.premium.liquid`]: undefined,
      'policy/exposures/hull/peril/sinking.json': { name: 'sinking', fields: [] },
      'policy/exposures/hull/peril/sinking.premium.liquid': setPremium,
    })
    expect(findings.filter(one => one.code === 'noPerils')).toMatchObject([
      { severity: 'WARNING', message: expect.stringContaining('has a peril, so it insures nothing') },
    ])
    expect(compileWith({}).findings.filter(one => one.code === 'noPerils')).toEqual([])
  })

  test('warns about an empty list of payment schedules, and compiles the schedule upfront instead', () => {
    const { configuration, findings } = compileWith(policyWith({ paymentSchedules: [] }))
    expect(findings).toMatchObject([
      {
        severity: 'WARNING',
        code: 'noPaymentSchedules',
        line: 3,
        message: expect.stringContaining("'upfront', of type total"),
      },
    ])
    expect(configuration!.products.boat!.paymentSchedules).toMatchObject([{ type: 'total', name: 'upfront' }])
    expect(found(policyWith({}))).toEqual([])
  })
})

describe('names', () => {
  test('rejects two perils of one exposure with the same name', () => {
    expect(
      found({
        'policy/exposures/hull/perils/storm.json': { name: 'sinking' },
        'policy/exposures/hull/perils/storm.premium.liquid': setPremium,
      }),
    ).toEqual([
      'ERROR duplicateName policy/exposures/hull/perils/storm.json',
      'WARNING nameDiffersFromFile policy/exposures/hull/perils/storm.json:2',
    ])
  })

  test('warns about perils of different exposures with the same name', () => {
    expect(
      found({
        'policy/exposures/tender/exposure.json': { name: 'tender' },
        'policy/exposures/tender/perils/sinking.json': { name: 'sinking' },
        'policy/exposures/tender/perils/sinking.premium.liquid': setPremium,
      }),
    ).toEqual(['WARNING sharedPerilName policy/exposures/tender/perils'])
  })

  test('prices a peril without a script by that of its namesake in another exposure, except in strict products', () => {
    const changes = (policy: object) => ({
      'policy/policy.json': policy,
      'policy/exposures/a_tender/exposure.json': { name: 'a_tender' },
      'policy/exposures/a_tender/perils/sinking.json': { name: 'sinking' },
      'policy/exposures/a_tender/perils/theft.json': { name: 'theft' },
      'policy/exposures/a_tender/perils/theft.premium.liquid': setPremium,
    })
    const path = 'policy/exposures/a_tender/perils/sinking.json'
    const { configuration, findings } = compileWith(changes({ fields: [] }))
    expect(foundIn({ findings })).toEqual([`WARNING missingPremiumScript ${path}`])
    const [tender, hull] = configuration!.products.boat!.exposures
    expect(tender!.perils[0]!.premium).toEqual(hull!.perils[0]!.premium)
    expect(found(changes({ fields: [], strict: true }))).toEqual([`ERROR missingPremiumScript ${path}`])
    const rated = changes({ fields: [], externalRater: 'house' })
    expect(found(rated)).toEqual(['WARNING externalRater policy/policy.json:3'])
    expect(
      found({ ...changes({ fields: [] }), 'policy/exposures/hull/perils/sinking.premium.liquid': undefined }),
    ).toEqual([
      `ERROR missingPremiumScript ${path}`,
      'ERROR missingPremiumScript policy/exposures/hull/perils/sinking.json',
    ])
  })

  test('rejects two exposures with the same name', () => {
    expect(found({ 'policy/exposures/other/exposure.json': { name: 'hull' } })).toContain(
      'ERROR duplicateName policy/exposures/other/exposure.json',
    )
  })

  test.each<[string, Changes]>([
    ['fees', { 'policy/fees.json': { fees: [{ name: 'a' }, { name: 'a' }] } }],
    ['endorsements', { 'policy/endorsements.json': { endorsements: [{ name: 'a' }, { name: 'a' }] } }],
    [
      'cancellation types',
      { 'policy/cancellations.json': { cancellationTypes: [{ name: 'a' }, { name: 'a' }] } },
    ],
    ['payment schedules', policyWith({ paymentSchedules: [{ type: 'total' }, { type: 'total' }] })],
  ])('rejects two %s with the same name', (_, changes) => {
    expect(found(changes)).toEqual([expect.stringMatching(/^ERROR duplicateName .*:\d+$/)])
  })
})

describe('pricing of perils and taxes', () => {
  test('rejects a peril without a premium script', () => {
    expect(found({ [premium]: undefined })).toEqual([
      'ERROR missingPremiumScript policy/exposures/hull/perils/sinking.json',
    ])
  })

  test('accepts perils without a script if an enabled plugin rates them', () => {
    const plugin = (enabled: boolean): Changes => ({
      ...policyWith({ plugins: { getPerilRates: { path: 'main/rater.js', enabled } } }),
      'scripts/main/rater.js': 'exports.getPerilRates = () => ({})',
      [premium]: undefined,
    })
    expect(found(plugin(true))).toEqual([])
    expect(found(plugin(false))).toEqual([
      'ERROR missingPremiumScript policy/exposures/hull/perils/sinking.json',
    ])
  })

  test('accepts perils without a script if there is an external rater, and warns that it is not connected', () => {
    expect(found({ ...policyWith({ externalRater: 'boat-rater' }), [premium]: undefined })).toEqual([
      'WARNING externalRater policy/policy.json:3',
    ])
  })

  test('rejects a tax without a script, and warns about scripts without a peril or tax', () => {
    expect(
      found({
        'policy/taxes/taxes.json': { taxes: [{ name: 'vat' }] },
        'policy/taxes/vatt.premium.liquid': '',
        'policy/exposures/hull/perils/sink.premium.liquid': '',
      }),
    ).toEqual([
      'WARNING orphanScript policy/exposures/hull/perils/sink.premium.liquid',
      'ERROR missingTaxScript policy/taxes/taxes.json:3',
      'WARNING orphanScript policy/taxes/vatt.premium.liquid',
    ])
  })
})

describe('references', () => {
  test('rejects a lookup field whose table is not in any product', () => {
    const lookup = policyWith({ fields: [{ name: 'port', type: 'lookup', table: 'ports' }] })
    expect(found(lookup)).toEqual(['ERROR missingTable policy/policy.json:6'])
    const elsewhere = Object.fromEntries(
      Object.entries(minimal)
        .filter(([path]) => path.startsWith('products/boat'))
        .map(([path, content]) => [path.replace('products/boat', 'products/yacht'), content]),
    )
    expect(
      found({ ...lookup, ...elsewhere, 'products/yacht/policy/tables/ports.csv': 'port\nKiel\n' }),
    ).toEqual([])
  })

  test('rejects look-ups in scripts whose table is missing or is not a lookup table', () => {
    const script = [
      '{% comment %} {{ "old" | lookup: x }} {% endcomment %}',
      '{% assign rate = "rates" | lookup: data.policy.x %}',
      "{{ 'gone'|lookup_effective: key, now }}",
      '{{ "ports" | lookup: "Kiel" }}',
      '{{ prefix | append: "suffix" | lookup: key }}',
      setPremium,
    ].join('\n')
    expect(
      found({
        [premium]: script,
        'policy/tables/rates.csv': 'key,value\na,1\n',
        'policy/tables/ports.csv': 'port,country\nKiel,DE\n',
      }),
    ).toEqual([`ERROR missingTable ${premium}:3`, `ERROR notALookupTable ${premium}:4`])
  })

  test('rejects snippets in scripts, and in a template those that its document does not list', () => {
    const template = [
      `{% comment %}{% include 'old' %}{% endcomment %}{% include name %}`,
      `{%- include 'wording' %}{% render "clause", of: data.policy %}`,
    ].join('\n')
    const files = (templateSnippets?: string[]) => ({
      [premium]: `{% include 'rates' %}${setPremium}`,
      'policy/schedule.template.liquid': template,
      ...policyWith({
        documents: [{ fileName: 'a.pdf', templateName: 'schedule.template.liquid', templateSnippets }],
      }),
    })
    expect(found(files())).toEqual([`ERROR missingSnippet ${premium}:1`])
    expect(found(files(['wording']))).toEqual([
      `ERROR missingSnippet ${premium}:1`,
      'ERROR missingSnippet policy/schedule.template.liquid:2',
    ])
  })

  test('does not report a table as missing when it cannot be read', () => {
    expect(
      found({
        [premium]: '{{ "rates" | lookup: x | set_year_premium }}',
        'policy/tables/rates.csv': 'key,value\na\n',
      }),
    ).toEqual(['ERROR badTable policy/tables/rates.csv:2'])
  })

  test('rejects missing templates of every kind of document', () => {
    const documents = [{ fileName: 'a.pdf', templateName: 'a.template.liquid' }]
    expect(
      found({
        ...policyWith({ documents }),
        'policy/endorsements.json': { endorsements: [{ name: 'e', documents }] },
        'policy/renewals.json': { documents },
        'policy/cancellations.json': {
          cancellationTypes: [{ name: 'c', documents, reinstatement: { defaultDeadlineDays: 1, documents } }],
        },
      }).map(line => line.replace(/:\d+$/, '')),
    ).toEqual([
      'ERROR missingTemplate policy/cancellations.json',
      'ERROR missingTemplate policy/cancellations.json',
      'ERROR missingTemplate policy/endorsements.json',
      'ERROR missingTemplate policy/policy.json',
      'ERROR missingTemplate policy/renewals.json',
    ])
  })

  test('compiles a reinstatement without a deadline if its cancellation type has none', () => {
    const { findings, configuration } = compileWith({
      'policy/cancellations.json': { cancellationTypes: [{ name: 'c', reinstatement: { documents: [] } }] },
    })
    expect(findings).toEqual([])
    expect(configuration!.products.boat!.cancellationTypes![0]!.reinstatement).toEqual({ documents: [] })
  })

  test('reports only the syntax error of a file, not the names that are missing because of it', () => {
    const files: Changes = {
      'policy/fees.json': { fees: [{ name: 'setup' }] },
      'policy/policy.calculations.liquid': '{{ 1 | add_fee: "setup" }}',
      'policy/taxes/taxes.json': { taxes: [{ name: 'vat' }] },
      'policy/taxes/vat.premium.liquid': '{{ 1 | set_peril_tax }}',
      'books.json': { bordereaux: { q: ['field:harbour', 'holder:last_name', 'exposures:hull'] } },
    }
    expect(found(files)).toEqual([])
    for (const path of [
      'policy/fees.json',
      'policy/taxes/taxes.json',
      'policy/policy.json',
      'policy/exposures/hull/exposure.json',
      'policyholder/policyholder.dictionary.json',
    ])
      expect(found({ ...files, [path]: '{ "none": [1,] }' })).toEqual([`ERROR badSyntax ${path}:1`])
    expect(found({ ...files, 'policy/fees.json': { fees: [{ name: 'other' }] } })).toEqual([
      'ERROR unknownFee policy/policy.calculations.liquid:1',
    ])
  })

  test('warns about unused templates, and suggests the fixed name that may be meant', () => {
    const { findings } = compileWith({
      'policy/graceperiod.template.liquid': '',
      'policy/old.template.liquid': '',
    })
    expect(
      findings.map(({ code, message }) => [code, message.includes("'gracePeriod.template.liquid'")]),
    ).toEqual([
      ['unusedTemplate', true],
      ['unusedTemplate', false],
    ])
  })

  test('finds Liquid and Velocity templates by name, with or without their extension', () => {
    const { findings, configuration } = compileWith({
      'policy/policy.json': {
        documents: [{ displayName: 'Old', fileName: 'old.pdf', templateName: 'old' }],
      },
      'policy/old.vm': 'x',
      'policy/lapse.template.vm': 'y',
    })
    expect(findings).toEqual([])
    expect(configuration!.products.boat!.documents[0]!.templateName).toBe('old.vm')
  })

  test('reports static documents and fees that scripts name and the archive lacks', () => {
    expect(
      found({
        'policy/invoice.template.liquid':
          '{{ "terms.pdf" | render_static_document }}\n{{ "gone.pdf" | render_static_document }}',
        'policy/static_documents/terms.pdf': 'pdf',
        'policy/fees.json': { fees: [{ name: 'setup' }] },
        'policy/policy.calculations.liquid':
          '{{ 1 | add_fee: "setup" }}\n{{ 1 | add_fee: "set-up", "Set-up" }}',
      }),
    ).toEqual([
      'WARNING missingStaticDocument policy/invoice.template.liquid:2',
      'ERROR unknownFee policy/policy.calculations.liquid:2',
    ])
  })

  test('warns about images in templates that the archive lacks, unless they are URLs', () => {
    const said = (name: string) =>
      compileWith({
        'policy/invoice.template.liquid': `<img src="{{ '${name}' | image_url }}">`,
        'policy/static_documents/logo.png': 'png',
      }).findings.map(({ severity, code, message }) => `${severity} ${code} ${message}`)
    expect(['logo.png', 'https://example.com/gone.png', 'data:image/png;base64,'].flatMap(said)).toEqual([])
    expect(said('lgo.png')).toEqual([
      "WARNING missingStaticDocument The template uses the image 'lgo.png', which is not in static_documents. Add the file, correct the name, or make sure that a resource of that static name is in force. Did you mean 'logo.png'?",
    ])
    expect(said('brand/logo.png')).toEqual([
      "WARNING missingStaticDocument The template uses the image 'brand/logo.png', which is not in static_documents. Add the file or correct the name. Did you mean 'logo.png'?",
    ])
  })

  test('reports missing scripts of plugins, and missing files that scripts require', () => {
    expect(
      found({
        ...policyWith({
          plugins: {
            getUnderwritingResult: { path: 'main/underwriter.js', enabled: true },
            createInstallments: { path: 'main/installments.js' },
            getPreGraceResult: { path: 'main/grace.js', enabled: 'false' },
            getWeather: { path: 'main/underwriter.js' },
          },
        }),
        'scripts/main/underwriter.js':
          "require('../lib/rules.js')\nrequire('./gone')\nrequire('lodash')\nfreeModule.require('util')\nrequire('rules')\nexports.getUnderwritingResult = 1",
        'scripts/main/unused.js': "require('lodash')",
        'scripts/lib/rules.js': '',
      }),
    ).toEqual([
      'ERROR missingPlugin policy/policy.json:8',
      'WARNING missingPlugin policy/policy.json:11',
      'WARNING unknownPlugin policy/policy.json:15',
      'WARNING missingScript scripts/main/underwriter.js:2',
      'WARNING missingScript scripts/main/underwriter.js:3',
    ])
  })

  test.each(['main/rater', 'main\\rater.js', 'Main/Rater.js', 'main/rater.jsx'])(
    'suggests the script that a wrong path of a plugin may mean: %s',
    path => {
      expect(
        compileWith({
          ...policyWith({ plugins: { getPerilRates: { path } } }),
          'scripts/main/rater.js': 'exports.getPerilRates = () => 1',
          'scripts/lib/money.js': '',
        }).findings.map(one => one.message),
      ).toContain(
        `The plugin 'getPerilRates' is in '${path}', which is not under scripts/. Add the script or correct the path. Did you mean 'main/rater.js'?`,
      )
    },
  )

  test('says how to add a package, and that the modules of Node do not exist', () => {
    const { findings } = compileWith({
      ...policyWith({ plugins: { getUnderwritingResult: { path: 'main/underwriter.js' } } }),
      'scripts/main/underwriter.js':
        "require('dayjs')\nrequire('node:fs')\nrequire('crypto')\nexports.getUnderwritingResult = 1",
      'scripts/node_modules/dayjs/package.json': { main: 'dayjs.min.js' },
      'scripts/node_modules/dayjs/dayjs.min.js': '',
    })
    expect(findings.filter(one => one.code === 'missingScript').map(one => one.message)).toEqual([
      "The script requires 'dayjs', which is not under scripts/. Add it as scripts/lib/dayjs.js, built into one file if it is a package (node_modules and package.json are not read), or correct the path.",
      "The script requires 'node:fs', which is not under scripts/. It belongs to Node, and plugins have only the language and socotraApi.",
      "The script requires 'crypto', which is not under scripts/. It belongs to Node, and plugins have only the language and socotraApi.",
    ])
  })

  test('suggests the file that a required path probably means', () => {
    const { findings } = compileWith({
      ...policyWith({ plugins: { getUnderwritingResult: { path: 'main/underwriter.js' } } }),
      'scripts/main/underwriter.js':
        "require('./Helper')\nrequire('../libs/money')\nrequire('./nothing')\nexports.getUnderwritingResult = 1",
      'scripts/main/helper.js': '',
      'scripts/lib/money.js': '',
    })
    expect(findings.filter(one => one.code === 'missingScript').map(one => one.message)).toEqual([
      "The script requires './Helper', which is not under scripts/. Add the file or correct the path. Did you mean './helper'?",
      "The script requires '../libs/money', which is not under scripts/. Add the file or correct the path. Did you mean '../lib/money'?",
      "The script requires './nothing', which is not under scripts/. Add the file or correct the path.",
    ])
  })

  test('reports the line of a mistake in a JSON file that a script requires', () => {
    const { findings } = compileWith({
      ...policyWith({ plugins: { getUnderwritingResult: { path: 'main/underwriter.js' } } }),
      'scripts/main/underwriter.js':
        "require('./limits.json')\nexports.getUnderwritingResult = () => ({ decision: 'accept' })",
      'scripts/main/limits.json': '{\n  "low": 1,\n  "high": 2,\n}',
    })
    expect(findings.filter(one => one.code === 'badScript')).toMatchObject([
      {
        severity: 'ERROR',
        path: 'scripts/main/limits.json',
        line: 4,
        message: "The script does not parse: Remove the comma before this '}'. A plugin needs it.",
      },
    ])
  })

  test('does not report files that only comments require', () => {
    expect(
      found({
        'scripts/main/rater.js':
          "// require('./gone')\n/* const old =\n require('../lib/old.js') */ const address = 'https://x'; require('./absent')",
      }),
    ).toEqual(['WARNING missingScript scripts/main/rater.js:3'])
  })

  test('reports a template or script that is not UTF-8 once, and not as missing', () => {
    const latin = (text: string) => Uint8Array.from(text, letter => letter.charCodeAt(0))
    expect(
      found({
        ...policyWith({
          documents: [{ fileName: 'a.pdf', templateName: 'a' }],
          plugins: { getUnderwritingResult: { path: 'main/a.js', enabled: true } },
        }),
        'policy/a.template.liquid': latin('Año {{ data.policy.locator }}'),
        'policy/taxes/taxes.json': { taxes: [{ name: 'levy' }] },
        'policy/taxes/levy.premium.liquid': latin('{# año #}{{ 1 | set_peril_tax: "Año" }}'),
        'scripts/main/a.js': latin(
          "exports.getUnderwritingResult = () => ({ decision: 'accept', notes: ['año'] })",
        ),
      }),
    ).toEqual([
      'ERROR textNotUtf8 policy/a.template.liquid',
      'ERROR textNotUtf8 policy/taxes/levy.premium.liquid',
      'ERROR textNotUtf8 scripts/main/a.js',
    ])
  })

  test('resolves files that scripts require from the root as the sandbox does', () => {
    const plugins = { getPerilRates: { path: 'main/rater.js', enabled: true } }
    expect(
      found({
        ...policyWith({ plugins }),
        'scripts/main/rater.js':
          "exports.getPerilRates = [require('/main/part'), require('/money.js'), require('main/./sub/../part')]",
        'scripts/main/part.js': 'let x = ;',
        'scripts/lib/money.js': '',
      }),
    ).toEqual(['ERROR badScript scripts/main/part.js:1'])
  })

  test('warns about enabled plugins whose function is not named in any of their scripts', () => {
    const of = (enabled: boolean, path: string) => ({ path, enabled })
    expect(
      found({
        ...policyWith({
          plugins: {
            getPerilRates: of(true, 'main/rater.js'),
            getUnderwritingResult: of(true, 'main/all.js'),
            getDataAutofill: of(true, 'main/all.js'),
            getProrationResult: of(true, 'main/rater.js'),
            createInstallments: of(false, 'main/rater.js'),
          },
        }),
        'scripts/main/rater.js': 'exports.getRates = data => data\nmodule.exports.getProrationResult = 1',
        'scripts/main/all.js': "module.exports = require('./parts')",
        'scripts/main/parts/index.js': 'class Parts { getUnderwritingResult() {} }',
      }),
    ).toEqual([
      'WARNING missingFunction scripts/main/all.js',
      'WARNING missingFunction scripts/main/rater.js',
    ])
  })

  test.each([
    ['exports.getPerilRate = getPerilRates', ['getPerilRate']],
    ['// exports.getPerilRates = getPerilRates\nmodule.exports.rates = getPerilRates', ['rates']],
    ['exports.getPerilRates = getPerilRates', undefined],
    ['exports.other = 1\nmodule.exports = { ...exports, getPerilRates }', undefined],
    ['exports.other = 1\nObject.assign(exports, { getPerilRates })', undefined],
    [
      "exports.other = 1; const home = 'http://example.com'; exports.getPerilRates = getPerilRates",
      undefined,
    ],
    ['this.getPerilRates = getPerilRates', undefined],
    ['module.exports = function () {}\nmodule.exports.getPerilRates = getPerilRates', undefined],
    ['export default { getPerilRates }', undefined],
    ['', []],
    ['module.exports = function getPerilRates(data) {}', []],
    ['export default async data => getPerilRates(data)', undefined],
    ['export default async (data) => getPerilRates(data)', []],
  ])('warns unless the script exports its plugin function by name: %s', (end, exported) => {
    const { findings } = compileWith({
      ...policyWith({ plugins: { getPerilRates: { path: 'main/rater.js', enabled: true } } }),
      'scripts/main/rater.js': `function getPerilRates() {}\n${end}`,
    })
    const [finding] = findings.filter(one => one.code === 'missingFunction')
    if (exported?.length) expect(finding?.message).toContain(`It exports ${exported.join(', ')}.`)
    else if (exported)
      expect(finding?.message).toMatch(/End it with exports\.getPerilRates = getPerilRates\.$/)
    else expect(finding).toBeUndefined()
  })

  test('checks a script with 100,000 unclosed comments in less than 5 seconds', () => {
    const taken = processorClock()
    const { findings } = compileWith({
      ...policyWith({ plugins: { getPerilRates: { path: 'main/rater.js', enabled: true } } }),
      'scripts/main/rater.js': `exports.rates = 1\n${'/* '.repeat(100_000)}exports.getPerilRates = 1`,
    })
    const [finding] = findings.filter(one => one.code === 'missingFunction')
    expect(finding?.message).toContain('It exports rates.')
    expect(taken()).toBeLessThan(5_000)
  })

  test('warns about grace period plugins in a product without a grace period', () => {
    const plugins = {
      getPreGraceResult: { path: 'main/grace.js', enabled: true },
      getPostPaymentReversal: { path: 'main/grace.js', enabled: true },
    }
    const script = {
      'scripts/main/grace.js': 'exports.getPreGraceResult = exports.getPostPaymentReversal = () => {}',
    }
    expect(found({ ...policyWith({ plugins }), ...script })).toEqual([
      'WARNING pluginWithoutGrace policy/policy.json:4',
      'WARNING pluginWithoutGrace policy/policy.json:8',
    ])
    expect(found({ ...policyWith({ plugins, lapse: { gracePeriodDays: 0 } }), ...script })).toEqual([])
  })

  test('rejects scripts that do not parse if an enabled plugin needs them, and otherwise warns', () => {
    expect(
      found({
        ...policyWith({
          plugins: {
            getPerilRates: { path: 'main/rater.js', enabled: true },
            getUnderwritingResult: { path: 'main/off.js', enabled: false },
            getDataAutofill: { path: 'main/autofill.js', enabled: true },
          },
        }),
        'scripts/main/rater.js':
          "import { a } from '../lib/needed.mjs'\nexport const getPerilRates = () => a",
        'scripts/main/autofill.js': "exports.getDataAutofill = require('shared')",
        'scripts/main/off.js': 'exports.a = (',
        'scripts/lib/needed.mjs': 'export const a = 1\nexport const b = = 2',
        'scripts/lib/shared.js': 'with (a) { b = 1 }\nreturn',
        'scripts/lib/data.json': '{',
      }),
    ).toEqual([
      'WARNING badScript scripts/lib/data.json:1',
      'ERROR badScript scripts/lib/needed.mjs:2',
      'WARNING badScript scripts/main/off.js:1',
    ])
  })
})

describe('rules within a single file', () => {
  test('rejects cancellation types of which only some have categories', () => {
    expect(
      found({
        'policy/cancellations.json': {
          cancellationTypes: [{ name: 'a', cancellationCategories: ['x'] }, { name: 'b' }],
        },
      }),
    ).toEqual(['ERROR unevenCategories policy/cancellations.json:9'])
  })

  test.each<[string, object]>([
    ['an unknown payment schedule', { paymentSchedules: [{ type: 'weekly' }] }],
    ['payment terms in months', { defaultPaymentTerms: { amount: 1, unit: 'month' } }],
    ['a negative grace period', { lapse: { gracePeriodDays: -1 } }],
    ['a grace period that leads out of the calendar', { lapse: { gracePeriodDays: '1000000' } }],
    ['payment terms that do', { defaultPaymentTerms: { amount: 1e14 } }],
    ['a reminder that does', { endReminders: [{ name: 'r', daysBefore: 1e14 }] }],
    ['a time for reinstatements that does', { lapse: { reinstatementPeriodDays: 1_000_000 } }],
    ['an unknown proration', { cancellations: { proration: 'daily' } }],
    ['an unknown event for invoices', { invoicing: { generatingEvent: 'quote' } }],
  ])('rejects %s', (_, properties) => {
    expect(found(policyWith(properties))).toEqual([
      expect.stringMatching(/^ERROR badValue policy\/policy.json:\d+$/),
    ])
  })

  test.each([
    ['visibleIf', { pool: ['yes'] }, "'condition'"],
    ['required', false, "'optional', with the opposite value"],
    ['pattern', '[A-Z]+', "'regex'"],
    ['options', ['a'], "'values'"],
    ['label', 'Depth', "'title'"],
  ])('says what stands for the property %s of other systems', (property, value, meant) => {
    const { findings } = compileWith(
      policyWith({ fields: [{ name: 'depth', type: 'string', [property]: value }] }),
    )
    expect(findings.map(one => one.message)).toContain(
      `'fields[0].${property}' is not a known property here and is ignored. Correct its name or remove it. Did you mean ${meant}?`,
    )
  })

  test.each([-1, '-0.01', '90000000001', 1e20])('rejects a carryForwardBelow of %s', amount => {
    expect(found(policyWith({ invoicing: { carryForwardBelow: amount } }))).toEqual([
      'ERROR badBounds policy/policy.json:4',
    ])
  })

  test('checks a reminder that is not in a list like one that is', () => {
    const alone = (reminder: object): string[] =>
      compileWith(policyWith({ reminders: { name: 'r', offset: '-7d', ...reminder } })).findings.map(
        ({ severity, message }) => `${severity} ${message}`,
      )
    expect(alone({ enable: false })).toEqual([
      "WARNING 'reminders.enable' is not a known property here and is ignored. Correct its name or remove it. Did you mean 'enabled'?",
    ])
    expect(alone({ name: {} })).toEqual(["ERROR 'reminders.name' must be text, not an object."])
    expect(alone({ offset: undefined })).toEqual(["ERROR 'reminders.offset' is missing; it must be text."])
  })

  test('rejects two enabled reminders with the same name, because only the last would take effect', () => {
    const older = (more: object) => ({ name: 'r', offset: '-7d', ...more })
    const twice = (...reminders: object[]): string[] =>
      found(policyWith({ endReminders: [{ name: 'r', daysBefore: 30 }], reminders }))
    expect(twice(older({}))).toEqual(['ERROR duplicateName policy/policy.json:11'])
    expect(twice(older({ enabled: false }), older({ name: 's' }))).toEqual([])
  })

  test('rejects a reminder in hours', () => {
    expect(found(policyWith({ reminders: [{ name: 'r', offset: '-5h' }] }))).toEqual([
      'ERROR badReminder policy/policy.json:6',
    ])
  })

  test('rejects an indemnity that is not an amount, a negative deductible and a limit above that of requests', () => {
    const peril = {
      name: 'sinking',
      indemnityPerItem: 'a lot',
      deductible: -1,
      indemnityPerEvent: 900_000_000_000_000,
      lumpSumPayment: '900000000000000.01',
    }
    expect(found({ 'policy/exposures/hull/perils/sinking.json': peril })).toEqual([
      'ERROR badValue policy/exposures/hull/perils/sinking.json:3',
      'ERROR badBounds policy/exposures/hull/perils/sinking.json:4',
      'ERROR badBounds policy/exposures/hull/perils/sinking.json:6',
    ])
  })

  test('treats blank amounts of a peril as absent, and reads the unit Days of payment terms as day', () => {
    const amounts = { indemnityPerItem: '', indemnityPerEvent: ' ', deductible: '', lumpSumPayment: '250' }
    const { findings, configuration } = compileWith({
      ...policyWith({ defaultPaymentTerms: { amount: '3', unit: 'Days' } }),
      'policy/exposures/hull/perils/sinking.json': { name: 'sinking', ...amounts },
    })
    expect(findings).toEqual([])
    const { defaultPaymentTerms, exposures } = configuration!.products.boat!
    expect(defaultPaymentTerms).toEqual({ amount: 3, unit: 'day' })
    expect(exposures[0]!.perils[0]!.defaults).toEqual({ lumpSumPayment: '250' })
  })

  test('compiles every Liquid source, and reports what the compiler finds', () => {
    const seen: string[] = []
    const compilation = compileWith(
      {
        'policy/invoice.template.liquid': 'x',
        'policy/underwriting.guidelines.liquid': '{{ "accept" | set_underwriting_decision }}',
      },
      ({ path }) => {
        seen.push(path)
        return {
          findings: path.includes('invoice')
            ? [{ severity: 'ERROR', path, line: 1, code: 'unknownFilter', message: '' }]
            : [],
        }
      },
    )
    expect(seen.map(path => path.replace('products/boat/', '')).sort()).toEqual([
      premium,
      'policy/invoice.template.liquid',
      'policy/underwriting.guidelines.liquid',
    ])
    expect(foundIn(compilation)).toEqual(['ERROR unknownFilter policy/invoice.template.liquid:1'])
    expect(compilation.configuration).toBeUndefined()
  })
})
