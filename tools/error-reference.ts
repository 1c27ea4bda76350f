// Writes docs/errors.md: every error code with its cause and remedy. npm run docs:errors
import { readFileSync, writeFileSync } from 'node:fs'
import { ERROR_KINDS, type ErrorCode } from '../src/kernel/errors.ts'
import { REMEDIES } from '../src/wording/remedies.ts'
import { betweenMarks } from './marks.ts'

export const ERRORS_PAGE = 'docs/errors.md'

const BEGIN = '<!-- errors:begin -->'
const END = '<!-- errors:end -->'

const rows = (): string[] =>
  Object.entries(ERROR_KINDS)
    .sort(([, a], [, b]) => a.api - b.api)
    .map(
      ([code, { status, api, about }]) =>
        `| <a id="${code.toLowerCase()}"></a>\`${code}\` | ${status} | ${api} | ${about} | ${REMEDIES[code as ErrorCode]} |`,
    )

/** Returns the page with the present codes between its marks. Throws if the marks are missing. */
export function withErrors(page: string): string {
  const table = [
    '| `code` | status | `apiErrorCode` | cause | what to do |',
    '| ------ | ------ | -------------- | ----- | ---------- |',
    ...rows(),
  ].join('\n')
  return betweenMarks(page, BEGIN, END, table)
}

if (import.meta.main) writeFileSync(ERRORS_PAGE, withErrors(readFileSync(ERRORS_PAGE, 'utf8')))
