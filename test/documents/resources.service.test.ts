// Documents of policies with a tenant's resources: templates of a configuration in both dialects, the snippets that they may
// include, and tables and static documents in force on the right day. renderPolicyDocument, which authors use to try out
// templates, gives the same results.
import { env } from 'cloudflare:workers'
import monoFont from 'dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { findTenant } from '../../src/platform/tenancy.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { documentResources } from '../../src/reference/templates/document-resources.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'
import { fileAt, whenMade } from './waiting.ts'

const FOLDER = 'products/private_motor/policy'
const DAY_MS = 86_400_000
const START = Number(plainYear().request.policy.policyStartTimestamp)
const YEAR_MS = Number(plainYear().request.policy.policyEndTimestamp) - START

/** Templates of the configuration: by file name, the text and the properties of its document in policy.json. */
const TEMPLATES = {
  'card.vm': [
    '## a card\n#macro(line $label $value)$label: $value;#end\n#line("From", $date.format("yyyy-MM-dd", $data.policy.original_contract_start_timestamp)) #parse("foot")',
    { templateSnippets: ['foot'] },
  ],
  'sly.vm': ['#set($name = "hid" + "den")\n  #parse($name)', { templateSnippets: ['foot'] }],
  'rate.template.liquid': ["{{ 'surcharge' | lookup: 'R1' }}", {}],
  'rate_now.template.liquid': [
    "{% render 'stamp' %}",
    { selectionTimeBasis: 'currentTime', templateSnippets: ['stamp'] },
  ],
  'terms.template.liquid': ["{{ 'conditions' | render_static_document }}", {}],
  'placed.template.liquid': ['of the configuration', {}],
  'sealed.template.liquid': ["{% render 'seal' %}, {% render 'mark' %}", {}],
  'branded.template.liquid': [
    '<head></head><p style="font-family: brand">x</p>',
    { trigger: 'issued', customFonts: ['brand'] },
  ],
  'heads.template.liquid': ['<head '.repeat(40_000), { customFonts: ['brand'] }],
  'bill.template.liquid': ['Bill {{ data.invoice.display_id }}', { scope: 'invoice', trigger: 'generated' }],
} as const

/** Halfway between now and the policy's start, in either order. */
const BETWEEN = Math.round((Date.now() + START) / 2)

let motor: Motor
let base: string
let token: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  const files = motorWithoutPapers()
  const policy = JSON.parse(files[`${FOLDER}/policy.json`] as string)
  policy.documents = Object.entries(TEMPLATES).map(([templateName, [, more]]) => ({
    fileName: templateName.replace(/\..*/, '.html'),
    templateName,
    type: 'html',
    ...more,
  }))
  policy.documents.push({
    fileName: 'wording.html',
    templateName: 'wording',
    rendering: 'prerendered',
    format: 'html',
  })
  for (const format of [undefined, 'pdf'])
    policy.documents.push({
      fileName: `plain_${format}.pdf`,
      templateName: 'wording',
      rendering: 'prerendered',
      format,
    })
  policy.jurisdictionField = 'region_class'
  files[`${FOLDER}/policy.json`] = JSON.stringify(policy)
  for (const [name, [text]] of Object.entries(TEMPLATES)) files[`${FOLDER}/${name}`] = text
  files[`${FOLDER}/static_documents/conditions`] = '<p>conditions of the configuration</p>'
  const config = JSON.parse(new TextDecoder().decode(files['config.json'] as Uint8Array))
  const surcharge = { columns: { key: { isKey: true }, value: {} } }
  files['config.json'] = JSON.stringify({
    ...config,
    tables: { ...config.tables, surcharge },
    templateSnippets: { seal: { displayName: 'Seal', selectionTimeBasis: 'currentTime' } },
  })
  files[`${FOLDER}/invoice.template.vm`] =
    '<p>Invoice $data.invoice.display_id: $data.invoice_financials.total_due</p>'
  motor = await motorTenant('document-resources', files)
  base = `/resource/${motor.tenantLocator}`
  token = await motor.signIn('anna.admin')
  await upload('templateSnippets/velocity', 'foot_1', 'foot', 'the foot')
  await upload('templateSnippets/velocity', 'hidden_1', 'hidden', 'not for this paper')
  await upload('templateSnippets/liquid', 'stamp_1', 'stamp', 'old stamp')
  await upload('templateSnippets/liquid', 'stamp_2', 'stamp', 'stamp of today')
  await table('surcharge_1', 'key,value\nR1,7.5\n')
  await table('surcharge_2', 'key,value\nR1,9.25\n')
  for (const name of ['seal', 'mark']) {
    await upload('templateSnippets/liquid', `${name}_1`, name, `first ${name}`)
    await upload('templateSnippets/liquid', `${name}_2`, name, `second ${name}`)
  }
  await group('seals', 0, ['seal_1', 'mark_1'])
  await group('other seals', BETWEEN, ['seal_2', 'mark_2'])
  for (const [name, place] of [
    ['all', ''],
    ['R3', '&jurisdiction=R3'],
    ['R5', '&jurisdiction=R5'],
  ]) {
    const as = (staticName: string) => `${staticName}${place}`
    await upload(
      'templates/liquid',
      `placed_${name}`,
      as('placed'),
      `placed in ${name}: {% render 'where' %}`,
    )
    await upload('templateSnippets/liquid', `where_${name}`, as('where'), `where ${name}`)
    await upload('documents', `wording_${name}`, as('wording'), `<p>wording of ${name}</p>`, 'text/html')
    await group(`in ${name}`, 0, [`placed_${name}`, `where_${name}`, `wording_${name}`])
  }
  const font = new FormData()
  font.set('file', new Blob([monoFont]), 'brand.ttf')
  await callOk('POST', `${base}/fonts?name=brand_1&staticName=brand`, { token, body: font })
  await group('brands', 0, ['brand_1'])
  await group('always', 0, ['foot_1', 'hidden_1', 'stamp_1', 'surcharge_1'])
  await group('later', START + 10 * DAY_MS, ['surcharge_2'])
  await group('today', Date.now() - DAY_MS, ['stamp_2'])
})

