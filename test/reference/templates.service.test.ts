// Templates rendered for their authors: both dialects, snippets and fonts in force, undefined names, and templates that would
// never end (resources brief 4.3, 13.2).
import monoFont from 'dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf'
import { beforeAll, describe, expect, it } from 'vitest'
import { woff2Of, woffOf } from '../../packages/pdf/test/packed-fonts.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { RenderTemplateResponse } from '../../src/servicing/documents/contract.ts'
import { fileAt, whenMade } from '../documents/waiting.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { exampleFiles } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'

let base: string
let token: string
let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('resource-templates', exampleFiles('motor'))
  base = `/resource/${motor.tenantLocator}`
  token = await motor.signIn('anna.admin')
})

type Dialect = 'liquid' | 'velocity'

/** Uploads it. The static name is the name without a suffix such as `_2`. */
const upload = (segment: 'templates' | 'templateSnippets', dialect: Dialect, name: string, text: string) =>
  callOk('POST', `${base}/${segment}/${dialect}?name=${name}&staticName=${name.replace(/_\d+$/, '')}`, {
    token,
    body: text,
    headers: { 'content-type': 'text/plain' },
  })

const group = (name: string, selectionStartTime: string, resourceNames: string[]) =>
  callOk('POST', `${base}/groups`, { token, body: { name, selectionStartTime, resourceNames } })

const render = async (name: string, body: object = {}, query = '') => {
  const answer = await callApi<RenderTemplateResponse & { code?: string; message?: string }>(
    'POST',
    `${base}/templates/${name}/render${query}`,
    { token, body: { type: 'html', ...body } },
  )
  return { status: answer.status, ...answer.body }
}

