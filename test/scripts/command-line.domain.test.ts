import { afterEach, expect, test, vi } from 'vitest'
import { Misuse, readArguments, unknownText } from '../../scripts/command-line.ts'

const USAGE = 'npm run tenant -- list'
const OPTIONS = { options: { environment: { type: 'string' }, yes: { type: 'boolean' } } } as const
const read = (...args: string[]) => readArguments(USAGE, OPTIONS, args)

afterEach(() => {
  vi.restoreAllMocks()
})

test('arguments of a script are read', () => {
  expect({ ...read('--environment', 'production').values }).toEqual({ environment: 'production' })
  expect(readArguments(USAGE, { ...OPTIONS, allowPositionals: true }, ['show', 'acme']).positionals).toEqual([
    'show',
    'acme',
  ])
})

test.each([
  ['--enviroment', "There is no option '--enviroment'. Did you mean '--environment'?"],
  ['--force', "There is no option '--force'."],
  ['acme', "'acme' is one argument too many."],
  ['--environment', "Option '--environment <value>' argument missing."],
])('%s is named as a mistake, above the usage', (argument, mistake) => {
  expect(() => read(argument)).toThrow(new Misuse(`${mistake}\n\n${USAGE}`))
})

test.each(['--help', '-h'])('%s prints the usage and ends with success, next to any other argument', help => {
  vi.spyOn(process, 'exit').mockImplementation(code => {
    throw new Error(`exit ${code}`)
  })
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  expect(() => read('--force', help)).toThrow('exit 0')
  expect(log.mock.calls).toEqual([[USAGE]])
})

test('an unknown command names a similar one', () => {
  const known = ['list', 'create', 'show']
  expect(unknownText('command', 'lst', known)).toBe("There is no command 'lst'. Did you mean 'list'?")
  expect(unknownText('command', 'frobnicate', known)).toBe("There is no command 'frobnicate'.")
})
