// CHANGELOG.md follows the convention of Keep a Changelog 1.1.0.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']

const text = readFileSync('CHANGELOG.md', 'utf8')
const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading!)
const versions = headings.slice(1).map(heading => /^\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$/.exec(heading))

test('the changelog starts with unreleased changes, then has versions with dates, newest first', () => {
  expect(headings[0]).toBe('[Unreleased]')
  expect(versions.length).toBeGreaterThan(0)
  expect(versions).not.toContain(null)
  const days = versions.map(found => found![2]!)
  expect(days).toEqual([...days].sort().reverse())
})

test('the newest version of the changelog is that of package.json', () => {
  expect(versions[0]![1]).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version)
})

test('each version lists its changes under the kinds of the convention, each used once and none empty', () => {
  for (const section of text.split(/^## /m).slice(1)) {
    const kinds = [...section.matchAll(/^### (.*)$/gm)].map(([, kind]) => kind!)
    expect(kinds.filter(kind => !KINDS.includes(kind))).toEqual([])
    expect(new Set(kinds).size).toBe(kinds.length)
    for (const part of section.split(/^### /m).slice(1)) expect(part).toMatch(/^- \S/m)
  }
})
