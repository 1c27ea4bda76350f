import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Reports of long runs. They exist once a run was recorded. */
const REPORTS = ['docs/measured.md', 'docs/scale.md']

const docs = readdirSync('docs').filter(name => name.endsWith('.md'))
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs.map(name => join('docs', name))]

/** Anchors of headings: lower case, without punctuation, with hyphens between words. */
const anchorsOf = (page: string): string[] =>
  [...readFileSync(page, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )

/** Targets of links and pictures within the repository. */
const linksOf = (page: string): string[] =>
  [
    ...readFileSync(page, 'utf8')
      .replace(/^```[\s\S]*?^```/gm, '')
      .replace(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, address]) => address!)
    .filter(address => !/^(?:https?|mailto):/.test(address))

describe('The pages', () => {
  test.each(pages)('have no broken links in %s', page => {
    const broken = linksOf(page).filter(address => {
      const [file = '', anchor] = address.split('#')
      const target = file === '' ? page : join(dirname(page), file)
      if (REPORTS.includes(target)) return false
      return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor))
    })
    expect(broken).toEqual([])
  })

  test('are all in the index of the documentation', () => {
    const named = linksOf('docs/README.md').map(address => join('docs', address.split('#')[0]!))
    const others = pages.filter(page => page !== 'README.md' && page !== 'docs/README.md')
    expect(others.filter(page => !named.includes(page) && !REPORTS.includes(page))).toEqual([])
  })

  test('start with a README of less than 9 kB', () => {
    expect(statSync('README.md').size).toBeLessThan(9_000)
  })

  test('name only commands that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object }
    for (const page of pages)
      for (const [, name] of readFileSync(page, 'utf8').matchAll(/npm run (?:--silent )?([\w:-]+)/g))
        expect(Object.keys(scripts), `${page}: npm run ${name}`).toContain(name)
  })
})
