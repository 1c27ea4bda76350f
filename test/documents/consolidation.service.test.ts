// Documents of a transaction merged into one PDF as the plugin getPostIssuanceResult asks, through HTTP.
import { beforeAll, describe, expect, it } from 'vitest'
import type { PluginLogPageResponse } from '../../src/extension/plugins/contract-log.ts'
import type { PolicyDocumentResponse } from '../../src/policy/contract/documents.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { ClockResponse } from '../../src/tenants/routes.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'
import { withPlugins } from '../support/with-plugins.ts'
import { fileAt, pdfTextAt, whenMade } from './waiting.ts'

const FOLDER = 'products/private_motor/policy'

/** Returns what the auxiliary data of `global` says, with documents named by their files. */
const SCRIPT = `
exports.getPostIssuanceResult = data => {
  console.log(JSON.stringify(data))
  const said = socotraApi.getAuxData('global', 'say')
  if (said === 'throw') throw new Error('no packet today')
  const locatorOf = name => (data.documents.find(one => one.fileName === name) || { locator: name }).locator
  if (said === 'nothing') return
  const answer = JSON.parse(said || '{}')
  if (Array.isArray(answer.documentConsolidations)) for (const one of answer.documentConsolidations)
    one.documentLocators = (one.documentLocators || []).map(locatorOf)
  return answer
}`

type Paper = { fileName: string; generatingEvent?: string; type?: string; template: string }

const line = (name: string): string => `<p>${name} of {{ data.policy.locator }}</p>`

const PAPERS: Paper[] = [
  { fileName: 'offer.pdf', generatingEvent: 'quote', template: line('Offer') },
  { fileName: 'schedule.pdf', template: line('Schedule') },
  { fileName: 'terms.pdf', template: line('Terms') },
  { fileName: 'card.html', type: 'html', template: line('Card') },
]

function papersOf(papers: readonly Paper[]) {
  const files = motorWithoutPapers()
  const documents = papers.map(({ template: _, ...paper }) => ({
    displayName: paper.fileName,
    templateName: `${paper.fileName}.template.liquid`,
    type: 'pdf',
    ...paper,
  }))
  const rewritten = (name: string, change: (content: never) => object): void => {
    const path = `${FOLDER}/${name}.json`
    files[path] = JSON.stringify(change(JSON.parse(files[path] as string) as never))
  }
  rewritten('policy', (policy: object) => ({ ...policy, documents }))
  rewritten('endorsements', ({ endorsements }: { endorsements: object[] }) => ({
    endorsements: endorsements.map(one => ({
      ...one,
      documents: documents.filter(({ fileName }) => fileName !== 'card.html'),
    })),
  }))
  rewritten('cancellations', ({ cancellationTypes }: { cancellationTypes: object[] }) => ({
    cancellationTypes: cancellationTypes.map(one => ({ ...one, documents: documents.slice(1, 3) })),
  }))
  for (const { fileName, template } of papers) files[`${FOLDER}/${fileName}.template.liquid`] = template
  return withPlugins({ getPostIssuanceResult: SCRIPT }, files)
}

let deployed = 0
let motor: Motor

async function deploy(papers: readonly Paper[] = PAPERS): Promise<void> {
  deployed += 1
  motor = await motorTenant(`packets${deployed}`, papersOf(papers))
}

beforeAll(async () => {
  await prepareDatabases({ tenants: 7 })
  await deploy()
})

type Asked = {
  displayName: string
  fileName: string
  documentLocators: string[]
  deleteSourceDocuments?: boolean
}

const packet = (documentLocators: string[], changes: Partial<Asked> = {}): Asked => ({
  displayName: 'Policy packet',
  fileName: 'packet.pdf',
  documentLocators,
  ...changes,
})

async function say(...asked: Asked[]): Promise<void> {
  await sayText(JSON.stringify({ documentConsolidations: asked }))
}

const sayText = (value: string) =>
  callOk('PUT', '/auxData/global', { token: motor.token, body: { auxData: [{ key: 'say', value }] } })

const logsOf = async () =>
  (await callOk<PluginLogPageResponse>('GET', '/plugin/logs', { token: await motor.signIn('anna.admin') }))
    .logs

