// When documents without a `generatingEvent` are generated, and which documents a renewal has, through HTTP.
import { beforeAll, describe, expect, it } from 'vitest'
import type { PolicyDocumentResponse } from '../../src/policy/contract/documents.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type ArchiveFiles, motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const FOLDER = 'products/private_motor/policy'
const DAY_MS = 24 * 3_600_000

const line = (fileName: string, more: object = {}) => ({
  displayName: fileName,
  fileName: `${fileName}.html`,
  templateName: 'line.template.liquid',
  type: 'html',
  ...more,
})

/** Documents of the policy and of an endorsement, one of each without `generatingEvent`, and no renewals.json. */
function withoutRenewals(): ArchiveFiles {
  const { [`${FOLDER}/renewals.json`]: _, ...files } = motorWithoutPapers()
  const changed = (name: string, change: (value: never) => object): [string, string] => [
    `${FOLDER}/${name}`,
    JSON.stringify(change(JSON.parse(files[`${FOLDER}/${name}`] as string) as never)),
  ]
  return {
    ...files,
    ...Object.fromEntries([
      changed('policy.json', (value: object) => ({
        ...value,
        documents: [
          line('unsaid'),
          line('offer', { generatingEvent: 'quote' }),
          line('schedule', { generatingEvent: 'issue' }),
          line('bill', { scope: 'invoice' }),
        ],
      })),
      changed('endorsements.json', ({ endorsements }: { endorsements: { name: string }[] }) => ({
        endorsements: endorsements.map(one => ({
          ...one,
          documents:
            one.name === 'change_of_contact'
              ? [line('unsaid'), line('late', { generatingEvent: 'issue' })]
              : [],
        })),
      })),
    ]),
    [`${FOLDER}/line.template.liquid`]: '<p>{{ data.policy.locator }}</p>',
  }
}

let motor: Motor
let policy: string
let start: number
let end: number

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('when-made', withoutRenewals())
  const { body } = await motor.createPolicy()
  policy = body.locator
  start = Number(body.originalContractStartTimestamp)
  end = Number(body.originalContractEndTimestamp)
})

type Transaction = { locator: string; state: string; documents: PolicyDocumentResponse[] }

const names = ({ documents }: { documents: PolicyDocumentResponse[] }): string[] =>
  documents.map(one => one.fileName.replace('.html', ''))

/** The transaction's documents after each step. */
async function stepped(path: string, locator: string): Promise<Record<string, string[]>> {
  const at: Record<string, string[]> = {}
  for (const step of ['quote', 'accept', 'issue']) {
    const { status } = await callApi('PATCH', `${path}/${locator}`, {
      token: motor.token,
      body: { action: step },
    })
    expect(status).toBe(200)
    at[step] = names((await motor.get<Transaction>(`${path}/${locator}`)).body)
  }
  return at
}

describe('A document without a generatingEvent', () => {
  it('is generated at issue for new business', async () => {
    const before = (await motor.get<Transaction>(`/policy/${policy}`)).body
    expect(names(before)).not.toContain('unsaid')
    const { body } = await motor.post<Transaction>(`/policy/${policy}/issue`)
    expect(names(body)).toEqual(expect.arrayContaining(['unsaid', 'schedule']))
  })

  it('is generated at acceptance for an endorsement', async () => {
    const { body } = await motor.post<Transaction>(`/policies/${policy}/endorsements`, {
      endorsementName: 'change_of_contact',
      startTimestamp: start + 30 * DAY_MS,
      fieldValues: {},
    })
    expect(await stepped('/endorsements', body.locator)).toEqual({
      quote: [],
      accept: ['unsaid'],
      issue: ['unsaid', 'late'],
    })
  })
})

describe('A renewal of a product without renewals.json', () => {
  it('has the product’s own documents, at acceptance by default, and none with scope invoice', async () => {
    const { body } = await motor.post<Transaction>(`/policies/${policy}/renewals`, {
      renewalEndTimestamp: end + 366 * DAY_MS,
    })
    expect(await stepped('/renewals', body.locator)).toEqual({
      quote: ['offer'],
      accept: ['offer', 'unsaid'],
      issue: ['offer', 'unsaid', 'schedule'],
    })
  })
})
