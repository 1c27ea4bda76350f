// Plain English in documentation, messages and comments: words that no engineer would say to a colleague.
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

/** A word or phrase, and what to write in its place. */
const RULES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\banew\b/i, 'again'],
  [/\bwhoever\b/i, 'anyone who, or no matter who'],
  [/\bbe it\b/i, 'even, or whether'],
  [/\b(?:thereof|hereby|herein|wherein|whereby|heretofore)\b/i, 'of it, in which, by which'],
  [/\bbefall(?:s|en)?\b/i, 'happens to'],
  [/\bunless told\b/i, 'by default'],
  [/\bno luck\b/i, 'gives up'],
  [/\bnobody should send\b/i, 'malformed'],
  [/\bof no use without\b/i, 'cannot be used without'],
  [/\b(?:aforesaid|aforementioned|forthwith|henceforth|albeit)\b/i, 'a plain word'],
  [
    /\b(?:utili[sz]e[sd]?|leverag(?:e[sd]?|ing)|in order to|prior to|subsequent to)\b/i,
    'use, to, before, after',
  ],
]

/** Also held on the pages that authors, integrators and operators read first. */
const STRICT_RULES: typeof RULES = [
  [/\btell(?:s|ing)?\b|\btold\b/i, 'say, show, list, report or return'],
  [/\bwhatever\b/i, 'a condition: even if, for any'],
  [/\bof which\b/i, 'a sentence of its own'],
  [/\bgood for\b/i, 'valid for, or used for'],
  [/\bone's own machine\b/i, 'your own machine'],
  [/\bwho does\b/i, 'anyone who'],
  [/\bis used so\b/i, 'usage'],
]

const STRICT_PAGES =
  /^(?:README|CHANGELOG|client\/README|cli\/README|cli\/starter\/README|docs\/(?:README|accounts|books|cli|client|commands|errors|events|export|http|integrations|liquid|local|observability|operate|overview|permissions|plugins|quickstart|rate-change|reports|resources|security|strict|testing|tutorial|velocity|webhooks|work-lists|worksheet))\.md$|^(?:src\/wording\/.*|cli\/main)\.ts$/

/** Written by a command from the code, which is looked at itself. */
const GENERATED = /^docs\/(?:measured|scale)\.md$/

const CODE = '{src,cli,durable,console,client,packages,scripts,tools}/**/*.ts'

const files = (pattern: string): string[] =>
  globSync(pattern, { exclude: path => /node_modules|dist|contract\.ts$/.test(String(path)) }).map(String)

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...files('{docs,client,cli}/*.md'),
  ...files('{cli/starter,examples/**,packages/*}/README.md'),
].filter(path => !GENERATED.test(path))

/** Comments and texts of a line of code. */
const wordsIn = (line: string): string =>
  [...line.matchAll(/\/\/.*|^\s*\/?\*.*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*/g)]
    .map(([text]) => text)
    .join(' ')

/** Each place with such a word, and what to write. */
const badWords = (path: string, text: string, isCode: boolean): string[] =>
  text.split('\n').flatMap((line, at) => {
    const words = isCode ? wordsIn(line) : line
    const rules = STRICT_PAGES.test(path) ? [...RULES, ...STRICT_RULES] : RULES
    return rules.flatMap(([pattern, instead]) => {
      const [found] = pattern.exec(words) ?? []
      return found === undefined ? [] : [`${path}:${at + 1}: '${found}': write ${instead}`]
    })
  })

describe('Forbidden words', () => {
  test('are reported with their places in pages, comments and texts, but not in code', () => {
    expect(badWords('a.md', 'one\nmake it anew', false)).toEqual(["a.md:2: 'anew': write again"])
    expect(badWords('a.ts', "const anew = 1 // whoever asks\nthrow new Error('be it')", true)).toEqual([
      "a.ts:1: 'whoever': write anyone who, or no matter who",
      "a.ts:2: 'be it': write even, or whether",
    ])
    expect(badWords('a.ts', 'const anew = told(whoever)', true)).toEqual([])
  })

  test('do not occur in the documentation', () => {
    expect(pages.length).toBeGreaterThan(40)
    expect(pages.flatMap(path => badWords(path, readFileSync(path, 'utf8'), false))).toEqual([])
  })

  test('do not occur in comments and messages', () => {
    const code = files(CODE)
    expect(code.length).toBeGreaterThan(700)
    expect(code.flatMap(path => badWords(path, readFileSync(path, 'utf8'), true))).toEqual([])
  })
})