const issue = <Body = PolicyResponse>({ locator }: { locator: string }) =>
  motor.post<Body>(`/policy/${locator}/issue`)

const withDocumentsMade = ({ locator }: { locator: string }): Promise<PolicyResponse> =>
  whenMade(
    async () => (await motor.get(`/policy/${locator}`)).body,
    one => one.documents,
  )

const documentNamed = ({ documents }: PolicyResponse, fileName: string): PolicyDocumentResponse =>
  documents.find(one => one.fileName === fileName)!

const filesWithStates = (documents: readonly PolicyDocumentResponse[]): string[] =>
  documents.map(({ fileName, state }) => `${fileName} ${state}`)

/** A PDF of one page with these words. */
function pdfOf(words: string): string {
  const content = `BT /F1 12 Tf 72 720 Td (${words}) Tj ET`
  return `%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 4 0 R>>>>/Contents 5 0 R>> endobj
4 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj
5 0 obj <</Length ${content.length}>> stream
${content}
endstream endobj
trailer <</Root 1 0 R/Size 6>>
%%EOF
`
}

async function upload({ locator }: { locator: string }, content: string, name: string): Promise<void> {
  const form = new FormData()
  form.set('document', new Blob([content]), name)
  const path = `/policy/${locator}/addDocument?displayName=${name}&documentType=own`
  expect((await callApi('POST', path, { token: motor.token, body: form })).status).toBe(200)
}