describe('POST /resource/{tenantLocator}/templates/{name}/render', () => {
  it.each([
    [
      'liquid',
      'Dear {{ data.name }}, {{ data.missing.part }}{% for i in data.items %}{{ i.nothing }}{% endfor %}.',
      'Dear Ada, .',
      ['data.missing.part', 'i.nothing'],
    ],
    [
      'velocity',
      'Dear $data.name, $!data.missing.part#foreach($i in $data.items)$!i.nothing#end.',
      'Dear Ada, .',
      ['$!data.missing.part', '$!i.nothing'],
    ],
  ] as const)('renders %s with a list of undefined names', async (dialect, text, html, undefinedNames) => {
    await upload('templates', dialect, `dear_${dialect}`, text)
    const made = await render(`dear_${dialect}`, { data: { name: 'Ada', items: [{ a: 1 }] } })
    expect(made).toMatchObject({
      status: 200,
      type: 'html',
      html,
      undefinedNames,
      templateFormat: dialect,
      warnings: [],
    })
  })

  it('keeps empty text and the case of keys', async () => {
    await upload('templates', 'liquid', 'kept', '[{{ data.empty }}][{{ data.camelCase }}]')
    const made = await render('kept', { data: { empty: '', camelCase: 'x' } })
    expect(made).toMatchObject({ html: '[][x]', undefinedNames: [] })
  })

  it('renders a PDF', async () => {
    await upload('templates', 'velocity', 'letter', '<h1>$data.title</h1>')
    const made = await render('letter', { type: 'pdf', data: { title: 'Terms' } })
    expect(made).toMatchObject({ status: 200, type: 'pdf', undefinedNames: [] })
    expect(Buffer.from(made.pdf!, 'base64').subarray(0, 8).toString()).toBe('%PDF-1.7')
  })

  it('renders the same PDF for the same data and time, in the page size of its style sheet', async () => {
    await upload('templates', 'velocity', 'same', '<style>@page { size: letter }</style><h1>$data.title</h1>')
    const at = async (now: string) =>
      (await render('same', { type: 'pdf', data: { title: 'Terms' }, now })).pdf!
    const first = await at('2026-11-21T12:00:00Z')
    expect(await at('2026-11-21T12:00:00Z')).toBe(first)
    expect(await at('2026-11-21T12:00:01Z')).not.toBe(first)
    expect(Buffer.from(first, 'base64').toString('latin1')).toContain('/MediaBox [0 0 612 792]')
  })

  it('uses the tables in force at the given date and jurisdiction', async () => {
    for (const [name, value, place] of [
      ['levy_1', '4.5', ''],
      ['levy_2', '5.5', ''],
      ['levy_CA', '6.5', '&jurisdiction=CA'],
    ] as const) {
      const form = new FormData()
      form.set('file', new Blob([`key,value\nEU,${value}\n`]), 'levy.csv')
      await callOk('POST', `${base}/tables?name=${name}&staticName=levy${place}`, { token, body: form })
    }
    await group('levies 1', '2026-01-01T00:00:00Z', ['levy_1'])
    await group('levies 2', '2026-06-01T00:00:00Z', ['levy_2', 'levy_CA'])
    await upload('templates', 'liquid', 'levied', "{{ 'levy' | lookup: 'EU' }}")
    expect((await render('levied', {}, '?date=2026-02-01T00:00:00Z')).html).toBe('4.5')
    expect((await render('levied', {}, '?date=2026-07-01T00:00:00Z')).html).toBe('5.5')
    expect((await render('levied', {}, '?date=2026-07-01T00:00:00Z&jurisdiction=CA')).html).toBe('6.5')
  })

  it('makes two D1 reads and one R2 read for each file, and a third D1 read for a level of snippets', async () => {
    await upload('templateSnippets', 'liquid', 'left', 'l')
    await upload('templateSnippets', 'liquid', 'right', 'r')
    await group('sides', '2026-01-01T00:00:00Z', ['left', 'right'])
    await upload('templates', 'liquid', 'plain_cost', 'x')
    await upload('templates', 'liquid', 'sides_cost', "{% render 'left' %}{% render 'right' %}")
    const cost = async (name: string) =>
      roundTrips(await callApi('POST', `${base}/templates/${name}/render`, { token, body: { type: 'html' } }))
    // This makes the existing tables known to the isolate.
    await cost('plain_cost')
    expect(await cost('plain_cost')).toMatchObject({ d1: 2, r2: 1 })
    expect(await cost('sides_cost')).toMatchObject({ d1: 3, r2: 3 })
  })

  it('returns 422 with the name of an image that does not exist', async () => {
    for (const [index, name] of ['gone.png', '%zz'].entries()) {
      await upload('templates', 'velocity', `picture${index}`, `<img src="bindery-image:${name}">`)
      expect(await render(`picture${index}`)).toMatchObject({
        status: 422,
        message: `picture${index}: there is no image '${name}' in static_documents or among the resources.`,
      })
    }
  })

  it('rejects wrong requests with the reason', async () => {
    const wrong = async (body: object, query = '') => {
      const { status, message } = await render('same', body, query)
      return `${status} ${message}`
    }
    expect(await wrong({ type: 'docx' })).toContain("400 'type' must be one of 'pdf', 'html'.")
    expect(await wrong({ data: [1] })).toContain("400 'data' must be an object, not a list.")
    expect(await wrong({ now: 'soon' })).toContain("400 'now' must be a time")
    expect(await wrong({ pageLayout: { pageSize: 'A9' } })).toContain(
      "400 'pageLayout.pageSize' must be one of",
    )
    expect(await wrong({ pageLayout: { marginLeft: 'wide' } })).toContain(
      "400 'pageLayout.marginLeft' must be a length like '20mm', in mm, cm, in, pt, pc or px.",
    )
    expect(await wrong({ productName: 'boat' })).toContain("400 There is no product 'boat'")
    expect(await wrong({ configVersion: 99 })).toContain('400 There is no configuration version 99')
    expect(await wrong({}, '?date=yesterday')).toContain("400 'date' must be a time")
    expect(await wrong({ data: { long: 'x'.repeat(4_200_000) } })).toContain(
      '413 The body is larger than 4 MiB',
    )
  })

  it('finds a template by static name, with the snippets of the same date', async () => {
    await upload('templates', 'liquid', 'offer_1', "A: {% render 'sign' %}")
    await upload('templateSnippets', 'liquid', 'sign_1', 'old {{ data.n }}')
    await upload('templateSnippets', 'liquid', 'sign_2', "new {% include 'rule' %}")
    await upload('templateSnippets', 'liquid', 'rule_1', 'rule')
    await group('first', '2026-01-01T00:00:00Z', ['offer_1', 'sign_1', 'rule_1'])
    await group('second', '2026-06-01T00:00:00Z', ['sign_2'])
    const on = (date: string) => render('offer', { data: { n: 1 } }, `?byStaticName=true&date=${date}`)
    expect((await on('2026-02-01T00:00:00Z')).html).toBe('A: old 1')
    const later = await on('2026-07-01T00:00:00Z')
    expect(later.html).toBe('A: new rule')
    expect(later.snippets.map(one => one.name)).toEqual(['sign_2', 'rule_1'])
    expect(await on('2025-02-01T00:00:00Z')).toMatchObject({ status: 404, code: 'resourceNotInForce' })
  })

  it('includes snippets whose names the template computes, in both dialects', async () => {
    await upload('templateSnippets', 'velocity', 'clause_1', 'clause for $data.state')
    await group('clauses', '2026-01-01T00:00:00Z', ['clause_1'])
    await upload('templates', 'velocity', 'made_up_v', '#set($n = "cla" + "use")#parse($n)')
    await upload('templates', 'liquid', 'made_up_l', "{% assign n = 'ru' | append: 'le' %}{% include n %}")
    expect((await render('made_up_v', { data: { state: 'CA' } })).html).toBe('clause for CA')
    expect((await render('made_up_l')).html).toBe('rule')
  })

  it('uses the currency and the tables of the configuration', async () => {
    await upload('templates', 'velocity', 'amount', '$number.currency(1234.5)')
    await upload('templates', 'liquid', 'lookup', "{{ 'no_such' | lookup: 'x' }}")
    expect(await render('lookup')).toMatchObject({ status: 422, code: 'templateFailed' })
    expect((await render('amount')).html).toBe('€1,234.50')
  })

  it('embeds a font in force that an @font-face names, and returns 422 without one', async () => {
    const css = '<style>@font-face { font-family: Brand; src: url(brand_sans.ttf) }</style><p>x</p>'
    await upload('templates', 'liquid', 'branded', css)
    expect(await render('branded')).toMatchObject({ status: 422, code: 'templateFailed' })
    await callOk('POST', `${base}/fonts?name=brand_2026&staticName=brand_sans`, {
      token,
      body: new Uint8Array(monoFont),
      headers: { 'content-type': 'font/ttf' },
    })
    await group('fonts', '2026-01-01T00:00:00Z', ['brand_2026'])
    const { html } = await render('branded')
    expect(html).toContain(`url(data:font/sfnt;base64,${Buffer.from(monoFont).toString('base64')})`)
  })
})

