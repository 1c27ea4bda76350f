// The files of a configuration: their paths, their purposes, and the contents of those in JSON.
import { z } from 'zod'
import { booksFile } from '../../src/product/check/books.ts'
import { bootstrapFile } from '../../src/product/check/bootstrap.ts'
import {
  cancellationsFile,
  endorsementsFile,
  exposureFile,
  feesFile,
  perilFile,
  policyFile,
  renewalsFile,
  taxesFile,
} from '../../src/product/check/files.ts'
import { configFile } from '../../src/product/check/settings.ts'
import {
  dictionaryFile,
  fieldsFile,
  mappedUsers,
  rolesShape,
  testUsersFile,
} from '../../src/product/check/tenant.ts'
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts'
import { cardFile, formFile } from './screens.ts'

/** Parts of a path that authors choose are in angle brackets. */
type Placed = {
  readonly path: string
  readonly about: string
}

export type FileKind = Placed & {
  /** The name for `bindery schema`. */
  readonly kind: string
  readonly schema: z.ZodType
  /** A complete file of the kind. */
  readonly sample: unknown
}

const PRODUCT = 'products/<product>/policy'
const EXPOSURE = `${PRODUCT}/exposures/<exposure>`

export const FILE_KINDS: readonly FileKind[] = [
  {
    kind: 'config',
    path: 'config.json',
    about:
      'Settings of the whole tenant: its time zone and currency, and declarations of the resources, secrets and events that it keeps in addition to its configuration. Required as soon as there is a product.',
    schema: configFile,
    sample: { timezone: 'America/New_York', currency: 'USD' },
  },
  {
    kind: 'policyholder',
    path: 'policyholder/policyholder.dictionary.json',
    about:
      'The fields of policyholders: an object with `fields`, or only the list. Without this file, policyholders have no fields.',
    schema: z.union([fieldsFile, dictionaryFile([])]),
    sample: {
      fields: [
        { name: 'company', type: 'string', searchable: true },
        { name: 'email', type: 'email', searchable: true },
      ],
    },
  },
  {
    kind: 'policyholder-form',
    path: 'policyholder/policyholder.form.json',
    about:
      'The policyholder form on screens, such as the console: its order, labels and required fields. Requests may leave out any field.',
    schema: formFile,
    sample: {
      pages: [
        {
          title: 'Customer',
          sections: [
            {
              title: 'Company',
              fields: [{ name: 'company', prompt: 'Name', required: true, updateable: true }],
            },
          ],
        },
      ],
    },
  },
  {
    kind: 'policyholder-card',
    path: 'policyholder/policyholder.card.json',
    about: 'The line that represents a policyholder in lists on screens.',
    schema: cardFile,
    sample: { leftText: '{{company}}', rightText: '{{email}}' },
  },
  {
    kind: 'payment',
    path: 'payment/payment.json',
    about: 'The fields of a payment.',
    schema: fieldsFile,
    sample: { fields: [{ name: 'method', type: 'select', values: ['transfer', 'card'] }] },
  },
  {
    kind: 'books',
    path: 'books.json',
    about:
      'The codes and names of the accounts of the journal in the general ledger, and the columns of bordereaux.',
    schema: booksFile,
    sample: {
      accounts: { receivable: { code: '1200', name: 'Premium debtors' }, premium: { code: '4000' } },
      bordereaux: { quota_share: ['field:trade', 'holder:email'] },
    },
  },
  {
    kind: 'test-users',
    path: 'security/test_users.json',
    about:
      'Users that a deployment to a test tenant creates: a list, an object with that list as `users`, or an object of users by name.',
    schema: z.union([testUsersFile([]), testUsersFile({ users: [] }), mappedUsers]),
    sample: {
      users: [{ username: 'alice.agent', name: 'Alice Agent', password: 'password', roles: ['agent'] }],
    },
  },
  {
    kind: 'roles',
    path: 'security/roles.json',
    about: 'The roles of users by key, with the permissions of each.',
    schema: rolesShape,
    sample: {
      agent: 'Sales agent',
      claims: { displayName: 'Claims handler', permissions: ['policies.read', 'media.*'] },
    },
  },
  {
    kind: 'policy',
    path: `${PRODUCT}/policy.json`,
    about:
      'A product: the fields of a policy, its documents, its payment schedules, and the plugin functions that it uses. The name of the folder is the name of the product; use letters, digits, blanks, `_` and `-`.',
    schema: policyFile,
    sample: {
      displayName: 'Commercial property',
      fields: [{ name: 'trade', type: 'select', values: ['office', 'retail', 'workshop'] }],
      documents: [
        {
          displayName: 'Policy schedule',
          fileName: 'schedule.pdf',
          templateName: 'schedule.template.liquid',
          generatingEvent: 'issue',
        },
      ],
      paymentSchedules: [{ type: 'total', name: 'upfront' }, { type: 'quarterly' }],
      defaultPaymentTerms: { amount: 30, unit: 'day' },
      lapse: { gracePeriodDays: 30 },
    },
  },
  {
    kind: 'exposure',
    path: `${EXPOSURE}/exposure.json`,
    about:
      'A kind of thing that can be insured, such as a building. A policy can have several exposures of the same kind.',
    schema: exposureFile,
    sample: {
      name: 'building',
      displayName: 'Building',
      fields: [
        { name: 'sum_insured', type: 'number', decimalPlaces: 2, minimum: 50000 },
        { name: 'construction', type: 'select', values: ['brick', 'timber', 'steel'] },
      ],
    },
  },
  {
    kind: 'peril',
    path: `${EXPOSURE}/perils/<peril>.json`,
    about: 'A cover that exposures of this kind can have, and its limits if a request states none.',
    schema: perilFile,
    sample: {
      name: 'fire',
      displayName: 'Fire',
      fields: [],
      indemnityPerEvent: 'unlimited',
      deductible: 2500,
    },
  },
  {
    kind: 'endorsements',
    path: `${PRODUCT}/endorsements.json`,
    about:
      'The kinds of change that are possible during the term of a policy. Without this file there are none.',
    schema: endorsementsFile,
    sample: {
      endorsements: [{ name: 'change_of_cover', displayName: 'Change of cover', reprice: 'always' }],
    },
  },
  {
    kind: 'renewals',
    path: `${PRODUCT}/renewals.json`,
    about: 'Documents of a renewal. Without this file, a renewal has the documents of policy.json.',
    schema: renewalsFile,
    sample: {
      documents: [
        {
          displayName: 'Renewal',
          fileName: 'renewal.pdf',
          templateName: 'schedule',
          generatingEvent: 'issue',
        },
      ],
    },
  },
  {
    kind: 'cancellations',
    path: `${PRODUCT}/cancellations.json`,
    about:
      'The types of cancellation. Without this file, policies are cancelled without a type, and unpaid policies lapse the legacy way. With it, a lapse is a cancellation of the type `lapse`.',
    schema: cancellationsFile,
    sample: {
      cancellationTypes: [
        { name: 'insured_request', title: "At the insured's request", holdback: { percent: 10 } },
        { name: 'lapse', title: 'Premium not paid', reinstatement: { defaultDeadlineDays: 60 } },
      ],
    },
  },
  {
    kind: 'fees',
    path: `${PRODUCT}/fees.json`,
    about: 'The fees that a policy of the product can have.',
    schema: feesFile,
    sample: { fees: [{ name: 'policy_fee', displayName: 'Policy fee', proration: 'flat' }] },
  },
  {
    kind: 'taxes',
    path: `${PRODUCT}/taxes/taxes.json`,
    about: 'The taxes on premiums of the product. Each needs a script next to this file.',
    schema: taxesFile,
    sample: { taxes: [{ name: 'premium_tax', displayName: 'Premium tax' }] },
  },
  {
    kind: 'bootstrap',
    path: 'bootstrap/resources/config.json',
    about:
      'Resources that a tenant starts with when its first archive is deployed: their files, and the time from which they are in force.',
    schema: bootstrapFile,
    sample: {
      resourceInstances: { rates_2026: { staticName: 'rates', jurisdictions: ['CA'] } },
      resourceGroups: {
        2026: { selectionStartTime: '2026-01-01T00:00:00Z', resourceNames: ['rates_2026'] },
      },
    },
  },
]