describe('The plugin getPostIssuanceResult', () => {
  it('merges documents into one PDF in its order, which replaces its sources once it is ready', async () => {
    await say(packet(['terms.pdf', 'own.pdf', 'schedule.pdf'], { deleteSourceDocuments: true }))
    const { body: draft } = await motor.createPolicy()
    await upload(draft, pdfOf('A letter of the broker'), 'own.pdf')
    await withDocumentsMade(draft)
    const issued = await issue(draft)
    expect(issued.status).toBe(200)
    expect(filesWithStates(issued.body.documents)).toEqual([
      'offer.pdf ready',
      'own.pdf ready',
      'schedule.pdf draft',
      'terms.pdf draft',
      'card.html draft',
      'packet.pdf draft',
    ])
    const policy = await withDocumentsMade(draft)
    expect(filesWithStates(policy.documents)).toEqual([
      'offer.pdf ready',
      'card.html ready',
      'packet.pdf ready',
    ])
    const whole = documentNamed(policy, 'packet.pdf')
    expect(whole).toMatchObject({
      displayName: 'Policy packet',
      type: 'pdf',
      policyModificationLocator: policy.modifications[0]!.locator,
    })
    expect(new TextDecoder().decode((await fileAt(whole.url!)).bytes.slice(0, 5))).toBe('%PDF-')
    const text = await pdfTextAt(whole.url!)
    if (text !== undefined)
      expect(text.split('\n')).toEqual([
        `Terms of ${policy.locator}`,
        'A letter of the broker',
        `Schedule of ${policy.locator}`,
      ])
    const letter = documentNamed(issued.body, 'own.pdf')
    expect((await fileAt(letter.url!)).status).toBe(200)
    const advance = { amount: 31, unit: 'minute' }
    await motor.post<ClockResponse>('/test/clock', { advance })
    expect((await fileAt(letter.url!)).status).toBe(404)
    expect((await fileAt(documentNamed(policy, 'offer.pdf').url!)).status).toBe(200)
  })

  it('receives the transaction and its documents before they are generated, without those of invoices', async () => {
    await sayText('nothing')
    const { body: draft } = await motor.createPolicy()
    const { body: policy } = await issue(draft)
    const given = JSON.parse((await logsOf()).at(-1)!.lines[0]!.text) as { documents: object[] }
    const [offer, schedule] = policy.documents
    expect(given).toEqual({
      operation: 'newBusiness',
      policyLocator: policy.locator,
      policy: expect.objectContaining({ locator: policy.locator, productName: 'private_motor' }),
      tenantTimeZone: 'Europe/Berlin',
      documents: [
        expect.objectContaining({ locator: offer!.locator, fileName: 'offer.pdf' }),
        {
          locator: schedule!.locator,
          displayName: 'schedule.pdf',
          fileName: 'schedule.pdf',
          type: 'pdf',
          createdTimestamp: schedule!.createdTimestamp,
          policyModificationLocator: policy.modifications[0]!.locator,
          state: 'draft',
        },
        expect.objectContaining({ fileName: 'terms.pdf' }),
        expect.objectContaining({ fileName: 'card.html' }),
      ],
    })
    expect(filesWithStates((await withDocumentsMade(policy)).documents)).toHaveLength(4)
  })

  it('deletes only the sources it names, and none that another consolidated document needs', async () => {
    await say(
      packet(['schedule.pdf', 'terms.pdf'], { fileName: 'first', deleteSourceDocuments: true }),
      packet(['offer.pdf', 'terms.pdf'], { fileName: 'c:\\temp\\second.html' }),
    )
    const { body: draft } = await motor.createPolicy()
    await issue(draft)
    const policy = await withDocumentsMade(draft)
    expect(filesWithStates(policy.documents)).toEqual([
      'offer.pdf ready',
      'card.html ready',
      'first.pdf ready',
      'second.pdf ready',
    ])
    const texts = await Promise.all(
      ['first.pdf', 'second.pdf'].map(name => pdfTextAt(documentNamed(policy, name).url!)),
    )
    if (texts[0] !== undefined)
      expect(texts).toEqual([
        `Schedule of ${policy.locator}\nTerms of ${policy.locator}`,
        `Offer of ${policy.locator}\nTerms of ${policy.locator}`,
      ])
  })

  it('can merge pages of HTML, both generated and uploaded', async () => {
    await say(packet(['terms.pdf', 'card.html', 'own.html'], { deleteSourceDocuments: true }))
    const { body: draft } = await motor.createPolicy()
    await upload(draft, '<p>A note of the broker</p>', 'own.html')
    expect((await issue(draft)).status).toBe(200)
    const policy = await withDocumentsMade(draft)
    expect(filesWithStates(policy.documents)).toEqual([
      'offer.pdf ready',
      'schedule.pdf ready',
      'packet.pdf ready',
    ])
    const text = await pdfTextAt(documentNamed(policy, 'packet.pdf').url!)
    if (text !== undefined)
      expect(text.split('\n')).toEqual([
        `Terms of ${policy.locator}`,
        `Card of ${policy.locator}`,
        'A note of the broker',
      ])
  })

  it('can merge the documents of an endorsement, on the endorsement and on the policy', async () => {
    await sayText('{}')
    const { body: draft } = await motor.createPolicy()
    const { body: policy } = await issue(draft)
    await withDocumentsMade(policy)
    await say(packet(['offer.pdf', 'terms.pdf'], { fileName: 'change.pdf' }))
    const { body: endorsement } = await motor.post<EndorsementResponse>(
      `/policies/${policy.locator}/endorsements`,
      {
        endorsementName: 'change_of_risk',
        startTimestamp: Number(policy.originalContractStartTimestamp) + 30 * 86_400_000,
        fieldValues: { claims_free_years: '1' },
        state: 'issued',
      },
    )
    const after = await withDocumentsMade(policy)
    const { documents } = (await motor.get<EndorsementResponse>(`/endorsements/${endorsement.locator}`)).body
    expect(filesWithStates(documents)).toEqual([
      'offer.pdf ready',
      'schedule.pdf ready',
      'terms.pdf ready',
      'change.pdf ready',
    ])
    expect(filesWithStates(after.documents)).toContain('change.pdf ready')
    const given = JSON.parse((await logsOf()).at(-1)!.lines[0]!.text) as { operation: string }
    expect(given.operation).toBe('endorsement')
  })

  it('can merge the documents of a cancellation on its record', async () => {
    await sayText('{}')
    const { body: draft } = await motor.createPolicy()
    const { body: policy } = await issue(draft)
    await say(packet(['terms.pdf', 'schedule.pdf'], { fileName: 'goodbye', deleteSourceDocuments: true }))
    const { status, body } = await motor.post<CancellationResponse>(
      `/policies/${policy.locator}/cancellations`,
      {
        name: 'customer_request',
        cancellationCategory: 'other',
        effectiveTimestamp: Number(policy.originalContractStartTimestamp) + 60 * 86_400_000,
        issue: true,
      },
    )
    expect([status, filesWithStates(body.documents)]).toEqual([
      200,
      ['schedule.pdf draft', 'terms.pdf draft', 'goodbye.pdf draft'],
    ])
    const { documents } = await whenMade(
      async () => (await motor.get<CancellationResponse>(`/cancellations/${body.locator}`)).body,
      one => one.documents,
    )
    expect(filesWithStates(documents)).toEqual(['goodbye.pdf ready'])
    const text = await pdfTextAt(documents[0]!.url!)
    if (text !== undefined) expect(text).toBe(`Terms of ${policy.locator}\nSchedule of ${policy.locator}`)
  })

  const wrong: [string, string, RegExp][] = [
    [
      'that fails',
      'throw',
      /^Plugin getPostIssuanceResult failed: main\/getPostIssuanceResult\.js:5: Error: no packet today$/,
    ],
    [
      'that names a document of another transaction',
      JSON.stringify({ documentConsolidations: [packet(['schedule.pdf', 'nobody'])] }),
      /^Plugin getPostIssuanceResult \(main\/\w+\.js\) returned an invalid answer: 'documentConsolidations\.0\.documentLocators' contains nobody, which is not among documents\.$/,
    ],
    [
      'that names one twice',
      JSON.stringify({ documentConsolidations: [packet(['terms.pdf', 'terms.pdf'])] }),
      /contains [0-9a-f-]{36} twice/,
    ],
    [
      'that names no file',
      JSON.stringify({ documentConsolidations: [{ ...packet(['terms.pdf']), fileName: '' }] }),
      /'documentConsolidations\.0\.fileName'/,
    ],
    [
      'that answers text for a list',
      JSON.stringify({ documentConsolidations: new Date(0) }),
      / invalid answer: 'documentConsolidations' must be a list, not text\.$/,
    ],
    ['that answers a list', '[]', /the answer must be an object, not a list\.$/],
  ]
  it.each(wrong)('%s causes a 422, and the policy is not issued', async (_, said, message) => {
    const { body: draft } = await motor.createPolicy()
    await sayText(said)
    const refused = await issue<{ code: string; message: string }>(draft)
    expect([refused.status, refused.body.code]).toEqual([422, 'pluginFailed'])
    expect(refused.body.message).toMatch(message)
    const { body: policy } = await motor.get(`/policy/${draft.locator}`)
    expect([policy.issuedTimestamp, policy.documents.map(one => one.fileName)]).toEqual([
      undefined,
      ['offer.pdf'],
    ])
  })
})

