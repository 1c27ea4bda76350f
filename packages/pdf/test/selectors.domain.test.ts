// Which elements a selector matches, and what the search costs.
import { describe, expect, test } from 'vitest'
import { type HtmlElement, readHtml } from '../html.ts'
import { ConversionBudget } from '../limits.ts'
import { matches, selectorOf } from '../selectors.ts'

const HTML = `<div id="a" class="box first"><h2 id="b">One</h2><p id="c" lang="en-GB">x</p><p id="d" class="note">y</p>
<ul id="e"><li id="f">1</li><li id="g">2</li><li id="h">3</li><li id="i">4</li><li id="j">5</li></ul></div>
<div id="k"><a id="l" href="https://example.com/form.PDF">z</a><p id="m"></p></div>`

function allIn(element: HtmlElement): HtmlElement[] {
  return [element, ...element.children.flatMap(child => (typeof child === 'string' ? [] : allIn(child)))]
}

function found(selector: string, html = HTML): string | undefined {
  const read = selectorOf(selector)
  const budget = new ConversionBudget()
  return (
    read &&
    allIn(readHtml(html).body)
      .filter(element => matches(element, read, budget))
      .map(({ attributes }) => attributes.id)
      .join('')
  )
}

describe('a selector matches', () => {
  test.each([
    ['li:nth-child(2)', 'g'],
    ['li:nth-child(n + 3)', 'hij'],
    ['li:nth-child(-n+2)', 'fg'],
    ['li:nth-child(3n+1)', 'fi'],
    ['li:nth-last-child(2)', 'i'],
    ['li:not(:last-child)', 'fghi'],
    ['li:not(:first-child):not(:last-child)', 'ghi'],
    ['li:not(#f, #g)', 'hij'],
    ['li:first-of-type', 'f'],
    ['p:first-of-type', 'cm'],
    ['p:last-of-type', 'dm'],
    ['p:nth-of-type(2n)', 'd'],
    ['a:only-of-type', 'l'],
    ['h2 + p', 'c'],
    ['h2 ~ p', 'cd'],
    ['h2~ul>li:last-child', 'j'],
    ['.box > p ~ ul li + li', 'ghij'],
    ['div p', 'cdm'],
    ['#a>p.note', 'd'],
    ['a[href^="https"]', 'l'],
    ['a[href$=".pdf"]', ''],
    ['a[href$=".pdf" i]', 'l'],
    ["[href*='example.com']", 'l'],
    ['[lang|=en]', 'c'],
    ['[class~=first]', 'a'],
    ['p:empty', 'm'],
    ['div:is(.box, #k) > p', 'cdm'],
    ['p.no\\te', 'd'],
  ])('%s: %s', (selector, ids) => expect(found(selector)).toBe(ids))

  test('a parent that is not the nearest element of its kind', () => {
    const html = '<div id="a" class="a"><div id="b"><div id="c"><p id="d">x</p></div></div></div>'
    expect(found('.a > div p', html)).toBe('d')
  })

  test('the root alone', () => {
    const root = readHtml(HTML).body.parent!
    expect(matches(root, selectorOf(':root')!, new ConversionBudget())).toBe(true)
    expect(found(':root')).toBe('')
  })
})

test.each([
  'li:hover',
  'a::first-line',
  'p >',
  '> p',
  'p > > a',
  'p!',
  ':not()',
  ':nth-child(x)',
  'p:not(:hover',
  'p::after b',
])('%s matches nothing', selector => expect(selectorOf(selector)).toBeUndefined())

test('the search for ancestors and siblings grows with their number, however many the selector names', () => {
  const work = (depth: number): number => {
    const html = `${'<div>'.repeat(depth)}<p>x</p>${'<i></i>'.repeat(depth)}<b></b>`
    const budget = new ConversionBudget()
    const all = allIn(readHtml(html).body)
    for (const text of [
      'section div div div div div p',
      'u ~ i ~ i ~ i ~ i ~ b',
      'section > div div > div div p',
    ])
      matches(all.find(({ tag }) => tag === text.at(-1))!, selectorOf(text)!, budget)
    return budget.work
  }
  expect(work(80)).toBeLessThan(2.5 * work(40))
})

test.each([
  ['exclusions', (count: number) => `p${':not(.other)'.repeat(count)}`],
  ['alternatives', (count: number) => `p:is(${'.other,'.repeat(count)}.more)`],
  ['classes', (count: number) => `p${'.own'.repeat(count)}`],
  ['parents', (count: number) => `${'div>'.repeat(count)}p`],
  ['attributes', (count: number) => `p${'[title*=y]'.repeat(count / 80)}`],
])('the work counts all %s of a selector', (_, selectorWith) => {
  const html = `${'<div>'.repeat(80)}<p class="own" title="${'x'.repeat(9_999)}y">x</p>`
  const [element] = allIn(readHtml(html).body).filter(({ tag }) => tag === 'p')
  const budget = new ConversionBudget()
  matches(element!, selectorOf(selectorWith(80))!, budget)
  expect(budget.work).toBeGreaterThanOrEqual(79)
})