describe('a font in force', () => {
  const css = (file: string) =>
    `<style>@font-face { font-family: Code; src: url(${file}) }</style><p style="font-family: Code">語 Grüße</p>`

  it('is embedded from TrueType, WOFF or WOFF2, and a warning names characters that no font has', async () => {
    const font = new Uint8Array(monoFont)
    const files = { code_ttf: font, code_woff: woffOf(font), code_woff2: woff2Of(font) }
    for (const [name, body] of Object.entries(files)) {
      await callOk('POST', `${base}/fonts?name=${name}&staticName=${name}`, {
        token,
        body,
        headers: { 'content-type': 'application/octet-stream' },
      })
      await upload('templates', 'velocity', `in_${name}`, css(`${name}.${name.slice(5)}`))
    }
    await group('packed fonts', '2026-01-01T00:00:00Z', Object.keys(files))
    const sizes: number[] = []
    for (const name of Object.keys(files)) {
      const made = await render(`in_${name}`, { type: 'pdf' })
      expect(made.warnings).toEqual([
        expect.stringMatching(`^in_${name}: no font has 語 .U.8A9E.; they are shown as boxes`),
      ])
      sizes.push(made.pdf!.length)
    }
    await upload('templates', 'velocity', 'in_no_font', css('').replace('src: url()', ''))
    const without = (await render('in_no_font', { type: 'pdf' })).pdf!.length
    expect(sizes.every(size => Math.abs(size - sizes[0]!) < 100 && size !== without)).toBe(true)
  })
})