describe('A consolidated document', () => {
  it('fails with dataError when a source cannot be generated, names it, and deletes nothing', async () => {
    await deploy([...PAPERS, { fileName: 'broken.pdf', template: '{{ 1 | divided_by: 0 }}' }])
    await say(packet(['schedule.pdf', 'broken.pdf'], { deleteSourceDocuments: true }))
    const { body: draft } = await motor.createPolicy()
    await issue(draft)
    const policy = await withDocumentsMade(draft)
    expect(filesWithStates(policy.documents)).toEqual([
      'offer.pdf ready',
      'schedule.pdf ready',
      'terms.pdf ready',
      'card.html ready',
      'broken.pdf renderError',
      'packet.pdf dataError',
    ])
    expect(documentNamed(policy, 'packet.pdf').failureMessage).toMatch(
      /^'broken\.pdf' is one of its parts and could not be created: .*broken\.pdf\.template\.liquid:1:8: /,
    )
  })

  it('leaves out a source whose template asks for no document, and is dropped when no source is left', async () => {
    await deploy([...PAPERS, { fileName: 'none.pdf', template: '{{ nil | render_static_document }}' }])
    await say(
      packet(['none.pdf', 'terms.pdf'], { fileName: 'some.pdf' }),
      packet(['none.pdf'], { fileName: 'nothing.pdf' }),
    )
    const { body: draft } = await motor.createPolicy()
    await issue(draft)
    const policy = await withDocumentsMade(draft)
    expect(filesWithStates(policy.documents)).toEqual([
      'offer.pdf ready',
      'schedule.pdf ready',
      'terms.pdf ready',
      'card.html ready',
      'some.pdf ready',
    ])
    const text = await pdfTextAt(documentNamed(policy, 'some.pdf').url!)
    if (text !== undefined) expect(text).toBe(`Terms of ${policy.locator}`)
  })

  it('fails with conversionError when an uploaded file is broken, and names the file', async () => {
    await deploy()
    await say(packet(['own.pdf', 'terms.pdf'], { deleteSourceDocuments: true }))
    const { body: draft } = await motor.createPolicy()
    await upload(draft, '%PDF-1.4\n%%EOF\n', 'own.pdf')
    await issue(draft)
    const policy = await withDocumentsMade(draft)
    expect(documentNamed(policy, 'packet.pdf')).toMatchObject({
      state: 'conversionError',
      failureMessage: "'own.pdf' cannot be merged: it is not a readable PDF.",
    })
    expect(filesWithStates(policy.documents)).toContain('own.pdf ready')
  })

  it('fails when its parts exceed 25 MiB in total', async () => {
    await say(packet(['terms.pdf', 'one.pdf', 'two.pdf']))
    const { body: draft } = await motor.createPolicy()
    const large = pdfOf('Large') + ' '.repeat(13 * 1024 * 1024)
    for (const name of ['one.pdf', 'two.pdf']) await upload(draft, large, name)
    await issue(draft)
    expect(documentNamed(await withDocumentsMade(draft), 'packet.pdf')).toMatchObject({
      state: 'conversionError',
      failureMessage:
        "With 'two.pdf', its parts are larger than 26214400 bytes, the most that can be merged.",
    })
  })

  it('fails when more than 20 of its parts are HTML', async () => {
    const names = Array.from({ length: 21 }, (_, at) => `own${at + 1}.html`)
    await say(packet(['terms.pdf', ...names]))
    const { body: draft } = await motor.createPolicy()
    for (const name of names) await upload(draft, '<p>Own</p>', name)
    await issue(draft)
    expect(documentNamed(await withDocumentsMade(draft), 'packet.pdf')).toMatchObject({
      state: 'conversionError',
      failureMessage:
        "With 'own21.html', more than 20 of its parts are HTML, the most that can be converted to PDF.",
    })
  })

  it('is skipped when the plugin fails during a lapse, which succeeds and logs the failure', async () => {
    const span = { policyStartTimestamp: undefined, policyEndTimestamp: undefined }
    await sayText('{}')
    const { body: draft } = await motor.createPolicy({ ...span, paymentScheduleName: 'upfront' })
    const { body: policy } = await issue(draft)
    await sayText('throw')
    const timestamp = Number(policy.invoices[0]!.dueTimestamp) + 32 * 86_400_000
    const { body: clock } = await motor.post<ClockResponse>('/test/clock', { timestamp })
    expect([clock.completed, clock.failed]).toEqual([true, 0])
    expect((await motor.get(`/policy/${policy.locator}`)).body.cancellation).toBeDefined()
    expect((await logsOf()).at(-1)!.failure).toBe(
      'Plugin getPostIssuanceResult failed: main/getPostIssuanceResult.js:5: Error: no packet today. The documents are unchanged.',
    )
  })
})

it('a plugin that reads nothing stored adds no round trips to the issue', async () => {
  const asking = withPlugins({ getPostIssuanceResult: 'exports.getPostIssuanceResult = () => ({})' })
  const spent: unknown[] = []
  for (const files of [motorWithoutPapers(), asking]) {
    const tenant = await motorTenant(`packets-cost${spent.length}`, files)
    // The first issue leases locators.
    await tenant.post(`/policy/${(await tenant.createPolicy()).body.locator}/issue`)
    const { body } = await tenant.createPolicy()
    spent.push(roundTrips(await tenant.post(`/policy/${body.locator}/issue`)))
  }
  expect(spent[0]).toMatchObject({ d1: 1, object: 1, r2: 0 })
  expect(spent[1]).toEqual(spent[0])
})