/** Files that are not JSON, or have no properties. */
export const OTHER_FILES: readonly Placed[] = [
  {
    path: `${EXPOSURE}/perils/<peril>.premium.liquid`,
    about:
      'The premium of a peril, and its commissions ([Liquid](liquid.md)). Required unless `getPerilRates` or an external rater prices the product. If it is missing, the script of a peril of the same name in another exposure is used.',
  },
  {
    path: `${PRODUCT}/taxes/<tax>.premium.liquid`,
    about: 'A tax: runs for each peril, on its premium. Each tax of taxes.json has one script.',
  },
  {
    path: `${PRODUCT}/policy.calculations.liquid`,
    about: 'The fees of a policy: calls `add_fee` for each.',
  },
  {
    path: `${PRODUCT}/underwriting.guidelines.liquid`,
    about:
      'The underwriting decision (`accept`, `none` to refer, `reject`) and its notes. Without this file and without a plugin, every policy is accepted. A script that sets no decision refers the policy.',
  },
  {
    path: `${PRODUCT}/tables/<table>.csv`,
    about:
      "A table: UTF-8, commas, and a header. `key,value` for `lookup` and `tableLookup` (rates by ranges of numbers: [Liquid](liquid.md#ranges)); other columns for lookup fields, whose choices are the cells of the column with the field's name, or of the first column if there is none. All tables of an archive can have 1,000,000 cells together; use [resources](resources.md) for larger ones. If the product has no table of that name, a table of another product is used.",
  },
  {
    path: `${PRODUCT}/<name>.template.liquid`,
    about:
      'The template of a document, referred to by `templateName`; also `.template.vm` in [Velocity](velocity.md). `invoice`, `cancellation`, `gracePeriod`, `lapse` and `reinstatement` need no entry: their documents are created when these events occur. A lapse whose type is not in cancellations.json uses the template `lapse`, or `cancellation` if there is none.',
  },
  {
    path: `${PRODUCT}/static_documents/<file>`,
    about: 'A finished document or an image that templates refer to.',
  },
  {
    path: 'scripts/<folder>/<file>.js',
    about: 'Plugins, and the modules that they require ([plugins](plugins.md)).',
  },
  {
    path: 'bootstrap/resources/resourceFiles/<folder>/<file>',
    about:
      'Files of the resources that a tenant starts with ([resources](resources.md)), in the folders `tables`, `rangeTables`, `constraintTables`, `documentTemplates`, `documentTemplateSnippets`, `staticDocuments`, `fonts` and `secrets`.',
  },
]

/** The end of the file names of schemas. */
const ENDING = '.schema.json'

export const schemaFileName = (kind: string): string => kind + ENDING

/** Returns the schema of files of the kind, in the form that editors read. */
export function schemaOfKind({ kind, path, about, schema }: FileKind): JsonSchema {
  const { $schema, ...json } = jsonSchemaOf(schema)
  return { $schema, title: `${path.split('/').at(-1)} (${kind})`, description: about, ...json }
}

const pattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/<\w+>/g, '[^/]+')}$`)

/**
 * Returns the kind of a file, by its path below the root of the configuration. Undefined for files that are not JSON of this
 * format.
 */
export const kindOfFile = (path: string): FileKind | undefined =>
  FILE_KINDS.find(kind => pattern(kind.path).test(path))