const fieldValuesOf = ({ characteristics, exposures }: PolicyResponse): Record<string, string[]> => ({
  ...characteristics[0]!.fieldValues,
  ...exposures[0]!.characteristics[0]!.fieldValues,
})

const upload = (path: string, name: string, staticName: string, body: string, type = 'text/plain') =>
  callOk('POST', `${base}/${path}?name=${name}&staticName=${staticName}`, {
    token,
    body,
    headers: { 'content-type': type },
  })

const table = (name: string, csv: string) => {
  const form = new FormData()
  form.set('file', new Blob([csv]), 'table.csv')
  return callOk('POST', `${base}/tables?name=${name}&staticName=${name.replace(/_\d$/, '')}`, {
    token,
    body: form,
  })
}

const group = (name: string, start: number, resourceNames: string[]) =>
  callOk('POST', `${base}/groups`, {
    token,
    body: { name, selectionStartTime: new Date(start).toISOString(), resourceNames },
  })

/** Issues a policy from that time, and returns it once its documents are generated. */
async function issuedFrom(start: number, region = 'R3'): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy({
    fieldValues: { ...(plainYear().request.policy.fieldValues as object), region_class: region },
    policyStartTimestamp: String(start),
    policyEndTimestamp: String(start + YEAR_MS),
  })
  expect((await motor.post(`/policy/${body.locator}/issue`)).status).toBe(200)
  return await whenMade(
    async () => (await motor.get(`/policy/${body.locator}`)).body,
    one => [...one.documents, ...one.invoices.flatMap(invoice => invoice.documents)],
  )
}

/** The text of the document, or its failure. */
async function textOf({ documents }: Pick<PolicyResponse, 'documents'>, name: string): Promise<string> {
  const { state, failureMessage, url } = documents.find(one => one.fileName.startsWith(`${name}.`))!
  if (state !== 'ready') return `${state}: ${failureMessage}`
  return new TextDecoder().decode((await fileAt(url!)).bytes)
}

const tried = async (request: object) => {
  const answer = await callApi<string>('POST', '/document/renderPolicyDocument', {
    token: motor.token,
    body: { type: 'html', ...request },
    headers: { accept: 'text/html' },
  })
  return { status: answer.status, body: answer.body, calls: roundTrips(answer) }
}