describe('a template', () => {
  it.each([
    ['liquid', "\n  {% render 'gone' %}", 'missing_l:2:3'],
    ['velocity', '\n  #parse("gone")', 'missing_v:2:3'],
  ] as const)('in %s returns 422 with the name of a missing snippet', async (dialect, text, place) => {
    const name = place.split(':')[0]!
    await upload('templates', dialect, name, text)
    const made = await render(name)
    expect(made).toMatchObject({ status: 422, code: 'templateFailed' })
    expect(made.message).toBe(`${place}: There is no snippet 'gone'. Correct its name or add it.`)
  })

  it('returns 422 if its snippets form a circle, nest deeper than 8 or are of the other dialect', async () => {
    await upload('templateSnippets', 'liquid', 'ping', "{% render 'pong' %}")
    await upload('templateSnippets', 'liquid', 'pong', "{% render 'ping' %}")
    const deep = Array.from({ length: 9 }, (_, at) => `deep${at}`)
    for (const [at, name] of deep.entries())
      await upload('templateSnippets', 'liquid', name, at < 8 ? `{% render 'deep${at + 1}' %}` : 'end')
    await group('circle', '2026-01-01T00:00:00Z', ['ping', 'pong', ...deep])
    for (const [name, text] of [
      ['circular', "{% render 'ping' %}"],
      ['too_deep', "{% render 'deep0' %}"],
      ['deep_enough', "{% render 'deep1' %}"],
      ['mixed', "{% render 'clause' %}"],
    ] as const)
      await upload('templates', 'liquid', name, text)
    expect((await render('circular')).message).toBe(
      "pong:1:1: The snippet 'ping' includes itself: ping → pong → ping.",
    )
    expect(await render('too_deep')).toMatchObject({ status: 422, code: 'templateLimit' })
    expect((await render('deep_enough')).html).toBe('end')
    expect((await render('mixed')).message).toContain("The snippet 'clause' is velocity")
  })

  it.each([
    [
      'an endless loop',
      '{% for i in (1..9999999) %}{% for j in (1..9999999) %}x{% endfor %}{% endfor %}',
      '#foreach($i in [1..9999])#foreach($j in [1..9999])x#end#end',
    ],
    [
      'texts that double',
      "{% assign x = 'aaaaaaaa' %}{% for i in (1..60) %}{% assign x = x | append: x %}{% endfor %}",
      '#set($x = "aaaaaaaa")#foreach($i in [1..60])#set($x = "$x$x")#end',
    ],
    [
      'too much output',
      '{% for i in (1..150000) %}{{ data.long }}{% endfor %}',
      '#foreach($i in [1..150000])$data.long#end',
    ],
  ])('returns 422 for %s, in both dialects', async (what, liquid, velocity) => {
    const name = what.replaceAll(' ', '_')
    const data = { long: 'x'.repeat(200) }
    for (const [dialect, text] of [
      ['liquid', liquid],
      ['velocity', velocity],
    ] as const) {
      await upload('templates', dialect, `${name}_${dialect}`, text)
      const made = await render(`${name}_${dialect}`, { data })
      expect(made).toMatchObject({ status: 422, code: 'templateLimit' })
      expect(made.message).toMatch(new RegExp(`^${name}_${dialect}:1:\\d+: `))
    }
  })

  it('gets nothing from the service through prototypes and constructors', async () => {
    await upload(
      'templates',
      'liquid',
      'reach_l',
      '[{{ data.constructor }}{{ data.__proto__ }}{{ data.name.constructor.constructor }}{{ constructor }}]',
    )
    await upload(
      'templates',
      'velocity',
      'reach_v',
      '[$!data.constructor$!data.__proto__$!data.name.getClass()$!data.name.constructor.constructor("x")]',
    )
    for (const name of ['reach_l', 'reach_v']) {
      const made = await render(name, { data: { name: 'Ada' } })
      expect([made.html, made.undefinedNames.length]).toEqual(['[]', 4])
    }
  })

  it('returns 404 if it does not exist or is a snippet', async () => {
    expect((await render('nowhere')).status).toBe(404)
    expect((await render('ping')).status).toBe(404)
  })
})

describe('documents of policies', () => {
  const DAY_MS = 86_400_000

  /** Returns the text of the insurance card of a policy that starts then. */
  const cardOf = async (start: number): Promise<string> => {
    const length =
      Number(plainYear().request.policy.policyEndTimestamp) -
      Number(plainYear().request.policy.policyStartTimestamp)
    const { body, status } = await motor.createPolicy({
      policyStartTimestamp: String(start),
      policyEndTimestamp: String(start + length),
    })
    expect(status).toBe(200)
    await motor.post(`/policy/${body.locator}/issue`)
    const policy = await whenMade(
      async () => (await motor.get<PolicyResponse>(`/policy/${body.locator}`)).body,
      one => one.documents,
    )
    const card = policy.documents.find(one => one.fileName === 'insurance_card.html')
    if (card?.state !== 'ready') return `${card?.state}: ${card?.failureMessage}`
    return new TextDecoder().decode((await fileAt(card.url!)).bytes)
  }

  it('use the template in force when their transaction takes effect, or else that of the configuration', async () => {
    const start = Number(plainYear().request.policy.policyStartTimestamp)
    await upload(
      'templateSnippets',
      'velocity',
      'card_foot',
      'Valid from $date.format("yyyy-MM-dd", $data.policy.original_contract_start_timestamp)',
    )
    await upload(
      'templates',
      'velocity',
      'card_1',
      'First card for $data.policy.product_name. #parse("card_foot")',
    )
    await upload('templates', 'liquid', 'card_2', 'Second card')
    await upload('templates', 'velocity', 'card_3', '\n#parse("card_gone")')
    await group('cards 1', new Date(start).toISOString(), ['card_1', 'card_foot'])
    await group('cards 2', new Date(start + 10 * DAY_MS).toISOString(), ['card_2'])
    await group('cards 3', new Date(start + 20 * DAY_MS).toISOString(), ['card_3'])
    expect(await cardOf(start - DAY_MS)).toContain('<h1>Nordlicht Versicherung</h1>')
    expect(await cardOf(start)).toBe('First card for private_motor. Valid from 2035-01-01')
    expect(await cardOf(start + 10 * DAY_MS)).toBe('Second card')
    expect(await cardOf(start + 20 * DAY_MS)).toBe(
      "renderError: card_3:2:1: There is no snippet 'card_gone'. Correct its name or add it.",
    )
  })
})
