import { beforeAll, describe, expect, it } from 'vitest'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { type Holders, holdersTenant, type Page } from './tenant.ts'

let holders: Holders

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  holders = await holdersTenant('lists')
})

const page = async (query: string): Promise<Page> => {
  const { status, body } = await holders.list(query)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

async function allPages(query: string, between?: (page: Page) => Promise<unknown>): Promise<Page[]> {
  const pages = [await page(query)]
  for (let last = pages[0]!; last.pagingToken; last = pages.at(-1)!) {
    await between?.(last)
    pages.push(await page(`${query}&pagingToken=${last.pagingToken}`))
  }
  return pages
}

const found = (pages: readonly Page[]): string[] =>
  pages.flatMap(({ policyholders }) => policyholders.map(({ locator }) => locator))

describe('Pages of all policyholders', () => {
  it('contain each of 250 policyholders once and in order, while others are created', async () => {
    const locators: string[] = []
    for (let batch = 0; batch < 25; batch += 1)
      await Promise.all(
        Array.from({ length: 10 }, async (_, at) => {
          const { locator } = await holders.made({ first_name: `Number ${batch * 10 + at}` })
          locators.push(locator)
        }),
      )
    const late: string[] = []
    const pages = await allPages('pageSize=100', async () => {
      const more = await Promise.all(Array.from({ length: 5 }, () => holders.made({ first_name: 'Late' })))
      late.push(...more.map(({ locator }) => locator))
    })
    const seen = found(pages)
    expect(pages.map(one => one.policyholders.length).slice(0, 2)).toEqual([100, 100])
    expect(new Set(seen).size).toBe(seen.length)
    expect(new Set(seen)).toEqual(new Set([...locators, ...late]))
    const order = pages.flatMap(one => one.policyholders.map(holder => Number(holder.createdTimestamp)))
    expect(order).toEqual([...order].sort((a, b) => a - b))
    expect(found(await allPages('pageSize=7'))).toEqual(seen)
    expect(found([await page('pageSize=5000')])).toEqual(seen)
  })

  it('are shorter when the content gets too large', async () => {
    const since = (await holders.made({})).createdTimestamp
    const notes = Array(25).fill('x'.repeat(20_000))
    for (let at = 0; at < 18; at += 1) await holders.create({ values: { notes } })
    const pages = await allPages(`createdAfterTimestamp=${since}&pageSize=100`)
    expect(pages.map(one => one.policyholders.length)).toEqual([16, 2])
    expect(new Set(found(pages)).size).toBe(18)
  })

  it('can be limited by the time of creation', async () => {
    const { locator, createdTimestamp } = await holders.made({ first_name: 'Bounded' })
    const at = Number(createdTimestamp)
    const within = async (after: number, before: number) =>
      found(await allPages(`createdAfterTimestamp=${after}&createdBeforeTimestamp=${before}`))
    expect(await within(at - 1, at + 1)).toContain(locator)
    expect(await within(at, at + 1)).not.toContain(locator)
    expect(await within(at - 1, at)).not.toContain(locator)
  })

  it('return 400 for an invalid token, size or time', async () => {
    for (const query of [
      'pagingToken=x',
      'pagingToken=AAAA',
      `pagingToken=${'A'.repeat(5_000)}`,
      'pageSize=0',
      'pageSize=-1',
      'pageSize=x',
      'createdAfterTimestamp=yesterday',
    ]) {
      const { status, body } = await holders.list(query)
      expect([query, status, body.code]).toEqual([query, 400, 'invalidParameter'])
    }
  })
})

describe('A search', () => {
  const names = async (field: string, how: string, text: string): Promise<(string | undefined)[]> => {
    const { policyholders } = await page(`searchField=${field}&${how}=${encodeURIComponent(text)}`)
    return policyholders.map(({ entity }) => entity.values.last_name?.[0]).sort()
  }

  beforeAll(async () => {
    for (const [last_name, values] of [
      ['Müller', { alias: ['Mü', 'mueller'] }],
      ['MÜLLER-Lüdenscheidt', { date_of_birth: '1980-06-15' }],
      ['Mulle_r%', {}],
      ['Weiß', { email: 'weiss@example.com' }],
    ] as const)
      await holders.made({ last_name, ...values })
  })

  it('finds exact values in any case', async () => {
    expect(await names('last_name', 'searchValue', 'MÜLLER')).toEqual(['Müller'])
    expect(await names('last_name', 'searchValue', 'mu\u0308ller')).toEqual(['Müller'])
    expect(await names('last_name', 'searchValue', 'WEISS')).toEqual(['Weiß'])
    expect(await names('alias', 'searchValue', 'MUELLER')).toEqual(['Müller'])
    expect(await names('last_name', 'searchValue', 'Mülle')).toEqual([])
    expect(await names('date_of_birth', 'searchValue', '1980-06-15')).toEqual(['MÜLLER-Lüdenscheidt'])
    expect(await names('date_of_birth', 'searchPrefix', '1980-')).toEqual(['MÜLLER-Lüdenscheidt'])
  })

  it('finds beginnings, and treats pattern characters as text', async () => {
    expect(await names('last_name', 'searchPrefix', 'mü')).toEqual(['MÜLLER-Lüdenscheidt', 'Müller'])
    expect(await names('last_name', 'searchPrefix', 'Mulle_')).toEqual(['Mulle_r%'])
    expect(await names('last_name', 'searchPrefix', '%')).toEqual([])
    expect(await names('alias', 'searchPrefix', 'm')).toEqual(['Müller'])
  })

  it('reflects updates, and has pages', async () => {
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, at) => holders.made({ last_name: 'Paged', first_name: `P${at}` })),
    )
    const [changed] = made
    await holders.update({
      locator: changed!.locator,
      version: 1,
      completed: true,
      values: { last_name: 'Turned' },
    })
    const pages = await allPages('searchField=last_name&searchPrefix=paged&pageSize=5')
    expect(pages.map(({ policyholders }) => policyholders.length)).toEqual([5, 5, 1])
    expect(new Set(found(pages))).toEqual(new Set(made.slice(1).map(({ locator }) => locator)))
    expect(await names('last_name', 'searchValue', 'turned')).toEqual(['Turned'])
  })

  it('reads the index and not the table', async () => {
    const { results } = await boundDatabase(poolBinding(1))
      .prepare(
        `explain query plan select distinct policyholder_locator from policyholder_term
         where field = 'last_name' and term >= 'a' and term < 'b'`,
      )
      .all<{ detail: string }>()
    expect(results[0]!.detail).toMatch(/SEARCH policyholder_term USING PRIMARY KEY/)
  })

  it('returns 400 for a field that is not searchable, or without both a field and a text', async () => {
    for (const query of ['searchField=email&searchValue=x', 'searchField=nothing&searchPrefix=x']) {
      const { status, body } = await holders.list(query)
      expect(status).toBe(400)
      expect(body.message).toContain('first_name, last_name, alias, date_of_birth')
    }
    for (const query of ['searchField=last_name', 'searchValue=x', 'searchField=last_name&searchPrefix='])
      expect((await holders.list(query)).status).toBe(400)
  })
})