describe('Documents of a configuration', () => {
  let policy: PolicyResponse
  beforeAll(async () => {
    policy = await issuedFrom(START)
  })

  it('render Velocity templates with the snippets in force, including the invoice template of fixed name', async () => {
    const from = new Date(START + 2 * 3_600_000).toISOString().slice(0, 10)
    expect(await textOf(policy, 'card')).toBe(`From: ${from}; the foot`)
    const [invoice] = policy.invoices
    const paper = invoice!.documents.find(one => one.fileName.startsWith('invoice_'))
    expect([paper!.state, paper!.fileName]).toEqual(['ready', `invoice_${invoice!.displayId}.pdf`])
  })

  it('cannot include a snippet that is missing from templateSnippets, even by a computed name', async () => {
    expect(await textOf(policy, 'sly')).toBe(
      `renderError: products/private_motor/policy/sly.vm:2:3: The snippet 'hidden' is not in the document's templateSnippets. Add it there, or correct the name.`,
    )
  })

  it('read tables in force when their transaction takes effect, and snippets by selectionTimeBasis', async () => {
    expect(await textOf(policy, 'rate')).toBe('7.5')
    expect(await textOf(await issuedFrom(START + 20 * DAY_MS), 'rate')).toBe('9.25')
    expect(await textOf(policy, 'rate_now')).toBe('stamp of today')
  })

  it('render HTML static documents, and prefer a resource in force to the configuration’s file', async () => {
    expect(await textOf(policy, 'terms')).toBe('<p>conditions of the configuration</p>')
    await upload('documents', 'conditions_1', 'conditions', '<p>conditions in force</p>', 'text/html')
    await upload('documents', 'conditions_2', 'conditions', 'a,b', 'text/csv')
    await group('conditions', START + 30 * DAY_MS, ['conditions_1'])
    await group('wrong conditions', START + 40 * DAY_MS, ['conditions_2'])
    expect(await textOf(await issuedFrom(START + 30 * DAY_MS), 'terms')).toBe('<p>conditions in force</p>')
    expect(await textOf(await issuedFrom(START + 40 * DAY_MS), 'terms')).toContain(
      "renderError: products/private_motor/policy/terms.template.liquid: the static document 'conditions' is neither a PDF nor HTML.",
    )
  })

  it('use the template, snippet and static document of the policy’s jurisdiction, or else the general ones', async () => {
    expect(await textOf(policy, 'placed')).toBe('placed in R3: where R3')
    expect(await textOf(policy, 'wording')).toBe('<p>wording of R3</p>')
    const elsewhere = await issuedFrom(START, 'R1')
    expect(await textOf(elsewhere, 'placed')).toBe('placed in all: where all')
    expect(await textOf(elsewhere, 'wording')).toBe('<p>wording of all</p>')
  })

  it('take their type from a prerendered static document, and fail when another type is configured', async () => {
    const plain = policy.documents.filter(({ fileName }) => fileName.startsWith('plain_'))
    expect(plain.map(({ fileName, type, state }) => `${fileName} ${type} ${state}`)).toEqual([
      'plain_undefined.html html ready',
      'plain_pdf.pdf pdf renderError',
    ])
    expect(await textOf(policy, 'plain_undefined')).toBe('<p>wording of R3</p>')
    expect(await textOf(policy, 'plain_pdf')).toContain("'wording' is html, but the document must be pdf.")
  })

  it('select a snippet by its selectionTimeBasis in config.json, and others by the document’s', async () => {
    const [now, then] = Date.now() < START ? ['first', 'second'] : ['second', 'first']
    expect(await textOf(policy, 'sealed')).toBe(`${now} seal, ${then} mark`)
  })

  it('embed the fonts of their customFonts, and are on every invoice with scope invoice', async () => {
    const face = `@font-face{font-family:"brand";src:url(data:font/sfnt;base64,${Buffer.from(monoFont).toString('base64')})}`
    expect(await textOf(policy, 'branded')).toBe(
      `<head><style>${face}</style></head><p style="font-family: brand">x</p>`,
    )
    const [invoice] = policy.invoices
    expect(policy.documents.map(one => one.fileName)).not.toContain('bill.html')
    expect(await textOf(invoice!, 'bill')).toBe(`Bill ${invoice!.displayId}`)
  })

  it('are rendered in linear time when a template has many unclosed head elements', async () => {
    const { body } = await tried({ policyLocator: policy.locator, templateName: 'heads' })
    expect(body).toMatch(/^<style>@font-face\{.*\}<\/style><head <head /)
  }, 15_000)

  it('show their scope and trigger of the newest configuration on the resource of their template', async () => {
    await upload('templates/liquid', 'billed_1', 'bill', 'Bill')
    await upload('templates/liquid', 'branded_1', 'branded', 'x')
    const shown = async (name: string) => {
      const { body } = await motor.get<{ scope?: string; trigger?: string }>(`${base}/resources/${name}`)
      return [body.scope, body.trigger]
    }
    expect(await shown('billed_1')).toEqual(['invoice', 'generated'])
    expect(await shown('branded_1')).toEqual([undefined, 'issued'])
    expect(await shown('placed_all')).toEqual([undefined, undefined])
    const list = await motor.get<{ items: { name: string; scope?: string; trigger?: string }[] }>(
      `${base}/resources/type/documentTemplate/list?count=1000`,
    )
    const billed = list.body.items.find(one => one.name === 'billed_1')
    expect(billed).toMatchObject({ scope: 'invoice', trigger: 'generated' })
    const explained = await motor.get(`${base}/resources/placed?byStaticName=true&explain=true`)
    expect(explained.body).toMatchObject({ staticName: 'placed', rendering: 'dynamic' })
  })

  it('render the same in renderPolicyDocument, with the template, snippets and tables of the same day', async () => {
    const { locator } = policy
    const later = await issuedFrom(START + 20 * DAY_MS)
    const of = (templateName: string, policyLocator = locator) => tried({ policyLocator, templateName })
    expect((await of('card')).body).toBe(await textOf(policy, 'card'))
    expect(await of('sly')).toMatchObject({ status: 422, body: { code: 'templateFailed' } })
    expect([(await of('rate')).body, (await of('rate', later.locator)).body]).toEqual(['7.5', '9.25'])
    expect(await of('nowhere')).toMatchObject({ status: 404 })
    await upload('templates/velocity', 'rate_1', 'rate', '#set($x = 1)\nrate: $x')
    await group('rates', START + 15 * DAY_MS, ['rate_1'])
    expect([(await of('rate')).body, (await of('rate', later.locator)).body]).toEqual(['7.5', 'rate: 1'])
  })

  it('can be tried out as texts of both dialects, with reads only for the policy and named resources', async () => {
    const { locator: policyLocator } = policy
    const velocity = (template: string) => tried({ policyLocator, template, templateFormat: 'velocity' })
    expect(await velocity('$data.policy.locator')).toMatchObject({
      body: policyLocator,
      calls: { d1: 1, r2: 0 },
    })
    expect(await velocity('#parse("foot") #parse("hidden")')).toMatchObject({
      body: 'the foot not for this paper',
      calls: { d1: 2, r2: 2 },
    })
    const { claims_free_years: years, vehicle_value: value } = fieldValuesOf(policy)
    const sum =
      '#set($c = $data.policy.characteristics[0].field_values.claims_free_years)#set($x = $c + 1)$x ' +
      '#set($v = $data.policy.exposures[0].characteristics[0].field_values.vehicle_value)$v #set($x = 1 + $v)$x'
    expect((await velocity(sum)).body).toBe(`${Number(years) + 1} ${value} ${Number(value) + 1}`)
    expect((await velocity('\n#if($x)')).body).toMatchObject({
      code: 'templateFailed',
      message: "preview:2:1: The '#if' that begins here is never closed. Add '#end'.",
    })
    expect(await tried({ policyLocator, template: "{{ 'surcharge' | lookup: 'R1' }}" })).toMatchObject({
      body: '7.5',
    })
  })
})

it('the names of all documents generated together are read in one round trip', async () => {
  const tenant = (await findTenant(env, { name: motor.tenantName }, noCalls()))!
  const calls = noCalls()
  const resources = documentResources({ env, tenant, calls })
  await resources.expect([
    'card.vm',
    'sly.vm',
    'rate.template.liquid',
    'terms.template.liquid',
    'no such name!',
  ])
  const where = { at: (START + 20 * DAY_MS) as Instant, jurisdiction: undefined }
  expect(await resources.template('card.vm', where)).toBeUndefined()
  expect(await resources.template('no such name!', where)).toBeUndefined()
  expect((await resources.template('rate.template.liquid', where))?.name).toBe('rate_1')
  expect([calls.d1, calls.r2]).toEqual([1, 1])
})
